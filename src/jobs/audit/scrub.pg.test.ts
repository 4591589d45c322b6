/** Damage is found before the file is requested. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyBatch } from '../../../tests/support/copy-batch.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { objectsDamaged } from '../../core/storage/object-sum.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { takeForScrub } from './audit.sql.ts';
import { audit } from './audit.ts';
import { checkObjects } from './check-objects.ts';
import { scrub } from './scrub.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2', FILES_KEEP_DAYS: '7' });
  await importGraph(pipeline.sql, { persons: crowd(5) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

const list = 'email\np1@list.example\np2@list.example\np3@list.example\n';
const run = (mustStop = () => false) => scrub(pipeline.context, mustStop);
const counted = async (found: string) => {
  const { values } = await objectsDamaged.get();
  return values.find(({ labels }) => labels.found === found)?.value ?? 0;
};
const passADay = () => pipeline.sql`
  update batches set created_at = created_at - interval '1 day',
    objects_checked_at = objects_checked_at - interval '1 day'`;

test('damaged, truncated and missing objects are counted until they are intact again', async () => {
  const { store } = pipeline.context;
  const options = { operation: 'people.enrich', fields: 'id' };
  const id = await pipeline.enrich(caller, list, options);
  expect(await run()).toBe(0);
  await passADay();
  expect(await run()).toBe(1);
  // Each batch is read once a day.
  expect(await run()).toBe(0);
  expect((await audit(pipeline.sql)).ok).toBe(true);

  const keys = (await pipeline.objects()).filter((key) => key.includes(id));
  expect(keys).toHaveLength(5);
  const before = new Map<string, Buffer>();
  for (const key of keys) {
    before.set(key, await store.get(key, { from: 0, to: must(await store.head(key), key) }));
  }
  const [part = '', ids = '', other = ''] = keys.filter((key) => key.includes('/parts/'));
  const upload = must(
    keys.find((key) => key.endsWith('/upload')),
    'the upload',
  );
  const bytes = (key: string) => must(before.get(key), key);
  await store.put(part, [bytes(part).subarray(1)]);
  await store.put(ids, [Buffer.concat([bytes(ids), Buffer.alloc(16)])]);
  await store.put(upload, [Buffer.from(bytes(upload).toString().replace('p2', 'p4'))]);
  await store.delete(other);
  const [damaged, missing] = [await counted('damaged'), await counted('missing')];
  await passADay();
  expect(await run()).toBe(1);
  // Each of the three is read twice before it counts as damaged.
  expect((await counted('damaged')) - damaged).toBe(6);
  expect((await counted('missing')) - missing).toBe(1);
  const [check] = (await audit(pipeline.sql)).checks.filter(({ violations }) => violations > 0);
  expect(check?.violations).toBe(4);

  for (const [key, whole] of before) await store.put(key, [whole]);
  await passADay();
  expect(await run()).toBe(1);
  expect((await audit(pipeline.sql)).ok).toBe(true);
});

test('several workers take one batch each, the one read longest ago first, at a bounded rate', async () => {
  const options = { operation: 'people.enrich', fields: 'id' };
  await pipeline.enrich(caller, list, options);
  await pipeline.enrich(caller, list, options);
  await passADay();
  const read = await Promise.all([run(), run(), run()]);
  expect(read.reduce((sum, batches) => sum + batches, 0)).toBe(3);
  await passADay();
  // As if one of them exceeded the bytes read in ten minutes.
  await pipeline.sql`
    update batches set stored_bytes = 1000000000, objects_checked_at = clock_timestamp()
    where id = (select id from batches limit 1)`;
  expect(await run()).toBe(0);
});

test('a small batch counts with what it takes to read one', async () => {
  await pipeline.sql`
    update batches set stored_bytes = 10, objects_checked_at = clock_timestamp() - interval '2 days'`;
  const limits = { minutes: 10, bytesMax: 200_000, batchBytesMin: 100_000, keepDays: 7 };
  const taken: unknown[] = [];
  for (let take = 0; take < 3; take++) taken.push(await takeForScrub(pipeline.sql, limits));
  expect(taken).toEqual([expect.any(String), expect.any(String), undefined]);
});

test('after the clock was set back, batches are read on, those read or created before it last', async () => {
  const { sql } = pipeline;
  await passADay();
  await sql`update batches set stored_bytes = 1000`;
  await sql`
    update batches set stored_bytes = 1000000000, objects_checked_at = clock_timestamp() + interval '6 hours'
    where id = (select id from batches limit 1)`;
  expect(await run()).toBe(3);
  const [left] = await sql`
    select count(*)::int as later from batches where objects_checked_at > clock_timestamp()`;
  expect(left).toEqual({ later: 0 });
  expect(await run()).toBe(0);
});

test('a worker that shuts down releases a batch that it has not fully read', async () => {
  await pipeline.sql`update batches set objects_checked_at = null, stored_bytes = 0`;
  let asked = 0;
  expect(await run(() => ++asked > 1)).toBe(0);
  const [left] = await pipeline.sql<{ count: number }[]>`
    select count(*)::int from batches where objects_checked_at is null`;
  expect(left?.count).toBe(3);
  expect(await run()).toBe(3);
});

test('a held list that is read in another way while it is checked has lost nothing', async () => {
  const options = { operation: 'people.enrich', hold: 'true', encoding: 'windows-1252' };
  const text = Buffer.from('email,name\np1@list.example,Jos\u00e9\n', 'latin1');
  const id = await pipeline.enrich(caller, text, options);
  const before = must(await findBatch(pipeline.sql, id), 'the list');
  const changed = await pipeline.call(caller, `/v1/batches/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ encoding: 'iso-8859-15' }),
  });
  expect(changed.status).toBe(200);
  await pipeline.runUntilIdle();
  // Its copy in UTF-8 was replaced.
  expect(await pipeline.context.store.head(must(before.canonicalKey, 'the copy'))).toBeNull();
  const found = await checkObjects(pipeline.context, before);
  expect(found).toEqual({ checked: 2, gone: 1, damaged: [], missing: [], unreadable: [] });
});

test('a batch with an object that cannot be read counts as damaged, and keeps no other', async () => {
  const options = { operation: 'people.enrich', fields: 'id' };
  const stuck = await pipeline.enrich(caller, list, options);
  await pipeline.enrich(caller, list, options);
  await passADay();
  pipeline.faults.get = async (key) => {
    if (key.includes(stuck)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  };
  await run();
  expect(await pipeline.sql`select id from batches where objects_damaged > 0`).toEqual([
    { id: stuck },
  ]);
  expect(await pipeline.sql`select id from batches where objects_checked_at is null`).toEqual([]);
  delete pipeline.faults.get;
  await passADay();
  await run();
  expect((await audit(pipeline.sql)).ok).toBe(true);
});

test('a database that goes away while a batch is read does not make it a damaged one', async () => {
  await pipeline.enrich(caller, list, { operation: 'people.enrich', fields: 'id' });
  await passADay();
  const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
  pipeline.faults.get = () => Promise.reject(away);
  await expect(run()).rejects.toBe(away);
  delete pipeline.faults.get;
  expect(await pipeline.sql`select id from batches where objects_damaged > 0`).toEqual([]);
});

test('a batch is taken without reading those that were read today', async () => {
  const { sql } = pipeline;
  const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', fields: 'id' });
  await sql`update batches set objects_checked_at = clock_timestamp() - interval '1 hour'`;
  await copyBatch(sql, id, 2000);
  const limits = { minutes: 10, bytesMax: 200_000, batchBytesMin: 1, keepDays: 7 };
  const take = async (taken: string | undefined) => {
    const read = await rowsRead(sql, ['batches'], async (tx) => {
      expect(await takeForScrub(tx, limits)).toBe(taken);
    });
    expect(read).toBeLessThan(10);
  };
  await take(undefined);
  await sql`update batches set objects_checked_at = clock_timestamp() - interval '2 days' where id = ${id}`;
  await take(id);
  await take(undefined);
});
