/** The compose file holds together: there is no engine here to run it, but all that it names can be asked. */
import { readFile } from 'node:fs/promises';
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
  healthcheck?: object;
}

const text = await readFile(path.join(import.meta.dirname, 'compose.yaml'), 'utf8');
const compose = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const service = (name: string): Service => compose.services[name] ?? {};

/** As compose fills in variables that are set, each to a text that needs no quoting. */
const filled = (value: string) => value.replace(/\$\{\w+(:\?[^}]*)?\}/g, 'secret');
const words = (name: string) => String(service(name).command).split(' ');

test('our processes are the three of the production stack', () => {
  expect(ours.map(([name]) => name)).toEqual(['migrate', 'api', 'worker']);
});

describe.each(ours)('the service %s', (name, { environment = {}, command }) => {
  test('sets options that exist, to values that are taken', () => {
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

test('whoever waits for another service names one that can be waited for so', () => {
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
    bucket: { condition: 'service_completed_successfully' },
    redis: { condition: 'service_healthy' },
  });
});

test('every volume that is mounted is one that is declared, and the other way round', () => {
  const mounted = services.flatMap(([, { volumes = [] }]) =>
    volumes.map((one) => one.split(':')[0]),
  );
  expect(mounted.sort()).toEqual(Object.keys(compose.volumes).sort());
});

test('the S3 server has the account and the bucket that our processes use', () => {
  const { S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_BUCKET } = service('api').environment ?? {};
  const { MINIO_ROOT_USER, MINIO_ROOT_PASSWORD } = service('s3').environment ?? {};
  expect(MINIO_ROOT_USER).toBe(S3_ACCESS_KEY_ID);
  expect(filled(MINIO_ROOT_PASSWORD ?? '')).toBe(filled(S3_SECRET_ACCESS_KEY ?? ''));
  expect(text).toContain(`mc mb --ignore-existing s3/${S3_BUCKET}`);
});

test('the settings of its Postgres exist, and none makes a commit less than durable', async () => {
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
  test('starts with these settings, and our processes take it', async () => {
    const [program, ...settings] = words('redis');
    expect(program).toBe('redis-server');
    await using server = await startRedis(settings);
    await checkRedis(server.url, createLog('silent', 'test'));
    expect(await server.client.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
  });
});
