/** Postgres, Redis and S3 with certificates that are refused: one line says which, why, and what to do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OptionTexts } from '../../src/core/config.ts';
import { must } from '../../src/core/lib/assert.ts';
import {
  type Certificate,
  createAuthority,
  issue,
  startTlsFront,
  type TlsFront,
} from '../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../support/redis-server.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { buildIfStale } from './compiled-code.ts';
import { type Command, startCommand } from './processes.ts';
import { startWorker } from './separate-processes.ts';
import { waitFor } from './wait-for.ts';

const CASE_MS = 120_000;
const END_MS_MAX = 60_000;
/** Three days ago, as the messages write it. */
const EXPIRED = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);

const root = mkdtempSync(path.join(tmpdir(), 'enrich-certificates-'));
const trusted = createAuthority('Trusted CA');
const stranger = createAuthority('Unknown CA');

const certificates = {
  valid: issue(trusted, { host: 'localhost' }),
  expired: issue(trusted, { host: 'localhost', from: -9, to: -3 }),
  'of another host': issue(trusted, { host: 'db.example' }),
  'of an unknown authority': issue(stranger, { host: 'localhost' }),
};
type Kind = keyof typeof certificates;

const refused: [Kind, string][] = [
  ['expired', `expired on ${EXPIRED}\\. Renew it on the server\\.`],
  ['of another host', 'is for db\\.example, not for localhost\\. Correct the host in OPTION, or'],
  [
    'of an unknown authority',
    'is signed by Unknown CA, which this machine does not trust\\. Set NODE_EXTRA_CA_CERTS',
  ],
];

describeWithRedis('a certificate', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let s3: S3Server;
  const fronts: TlsFront[] = [];

  beforeAll(async () => {
    await buildIfStale();
    const file = path.join(root, 'authorities.pem');
    writeFileSync(file, trusted.cert);
    // Node reads it when a process starts: it is for the commands.
    process.env.NODE_EXTRA_CA_CERTS = file;
    [database, redis, s3] = await Promise.all([
      createTestDatabase(),
      startRedis(),
      startS3Server(),
    ]);
  }, 120_000);

  afterAll(async () => {
    delete process.env.NODE_EXTRA_CA_CERTS;
    for (const front of fronts) front.close();
    await s3?.close();
    await redis?.[Symbol.asyncDispose]();
    await database?.drop();
    rmSync(root, { recursive: true, force: true });
  }, 60_000);

  async function front(certificate: Certificate, port: number, isPostgres = false) {
    const started = await startTlsFront(certificate, port, isPostgres);
    fronts.push(started);
    return started.port;
  }

  /** Options with which all three servers are reached over TLS. */
  async function optionsWith(kinds: Partial<Record<'postgres' | 'redis' | 's3', Kind>>) {
    const of = (server: keyof typeof kinds) => certificates[kinds[server] ?? 'valid'];
    const url = new URL(database.url);
    url.port = String(await front(of('postgres'), Number(url.port), true));
    url.hostname = 'localhost';
    url.searchParams.set('sslmode', 'verify-full');
    const s3Port = Number(new URL(must(s3.config.endpoint, 'an endpoint')).port);
    return {
      databaseUrl: url.href,
      redisUrl: `rediss://localhost:${await front(of('redis'), redis.port)}`,
      dataDir: path.join(root, 'data'),
      s3Bucket: s3.config.bucket,
      s3Endpoint: `https://localhost:${await front(of('s3'), s3Port)}`,
      s3AccessKeyId: 'tester',
      s3SecretAccessKey: 'secret of the tester',
      logLevel: 'info',
    } satisfies OptionTexts;
  }

  /** Resolves when the worker has started. */
  function untilStarted(command: Command): Promise<boolean> {
    return waitFor('the worker has started', END_MS_MAX, async () => {
      if (command.child.exitCode !== null) throw new Error(command.stderr);
      return command.stderr.includes('worker started');
    });
  }

  it(
    'that is valid is accepted of all three',
    async () => {
      const options = await optionsWith({});
      await using worker = startWorker(options);
      const { command } = worker;
      await untilStarted(command);
      expect(command.stderr).not.toContain('certificate');
    },
    CASE_MS,
  );

  it.each(refused)(
    'that is %s keeps a process from starting on Postgres, and a command from using it',
    async (kind, said) => {
      const options = await optionsWith({ postgres: kind });
      const line = `^error: The certificate of Postgres at localhost:\\d+ \\(DATABASE_URL\\) ${said.replace('OPTION', 'DATABASE_URL')}`;
      for (const words of [['worker'], ['audit'], ['status']]) {
        const command = startCommand(words, options);
        expect(await command.ended, words.join()).toBe(1);
        expect(command.stderr, words.join()).toMatch(new RegExp(line, 'm'));
        // A line of the log may tell that Redis was let go while it connected.
        const told = command.stderr.split('\n').filter((one) => !one.startsWith('{'));
        expect(told.join('\n'), words.join()).not.toContain('    at ');
      }
    },
    CASE_MS,
  );

  it.each(refused)(
    'that is %s keeps a process from starting on Redis',
    async (kind, said) => {
      const command = startCommand(['worker'], await optionsWith({ redis: kind }));
      expect(await command.ended).toBe(1);
      const line = `^error: The certificate of Redis at localhost:\\d+ \\(REDIS_URL\\) ${said.replace('OPTION', 'REDIS_URL')}`;
      expect(command.stderr).toMatch(new RegExp(line, 'm'));
    },
    CASE_MS,
  );

  it.each(refused)(
    'that is %s is named in the log when it is the one of the object store',
    async (kind, said) => {
      const options = await optionsWith({ s3: kind });
      await using worker = startWorker(options);
      const { command } = worker;
      const line = `"msg":"The certificate of the object store at localhost:\\d+ \\(S3_ENDPOINT\\) ${said.replace('OPTION', 'S3_ENDPOINT')}`;
      await untilStarted(command);
      expect(command.stderr).toMatch(new RegExp(line));
      const doctor = startCommand(['doctor'], options);
      expect(await doctor.ended).toBe(1);
      expect(doctor.stderr).toContain('error: The certificate of the object store at');
    },
    CASE_MS,
  );
});
