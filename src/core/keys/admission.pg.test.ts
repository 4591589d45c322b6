/** The keys of calls that come at once are found in turns. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { openLane } from '../lib/coalesce.ts';
import { openAdmission, openAuthentication } from './admission.ts';
import { generateKey } from './key-format.ts';
import { readKey } from './keys.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

test.each(['metered', 'unmetered'])(
  'a thousand %s calls of one key do not make another key wait for all of them',
  async (kind) => {
    const { sql, limiter } = pipeline.context;
    // Of two rounds in flight the one that begins first may end last.
    const lane = openLane(1);
    const find =
      kind === 'metered' ? openAdmission(sql, limiter, lane) : openAuthentication(sql, lane);
    const many = await pipeline.unmeteredAccount(0);
    const one = await pipeline.unmeteredAccount(0);
    const order: string[] = [];
    const call = async ({ key }: { key: string }) => {
      await find(readKey(key));
      order.push(key);
    };
    // The first call of a key makes its counters.
    await Promise.all([many, one].map(call));
    order.length = 0;
    const flood = Array.from({ length: 1000 }, () => call(many));
    await Promise.all([...flood, call(one)]);
    expect(order.indexOf(one.key)).toBeLessThan(500);
  },
);

test('calls of a hundred keys of one account do not make the calls of another one wait for each of them', async () => {
  const { sql, limiter } = pipeline.context;
  const admit = openAdmission(sql, limiter, openLane(1));
  const { accountId } = await pipeline.unmeteredAccount(0);
  const many = await Promise.all(
    Array.from({ length: 99 }, () => pipeline.keyOf(accountId, 'live')),
  );
  const one = await pipeline.unmeteredAccount(0);
  const order: string[] = [];
  const call = async ({ key }: { key: string }) => {
    const { key: found } = await admit(readKey(key));
    order.push(found.accountId);
  };
  await Promise.all([...many, one].map(call));
  order.length = 0;
  const flood = Array.from({ length: 990 }, (_, place) => call(many[place % 99] ?? one));
  await Promise.all([...flood, ...Array.from({ length: 20 }, () => call(one))]);
  expect(order.lastIndexOf(one.accountId)).toBeLessThan(500);
});

test('a thousand made-up keys do not make a known one wait for all of them', async () => {
  const authenticate = openAuthentication(pipeline.context.sql, openLane(1));
  const known = readKey((await pipeline.unmeteredAccount(0)).key);
  await authenticate(known);
  const order: string[] = [];
  const madeUp = Array.from({ length: 1000 }, () =>
    authenticate(readKey(generateKey('live'))).catch(() => order.push('refused')),
  );
  const found = authenticate(known).then(() => order.push('found'));
  await Promise.all([...madeUp, found]);
  expect(order).toHaveLength(1001);
  expect(order.indexOf('found')).toBeLessThan(500);
});
