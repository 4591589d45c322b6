/**
 * The limits of one key over four API processes, which share only their stores, with fifty clients that all call at
 * the same moments. The history of admitted calls is judged afterwards.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import type { OptionTexts } from '../../src/core/config.ts';
import { createKey } from '../../src/core/keys/keys.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Call, countAdmitted, shortfall, worstExcess } from '../support/limit-history.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../support/redis-server.ts';
import { buildIfStale } from './compiled-code.ts';
import { CLIENTS, hammer } from './hammer.ts';
import { type ApiProcess, startApi } from './separate-processes.ts';

const PROCESSES = 4;
const CASE_MS = 120_000;
/** A day's lease to Redis: a hundredth of the shipped cap. */
const LEASE = 100;
const ATTEMPTS_MAX = 10;
const FLUSHES = 3;

type IsOver = (calls: readonly Call[]) => boolean;

interface Limits {
  requestsPerMinute: number;
  requestsPerDay: number;
  used: number;
}

const dataDir = mkdtempSync(path.join(tmpdir(), 'enrich-rates-'));
let database: TestDatabase;
let accountId: string;
beforeAll(async () => {
  await buildIfStale();
  database = await createTestDatabase();
  accountId = await createAccount(database.sql, { name: 'Shared', credits: 0 });
}, 120_000);
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/**
 * Calls with a new key of these limits, with `used` calls of its day already counted. A process on a busy
 * machine may wait so long for its store that it decides without it, as designed. That is another promise, and
 * so is midnight: then it starts again with a new key.
 */
async function callWith(
  apis: readonly ApiProcess[],
  { used, ...limits }: Limits,
  begin: () => IsOver,
): Promise<Call[]> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { id, key } = await createKey(database.sql, { accountId, mode: 'live', ...limits });
    const [begun] = await database.sql<{ day: string }[]>`
      insert into day_counts (owner, day, requests)
      values (${id}, (now() at time zone 'UTC')::date, ${used}) returning day::text`;
    const said = apis.map(({ command }) => command.stderr.length);
    const urls = apis.map(({ url }) => url);
    const calls = await hammer(urls, key, begin());
    const isDisturbed =
      begun?.day !== new Date().toISOString().slice(0, 10) ||
      apis.some(({ command }, n) =>
        /redis (is unavailable|error)/.test(command.stderr.slice(said[n])),
      );
    if (!isDisturbed) return calls;
    expect(used + countAdmitted(calls)).toBeLessThanOrEqual(limits.requestsPerDay);
  }
  throw new Error('the machine is too busy: redis did not respond in time in any attempt');
}

const forSeconds = (seconds: number) => () => {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() > end;
};
const forCalls = (most: number) => () => (calls: readonly Call[]) => calls.length >= most;

/** Returns the processes, which run during a test. */
function testRates(open: () => Promise<OptionTexts>): () => readonly ApiProcess[] {
  let apis: ApiProcess[] = [];
  beforeAll(async () => {
    const options = {
      databaseUrl: database.url,
      dataDir,
      databaseConnections: '3',
      apiProcesses: String(PROCESSES),
      ...(await open()),
    };
    apis = await Promise.all(Array.from({ length: PROCESSES }, () => startApi(options)));
  }, 120_000);
  afterAll(() => Promise.all(apis.map((api) => api[Symbol.asyncDispose]())), 60_000);

  test(
    'a key of 60 a minute gets its burst and one call a second, no more and no less',
    async () => {
      const limits = { requestsPerMinute: 60, requestsPerDay: 10_000, used: 0 };
      const calls = await callWith(apis, limits, forSeconds(6));
      expect(calls.length).toBeGreaterThan(500);
      expect(worstExcess(calls, 60)).toBeLessThanOrEqual(1);
      expect(shortfall(calls, 60)).toBeLessThan(2);
    },
    CASE_MS,
  );

  test(
    'a day of 10,000 ends at exactly 10,000',
    async () => {
      const limits = { requestsPerMinute: 1_000_000, requestsPerDay: 10_000, used: 8_500 };
      const calls = await callWith(apis, limits, forCalls(2_000));
      expect(limits.used + countAdmitted(calls)).toBe(10_000);
    },
    CASE_MS,
  );
  return () => apis;
}

describe('in Postgres', () => {
  testRates(async () => ({}));
});

describeWithRedis('in Redis', () => {
  let server: TestRedis;
  afterAll(() => server?.[Symbol.asyncDispose]());
  const apis = testRates(async () => {
    server = await startRedis();
    return { redisUrl: server.url };
  });

  /**
   * Flushes Redis after each `every` admitted calls; after the last one ends calls like the other one, at a refusal: only
   * clients that have used up what there is can tell that it was too little.
   */
  const flushing = (every: number, begin: () => IsOver) => {
    const flushes = { done: 0 };
    const watch = () => {
      const isOver = begin();
      const seen = { calls: 0, admitted: 0 };
      flushes.done = 0;
      return (calls: readonly Call[]) => {
        for (; seen.calls < calls.length; seen.calls++) {
          if (calls[seen.calls]?.admitted) seen.admitted++;
        }
        if (flushes.done < FLUSHES && seen.admitted >= every * (flushes.done + 1)) {
          flushes.done++;
          void server.client.flushall();
        }
        return flushes.done === FLUSHES && isOver(calls) && calls.at(-1)?.admitted === false;
      };
    };
    return { flushes, watch };
  };

  test(
    'FLUSHALL during a burst gives no second burst: at most the calls in flight twice',
    async () => {
      const limits = { requestsPerMinute: 600, requestsPerDay: 10_000, used: 0 };
      const { flushes, watch } = flushing(200, forSeconds(4));
      const calls = await callWith(apis(), limits, watch);
      expect(flushes.done).toBe(FLUSHES);
      expect(worstExcess(calls, 600)).toBeLessThanOrEqual(FLUSHES * CLIENTS);
      expect(shortfall(calls, 600)).toBeLessThan(20);
    },
    CASE_MS,
  );

  test(
    'FLUSHALL ends a day of 10,000 at most its leases early, and never late',
    async () => {
      const limits = { requestsPerMinute: 1_000_000, requestsPerDay: 10_000, used: 7_500 };
      const { flushes, watch } = flushing(400, forCalls(3_000));
      const calls = await callWith(apis(), limits, watch);
      expect(flushes.done).toBe(FLUSHES);
      const total = limits.used + countAdmitted(calls);
      expect(total).toBeLessThanOrEqual(10_000);
      expect(total).toBeGreaterThan(10_000 - FLUSHES * PROCESSES * LEASE);
    },
    CASE_MS,
  );
});
