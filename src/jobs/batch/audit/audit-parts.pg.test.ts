import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../../tests/support/pipeline.ts';
import { crowd } from '../../../../tests/support/small-graph.ts';
import { must } from '../../../core/lib/assert.ts';
import { suppress } from '../../../core/suppression/suppress.ts';
import { auditParts } from './audit-parts.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(5) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

const list = 'email,note\np1@list.example,"a\nb"\nnobody@list.example,\np2@list.example,\nx,\n';
const options = { operation: 'people.enrich', fields: 'id' };

async function broken(): Promise<Record<string, number>> {
  const checks = await auditParts(pipeline.context);
  expect(checks).toHaveLength(3);
  return Object.fromEntries(
    checks.flatMap(({ name, violations }) => (violations === 0 ? [] : [[name, violations]])),
  );
}

/** The first recorded part of a list, changed by `change` for as long as `look` takes. */
async function withPart(
  id: string,
  change: (key: string, bytes: Buffer) => Promise<unknown>,
  look: () => Promise<void>,
): Promise<void> {
  const { store } = pipeline.context;
  const [part] = await pipeline.sql<{ objectKey: string; bytes: number }[]>`
    select object_key, bytes from parts where batch_id = ${id} order by chunk_number limit 1`;
  const { objectKey, bytes } = must(part, 'a part');
  const before = await store.get(objectKey, { from: 0, to: bytes });
  await change(objectKey, before);
  await look();
  await store.put(objectKey, [before]);
}

test('nothing is wrong with results as they were written, cancelled and cut ones too', async () => {
  await pipeline.enrich(caller, list, options);
  await pipeline.enrich(caller, list, { ...options, max_credits: '1' });
  await pipeline.enrich(caller, list, { ...options, operation: 'people.mobile' });
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
  await pipeline.runUntilIdle();
  expect(await broken()).toEqual({});
});

test('an outcome, a price or a part that is not the one that was counted is found', async () => {
  const id = await pipeline.enrich(caller, list, options);
  const { store } = pipeline.context;
  const replace = (from: string, to: string) => (key: string, bytes: Buffer) => {
    const text = bytes.toString();
    expect(text).toContain(from);
    return store.put(key, [Buffer.from(text.replace(from, to))]);
  };
  await withPart(id, replace('matched,email,,false,1', 'matched,email,,false,0'), async () =>
    expect(await broken()).toEqual({ 'the stored rows of every list cost what it was charged': 1 }),
  );
  await withPart(id, replace('no_match', 'ambiguous'), async () =>
    expect(await broken()).toEqual({ 'the stored rows of every list have its outcomes': 1 }),
  );
  await withPart(
    id,
    (key) => store.delete(key),
    async () => expect(await broken()).toEqual({ 'every recorded part is stored': 1 }),
  );
  expect(await broken()).toEqual({});
});

test('who opted out later was still paid for', async () => {
  const id = await pipeline.enrich(caller, 'email\np5@list.example\n', options);
  await suppress(pipeline.sql, 'p5@list.example');
  expect((await pipeline.results(caller, id)).text).toContain('suppressed');
  expect(await broken()).toEqual({});
});
