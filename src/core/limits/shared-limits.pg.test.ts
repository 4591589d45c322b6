/**
 * Limits that several processes share, under load: four instances with their own connections and fifty clients on
 * one key. A checker verifies the history of admitted calls.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import {
  type Call,
  countAdmitted,
  shortfall,
  worstExcess,
} from '../../../tests/support/limit-history.ts';
import {
  describeWithRedis,
  startRedis,
  type TestRedis,
} from '../../../tests/support/redis-server.ts';
import { createAccount } from '../accounts/accounts.ts';
import { connect } from '../db/client.ts';
import { openAdmission } from '../keys/admission.ts';
import { hashKey } from '../keys/key-format.ts';
import { createKey } from '../keys/keys.ts';
import { createLog } from '../log.ts';
import { metrics } from '../metrics.ts';
import { connectRedis } from '../redis/client.ts';
import type { LimitedKey } from './limiter.ts';
import { openPostgresLimiter } from './postgres-limiter.ts';
import { openRedisLimiter } from './redis-limiter.ts';

const INSTANCES = 4;
const CLIENTS = 50;
/** On a loaded machine Redis may be too slow for an instance, which then admits its share without it. */
const ROUNDS_MAX = 8;

const silent = createLog('silent', 'test');

interface Instance {
  admit(): Promise<boolean>;
  /** True when its last log line reports that Redis is unavailable. */
  isAway(): boolean;
  /** True when Redis has been unavailable to it. */
  wasAway(): boolean;
  close(): Promise<void>;
}

/** The one key that every instance calls with. */
interface SharedKey extends LimitedKey {
  key: string;
}

const now = () => performance.now() / 1000;

async function createShared(
  database: TestDatabase,
  requestsPerMinute: number,
  requestsPerDay: number,
): Promise<SharedKey> {
  const accountId = await createAccount(database.sql, { name: 'Shared', credits: 0 });
  const limits = { requestsPerMinute, requestsPerDay };
  const { id, key } = await createKey(database.sql, { accountId, mode: 'live', ...limits });
  return { requestsOf: id, key, ...limits };
}

function openInstances(database: TestDatabase, key: SharedKey, server?: TestRedis): Instance[] {
  return Array.from({ length: INSTANCES }, () => {
    const sql = connect({ url: database.url, connections: 2 });
    const redis = server ? connectRedis(server.url, 'limits', silent) : null;
    const options = { prefix: 'test', processes: INSTANCES };
    let isAway = false;
    let wasAway = false;
    const log = {
      warn: () => {
        isAway = true;
        wasAway = true;
      },
      info: () => {
        isAway = false;
      },
    };
    const limiter = redis
      ? openRedisLimiter({ redis, sql, log }, options)
      : openPostgresLimiter(sql);
    const admit = openAdmission(sql, limiter);
    return {
      isAway: () => isAway,
      wasAway: () => wasAway,
      admit: async () => (await admit(hashKey(key.key))).limits.admitted,
      async close() {
        redis?.disconnect();
        await sql.end({ timeout: 5 });
      },
    };
  });
}

/** Fifty clients call in a loop until `isOver`; returns the result of every call. */
async function hammer(instances: Instance[], isOver: (calls: Call[]) => boolean): Promise<Call[]> {
  const calls: Call[] = [];
  const client = async (instance: Instance) => {
    while (!isOver(calls)) {
      const sent = now();
      const admitted = await instance.admit();
      calls.push({ sent, answered: now(), admitted });
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    client(instances[index % INSTANCES] as Instance),
  );
  await Promise.all(clients);
  return calls;
}

const forSeconds = (seconds: number) => {
  const start = now();
  return () => now() - start > seconds;
};

async function degradedMetric(): Promise<number | undefined> {
  const { values } = (await metrics.getSingleMetric('enrich_rate_limit_degraded')?.get()) ?? {};
  return values?.[0]?.value;
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function testSharing(openServer: () => Promise<TestRedis | undefined>): void {
  let server: TestRedis | undefined;
  beforeAll(async () => {
    server = await openServer();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('four instances with fifty clients admit exactly one limit a minute', async () => {
    const key = await createShared(database, 300, 100_000);
    const instances = openInstances(database, key, server);
    const calls = await hammer(instances, forSeconds(2.5));
    expect(worstExcess(calls, 300)).toBeLessThanOrEqual(1);
    expect(shortfall(calls, 300)).toBeLessThan(3);
    await Promise.all(instances.map((instance) => instance.close()));
  });

  test('four instances with fifty clients admit exactly one day', async () => {
    const useUp = async () => {
      const key = await createShared(database, 1_000_000, 730);
      const instances = openInstances(database, key, server);
      const calls = await hammer(instances, (made) => made.length > 1_500);
      // A slow instance may have a part of its lease left.
      let left = 0;
      for (const { admit } of instances) while (await admit()) left++;
      await Promise.all(instances.map((instance) => instance.close()));
      // A response that comes late is of a request that Redis has counted.
      const wasAway = instances.some((instance) => instance.wasAway());
      return { admitted: countAdmitted(calls) + left, wasAway };
    };
    let round = await useUp();
    for (let tries = 1; round.wasAway && tries < ROUNDS_MAX; tries++) round = await useUp();
    expect(round.admitted).toBe(730);
  });
}

describe('in Postgres', () => {
  testSharing(async () => undefined);
});

describeWithRedis('in Redis', () => {
  testSharing(() => startRedis());

  test('FLUSHALL refills no bucket', async () => {
    await using server = await startRedis();
    const flushThrice = async () => {
      const key = await createShared(database, 300, 100_000);
      const instances = openInstances(database, key, server);
      let flushed = 0;
      const isOver = forSeconds(3);
      const calls = await hammer(instances, (made) => {
        if (countAdmitted(made) > 303 + flushed * 3 && flushed < 3) {
          flushed++;
          void server.client.flushall();
        }
        return flushed === 3 && isOver();
      });
      await Promise.all(instances.map((instance) => instance.close()));
      return { calls, wasAway: instances.some((instance) => instance.wasAway()) };
    };
    let round = await flushThrice();
    for (let tries = 1; round.wasAway && tries < ROUNDS_MAX; tries++) round = await flushThrice();
    // A token taken during the flush, which no other instance has seen, is granted once more.
    expect(worstExcess(round.calls, 300)).toBeLessThanOrEqual(1 + 3);
    expect(shortfall(round.calls, 300)).toBeLessThan(3);
  });

  test('FLUSHALL under load makes a day end early by its leases, never late', async () => {
    await using server = await startRedis();
    const key = await createShared(database, 1_000_000, 2000);
    const instances = openInstances(database, key, server);
    let flushes = 0;
    const calls = await hammer(instances, (made) => {
      if (countAdmitted(made) > 300 * (flushes + 1) && flushes < 3) {
        flushes++;
        void server.client.flushall();
      }
      return made.length > 2_600;
    });
    expect(flushes).toBe(3);
    expect(countAdmitted(calls)).toBeLessThanOrEqual(2000);
    // A lease is 20 requests, or as many as wait together.
    expect(countAdmitted(calls)).toBeGreaterThan(2000 - 3 * 4 * 50);
    await Promise.all(instances.map((instance) => instance.close()));
  });

  test('a day whose lease Redis has as it was earlier, as after a restart or a failover, ends early too', async () => {
    await using server = await startRedis();
    const key = await createShared(database, 1_000_000, 200);
    const instances = openInstances(database, key, server);
    const [first] = instances as [Instance];
    let admitted = 0;
    const admit = async (calls: number, { admit: ask } = first) => {
      for (let call = 0; call < calls; call++) admitted += Number(await ask());
    };
    await admit(1);
    const [name = ''] = await server.client.keys('*:day');
    for (let restarts = 0; restarts < 20; restarts++) {
      const earlier = await server.client.dumpBuffer(name);
      // Nearly the whole block, so that what is left of it was used.
      await admit(9);
      await server.client.call('RESTORE', name, 0, earlier, 'REPLACE');
    }
    for (const instance of instances) await admit(300, instance);
    expect(admitted).toBeLessThanOrEqual(200);
    // Each restart may lose a block.
    expect(admitted).toBeGreaterThanOrEqual(100);
    await Promise.all(instances.map((instance) => instance.close()));
  });

  test('a day during which Redis fails ends at its cap too', async () => {
    await using server = await startRedis();
    const key = await createShared(database, 1_000_000, 1000);
    const instances = openInstances(database, key, server);
    const before = await hammer(instances, (made) => countAdmitted(made) > 400);
    await server.kill();
    const after = await hammer(instances, (made) => made.length > 1_500);
    const admitted = countAdmitted([...before, ...after]);
    expect(admitted).toBeLessThanOrEqual(1000);
    // The leased and unused requests are lost: a block, or one for each waiting call.
    expect(admitted).toBeGreaterThan(1000 - 4 * CLIENTS);
    await Promise.all(instances.map((instance) => instance.close()));
  });

  test.each([
    { how: 'killed', goes: (server: TestRedis) => server.kill(), comes: 'start' as const },
    { how: 'frozen', goes: async (server: TestRedis) => server.freeze(), comes: 'thaw' as const },
  ])(
    'while Redis is $how each instance admits its share, then limits are exact again',
    async ({ goes, comes }) => {
      await using server = await startRedis();
      const useUp = async () => {
        const key = await createShared(database, 600, 100_000);
        const instances = openInstances(database, key, server);
        const before = await hammer(instances, (made) => countAdmitted(made) > 605);
        return { instances, before, wasAway: instances.some((instance) => instance.wasAway()) };
      };
      let used = await useUp();
      for (let tries = 1; used.wasAway && tries < ROUNDS_MAX; tries++) {
        await Promise.all(used.instances.map((instance) => instance.close()));
        used = await useUp();
      }
      const { instances, before } = used;
      await goes(server);
      const away = await hammer(instances, forSeconds(1.5));
      expect(instances.map((instance) => instance.isAway())).toEqual([true, true, true, true]);
      expect(await degradedMetric()).toBe(1);
      // Ten a second, from empty buckets: not another six hundred.
      expect(countAdmitted(away)).toBeGreaterThan(5);
      expect(worstExcess([...before, ...away], 600)).toBeLessThan(20);
      await server[comes]();
      const late = forSeconds(5);
      const isExact = () => !instances.some((instance) => instance.isAway());
      const returning = await hammer(instances, () => isExact() || late());
      expect(isExact()).toBe(true);
      expect(await degradedMetric()).toBe(0);
      const after = await hammer(instances, forSeconds(1));
      expect(worstExcess(after, 600)).toBeLessThanOrEqual(1);
      expect(worstExcess([...before, ...away, ...returning, ...after], 600)).toBeLessThan(30);
      expect(countAdmitted(after)).toBeGreaterThan(0);
      await Promise.all(instances.map((instance) => instance.close()));
    },
  );
});
