import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import { suppress } from '../../core/suppression/suppress.ts';
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
  const { checks } = await auditParts(pipeline.context);
  expect(checks).toHaveLength(4);
  return Object.fromEntries(
    checks.flatMap(({ name, violations }) => (violations === 0 ? [] : [[name, violations]])),
  );
}

/**
 * Changes the first recorded part of a list with `change` while `look` runs. The changed bytes are recorded as
 * written: the rows are wrong, but the object is intact.
 */
async function withPart(
  id: string,
  change: (key: string, bytes: Buffer) => Promise<ObjectSum | undefined>,
  look: () => Promise<void>,
): Promise<void> {
  const { store } = pipeline.context;
  const [part] = await pipeline.sql<{ objectKey: string; bytes: number }[]>`
    select object_key, bytes from parts where batch_id = ${id} order by chunk_number limit 1`;
  const { objectKey, bytes } = must(part, 'a part');
  const before = await store.get(objectKey, { from: 0, to: bytes });
  const record = (sum: ObjectSum) =>
    pipeline.sql`
      update parts set bytes = ${sum.bytes}, crc32 = ${sum.crc32} where object_key = ${objectKey}`;
  const written = await change(objectKey, before);
  if (written !== undefined) await record(written);
  await look();
  await record(await store.put(objectKey, [before]));
}

test('results as written pass, also cancelled and partial ones', async () => {
  await pipeline.enrich(caller, list, options);
  await pipeline.enrich(caller, list, { ...options, max_credits: '1' });
  await pipeline.enrich(caller, list, { ...options, operation: 'people.mobile', fields: 'mobile' });
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
  await pipeline.runUntilIdle();
  expect(await broken()).toEqual({});
});

test('a wrong outcome, price or part is found', async () => {
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
    async (key) => {
      await store.delete(key);
      return undefined;
    },
    async () => expect(await broken()).toEqual({ 'every recorded object is stored': 1 }),
  );
  await withPart(
    id,
    async (key, bytes) => {
      await store.put(key, [bytes.subarray(1)]);
      return undefined;
    },
    async () => expect(await broken()).toEqual({ 'every stored object is as it was written': 1 }),
  );
  expect(await broken()).toEqual({});
});

test('people who opted out later still count as paid', async () => {
  const id = await pipeline.enrich(caller, 'email\np5@list.example\n', options);
  await suppress(pipeline.sql, 'p5@list.example');
  expect((await pipeline.results(caller, id)).text).toContain('suppressed');
  expect(await broken()).toEqual({});
});

test('a list that its caller deletes while it is read is no violation', async () => {
  const id = await pipeline.enrich(caller, list, options);
  pipeline.faults.get = async (key) => {
    if (!key.includes(`${id}/parts/2-`)) return;
    delete pipeline.faults.get;
    await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });
  };
  expect(await broken()).toEqual({});
  expect(pipeline.faults.get).toBeUndefined();
});

test('a list of which a row changes its outcome while it is read is no violation', async () => {
  const id = await pipeline.enrich(caller, list, options);
  const { store } = pipeline.context;
  const decide = async (key: string, bytes: Buffer) => {
    await pipeline.sql`
      update batches set no_match = no_match - 1, ambiguous = ambiguous + 1 where id = ${id}`;
    return store.put(key, [Buffer.from(bytes.toString().replace('no_match', 'ambiguous'))]);
  };
  pipeline.faults.get = async (key) => {
    if (!key.includes(`${id}/parts/1-`) || key.endsWith('.ids')) return;
    delete pipeline.faults.get;
    const [part] = await pipeline.sql<{ bytes: number }[]>`
      select bytes from parts where object_key = ${key}`;
    const sum = await decide(key, await store.get(key, { from: 0, to: must(part, key).bytes }));
    await pipeline.sql`
      update parts set bytes = ${sum.bytes}, crc32 = ${sum.crc32} where object_key = ${key}`;
  };
  expect(await broken()).toEqual({});
  expect(pipeline.faults.get).toBeUndefined();
});

test('a list whose files are no longer kept lacks none of those that housekeeping has deleted', async () => {
  const { context, sql } = pipeline;
  const id = await pipeline.enrich(caller, list, options);
  await context.store.deletePrefix(`batches/${id}/parts/`);
  expect(await broken()).toEqual({ 'every recorded object is stored': 4 });
  await sql`
    update batches set created_at = created_at - interval '1 year',
      finished_at = now() - make_interval(days => ${context.config.filesKeepDays}, secs => 60) where id = ${id}`;
  expect(await broken()).toEqual({});
});
