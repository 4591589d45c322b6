/** Single calls are shared between accounts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { openLane } from '../lib/coalesce.ts';
import { type EnrichCall, openEnrichCalls } from './enrich-calls.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

const byName: EnrichCall['row'] = {
  identifiers: [],
  invalid: null,
  likely: { name: 'Nora Nobody' },
};
const byEmail: EnrichCall['row'] = {
  identifiers: [{ kind: 'email', values: ['nora@nobody.example'] }],
  invalid: null,
};

test.each<[how: string, row: EnrichCall['row'], minProbability: number | null]>([
  ['name', byName, 0.9],
  ['identifier', byEmail, null],
])(
  'one account’s thousand calls by %s do not make another account wait for all of them',
  async (_how, row, minProbability) => {
    // Of two rounds in flight the one that begins first may end last.
    const calls = openEnrichCalls(pipeline.context, openLane(1));
    const order: string[] = [];
    const call = async (accountId: string, reference: number) => {
      const asked: EnrichCall = {
        ...{ accountId, keyId: 'key', sessionSha256: null, isPlain: true, live: false },
        ...{ operation: 'people.enrich', row, minProbability, required: null },
        reference: `call:${reference}`,
      };
      await calls.run(asked, new AbortController().signal);
      order.push(accountId);
    };
    const flood = Array.from({ length: 1000 }, (_, reference) => call('many', reference));
    await Promise.all([...flood, call('one', 1000)]);
    expect(order.indexOf('one')).toBeLessThan(100);
  },
);
