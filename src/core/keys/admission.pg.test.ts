/** The keys of calls that come at once are found in turns. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { openAdmission, openAuthentication } from './admission.ts';
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
    const find = kind === 'metered' ? openAdmission(sql, limiter) : openAuthentication(sql);
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
  const admit = openAdmission(sql, limiter);
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
