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
    const flood = Array.from({ length: 1000 }, () => call(many));
    await Promise.all([...flood, call(one)]);
    expect(order.indexOf(one.key)).toBeLessThan(500);
  },
);
