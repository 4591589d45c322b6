/**
 * Checks that the compose file is consistent: no container engine is needed, because everything it names can be
 * checked.
 */
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { configOptions, readConfig } from '../../src/core/config.ts';
import { connect } from '../../src/core/db/client.ts';
import { createLog } from '../../src/core/log.ts';
import { checkRedis } from '../../src/core/redis/check-redis.ts';
import { describeWithRedis, startRedis } from '../../tests/support/redis-server.ts';
import { addServerCommands } from '../../workers/commands/server.ts';

interface Service {
  build?: { context: string; dockerfile: string };
  image?: string;
  command?: string | string[];
  environment?: Record<string, string>;
  depends_on?: string[] | Record<string, { condition: string }>;
  volumes?: string[];
  healthcheck?: { test: string[] };
  ports?: string[];
  profiles?: string[];
  restart?: string;
  deploy?: { resources?: { limits?: { memory?: string } } };
}

const text = await readFile(path.join(import.meta.dirname, 'compose.yaml'), 'utf8');
const compose = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const service = (name: string): Service => compose.services[name] ?? {};

/** As compose fills in variables: those without a default get a value that needs no quoting. */
const filled = (value: string) =>
  value.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}/g, (_all, fallback) => fallback ?? 'secret');
const words = (name: string) => String(service(name).command).split(' ');

test('the processes of the service are the three of the production stack', () => {
  expect(ours.map(([name]) => name)).toEqual(['migrate', 'api', 'worker']);
});

describe.each(ours)('the service %s', (name, { environment = {}, command }) => {
  test('sets existing options to valid values', () => {
    const known = Object.values(configOptions).map(({ env }) => env);
    expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
    const values = Object.entries(environment).map(([variable, value]) => [
      variable,
      filled(value),
    ]);
    const config = readConfig(Object.fromEntries(values));
    expect(config.storage).toMatchObject({ provider: 's3', bucket: 'enrich' });
    const { hostname, password, pathname } = new URL(config.databaseUrl ?? '');
    expect({ hostname, password, pathname }).toEqual({
      hostname: 'postgres',
      password: 'secret',
      pathname: '/enrich',
    });
    expect(new URL(config.redisUrl ?? '').hostname).toBe('redis');
  });

  test('runs the command of its name', () => {
    const program = new Command();
    addServerCommands(program);
    expect(command).toEqual([name]);
    expect(program.commands.map((one) => one.name())).toContain(name);
  });
});

test('a service waits only for a service with that condition', () => {
  const waits = services.flatMap(([name, { depends_on: on = {} }]) =>
    Object.entries(Array.isArray(on) ? Object.fromEntries(on.map((one) => [one, null])) : on).map(
      ([other, wanted]) => ({ name, other, condition: wanted?.condition ?? 'service_started' }),
    ),
  );
  expect(waits.length).toBeGreaterThan(5);
  for (const { name, other, condition } of waits) {
    expect(Object.keys(compose.services), name).toContain(other);
    if (condition === 'service_healthy') expect(service(other).healthcheck, other).toBeDefined();
  }
  expect(service('worker').depends_on).toMatchObject({
    migrate: { condition: 'service_completed_successfully' },
    s3: { condition: 'service_healthy' },
    redis: { condition: 'service_healthy' },
  });
});

test('every mounted volume is declared, and every mounted file exists', async () => {
  const sources = services.flatMap(([, { volumes = [] }]) =>
    volumes.map((one) => one.split(':')[0] ?? ''),
  );
  const [files, mounted] = [true, false].map((isFile) =>
    sources.filter((source) => source.startsWith('../') === isFile),
  );
  expect(mounted?.sort()).toEqual(Object.keys(compose.volumes).sort());
  expect(files?.length).toBeGreaterThan(0);
  for (const file of files ?? []) await access(path.join(import.meta.dirname, file));
});

test('the S3 server has the account, the bucket and the port that the processes use', () => {
  const { S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_BUCKET, S3_ENDPOINT } =
    service('api').environment ?? {};
  const { ROOT_ACCESS_KEY, ROOT_SECRET_KEY, VGW_HEALTH } = service('s3').environment ?? {};
  expect(ROOT_ACCESS_KEY).toBe(S3_ACCESS_KEY_ID);
  expect(filled(ROOT_SECRET_KEY ?? '')).toBe(filled(S3_SECRET_ACCESS_KEY ?? ''));
  const { port } = new URL(S3_ENDPOINT ?? '');
  expect(words('s3').join(' ')).toBe(`--port :${port} posix /data`);
  expect(service('s3').volumes).toEqual([`s3:/data/${S3_BUCKET}`]);
  expect(service('s3').healthcheck?.test.at(-1)).toBe(`http://127.0.0.1:${port}${VGW_HEALTH}`);
});

test('a long-running service is restarted, has limits, and has a fixed version', () => {
  for (const [name, { restart, deploy, image, build }] of services) {
    if (name === 'migrate') continue;
    expect(restart, name).toBe('unless-stopped');
    expect(deploy?.resources?.limits?.memory, name).toMatch(/^\d+[mg]$/);
    if (build === undefined) expect(image, name).toMatch(/^[\w./-]+:(?!latest)[\w.-]+$/);
  }
});

test('the health checks of api and worker use the right addresses', () => {
  const { METRICS_PORT, METRICS_HOST } = service('worker').environment ?? {};
  expect(METRICS_HOST).toBe('0.0.0.0');
  const asked = (name: string) => String(service(name).healthcheck?.test);
  expect(asked('worker')).toContain(`http://127.0.0.1:${METRICS_PORT}/healthz`);
  expect(asked('api')).toContain(`http://127.0.0.1:${readConfig({}).port}/readyz`);
  expect(service('api').ports).toEqual([`127.0.0.1:8080-8089:${readConfig({}).port}`]);
});

test('Prometheus finds every long-running process, and the alerts', async () => {
  const folder = path.join(import.meta.dirname, '..', 'grafana');
  const prometheus = parse(await readFile(path.join(folder, 'prometheus.yaml'), 'utf8')) as {
    rule_files: string[];
    scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
  };
  const [found] = prometheus.scrape_configs.flatMap((one) => one.dns_sd_configs);
  expect(found?.names).toEqual(ours.map(([name]) => name).filter((name) => name !== 'migrate'));
  expect(String(found?.port)).toBe(service('api').environment?.METRICS_PORT);
  for (const file of prometheus.rule_files) await access(path.join(folder, file));
});

test('monitoring only starts on request', () => {
  const watching = services.filter(([, { profiles }]) => profiles?.includes('watch'));
  expect(watching.map(([name]) => name)).toEqual(['prometheus', 'grafana']);
});

test('the settings of its Postgres exist, and every commit is durable', async () => {
  const names = words('postgres').flatMap((word) => word.match(/^(\w+)=/)?.[1] ?? []);
  expect(names).toContain('shared_buffers');
  const sql = connect({ url: inject('serverUrl'), connections: 1 });
  const known = await sql<{ name: string }[]>`
    select name from pg_settings where name = any(${names})`;
  await sql.end();
  expect(known.map(({ name }) => name).sort()).toEqual([...names].sort());
  const kept = ['fsync', 'synchronous_commit', 'full_page_writes'];
  expect(names.filter((name) => kept.includes(name))).toEqual([]);
});

describeWithRedis('its Redis', () => {
  test('starts with these settings, and the processes accept it', async () => {
    const [program, ...settings] = words('redis');
    expect(program).toBe('redis-server');
    await using server = await startRedis(settings);
    await checkRedis(server.url, createLog('silent', 'test'));
    expect(await server.client.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
  });
});
