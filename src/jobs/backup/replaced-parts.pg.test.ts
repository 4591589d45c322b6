/** Parts that an opt-out replaced after the moment of the database: the doctor records the new ones, and refunds nothing. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd, crowdRange } from '../../../tests/support/small-graph.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../audit/audit.ts';
import { auditParts } from '../audit/audit-parts.ts';
import { markStore } from '../batch/own-store.ts';
import { redactAllResults } from '../result/redact-results.ts';
import { diagnose } from './doctor.ts';
import { checkBackup, restoreBackup } from './restore-backup.ts';
import { writeBackup } from './write-backup.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '5' });
  await markStore(pipeline.context);
  await importGraph(pipeline.sql, { persons: crowd(40) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.unmeteredAccount(100);
});

const balance = async () => (await pipeline.wallet(caller))?.balance;
const fix = () => diagnose(pipeline.context, { fix: true });

async function isSound(): Promise<void> {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  const { checks } = await auditParts(pipeline.context);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
  expect((await fix()).findings).toEqual([]);
}

/** Lets people opt out and redacts all results; then the parts of a batch are in the database as before. */
const optOutAndForget = async (id: string, ...emails: string[]) => {
  const { sql, context } = pipeline;
  await sql`drop table if exists parts_before`;
  await sql`create table parts_before as select * from parts`;
  for (const email of emails) {
    await suppress(sql, email);
    await redactAllResults(context);
  }
  await sql`
    update parts p set object_key = b.object_key, bytes = b.bytes, crc32 = b.crc32, ids_bytes = b.ids_bytes,
      ids_crc32 = b.ids_crc32, suppression_number = b.suppression_number
    from parts_before b
    where b.batch_id = ${id} and p.batch_id = ${id}
      and (b.chunk_number, b.number) = (p.chunk_number, p.number)`;
  await sql`drop table parts_before`;
};

test('of an export are its parts again, and nothing is refunded', async () => {
  const id = await pipeline.makeExport(caller, { filter: 'id=1001-1010', fields: ['id'] });
  await pipeline.runUntilIdle();
  await optOutAndForget(id, 'p2@list.example', 'p3@list.example');
  expect(await balance()).toBe(90);
  const seen = await diagnose(pipeline.context, { fix: false });
  expect(seen.findings).toMatchObject([{ batch_id: id, objects: 2, action: 'replaced' }]);
  expect((await fix()).findings).toMatchObject([
    { batch_id: id, action: 'replaced', credits_refunded: 0, rerun_id: null },
  ]);
  expect(await balance()).toBe(90);
  const text = await (await pipeline.call(caller, `/v1/exports/${id}/results`)).text();
  expect(text.split('\n')).toEqual(
    ['person.id', 1001, 1004, 1005, 1006, 1007, 1008, 1009, 1010, ''].map(String),
  );
  await isSound();
});

test('of a list keep its rows, and another part that is lost refunds it and runs it again', async () => {
  const id = await pipeline.upload(caller, crowdRange(11, 31), { operation: 'people.enrich' });
  await pipeline.runUntilIdle();
  await optOutAndForget(id, 'p12@list.example');
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'replaced' }]);
  const { text } = await pipeline.results(caller, id);
  expect(text.match(/,suppressed,/g)).toHaveLength(1);
  expect(await balance()).toBe(80);
  await isSound();
  await optOutAndForget(id, 'p13@list.example');
  for (const key of await pipeline.objects()) {
    if (key.startsWith(`batches/${id}/parts/2-`)) await pipeline.context.store.delete(key);
  }
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'rerun' }]);
  await pipeline.runUntilIdle();
  await isSound();
});

test('of a list that has not ended are recorded too', async () => {
  const id = await pipeline.upload(caller, crowdRange(31, 41), { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.queues.runNext(pipeline.context, 'run-chunk');
  await optOutAndForget(id, 'p31@list.example');
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'replaced' }]);
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  await isSound();
});

test('are checked again for who opted out since, when the store is older than the database', async () => {
  const { sql, context } = pipeline;
  const id = await pipeline.upload(caller, crowdRange(32, 37), { operation: 'people.enrich' });
  await pipeline.runUntilIdle();
  const optOut = async (email: string) => {
    await suppress(sql, email);
    await redactAllResults(context);
  };
  const parts = async () =>
    (await pipeline.objects()).filter((key) => key.startsWith(`batches/${id}/parts/`));
  await optOut('p32@list.example');
  const older = await Promise.all(
    (await parts()).map(async (key) => ({
      key,
      bytes: await context.store.get(key, { from: 0, to: 1_000_000 }),
    })),
  );
  await optOut('p33@list.example');
  for (const key of await parts()) await context.store.delete(key);
  for (const { key, bytes } of older) await context.store.put(key, [bytes]);
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'replaced' }]);
  expect((await pipeline.results(caller, id)).text.match(/,suppressed,/g)).toHaveLength(2);
  await isSound();
});

test('are lost when the object that took their place has not all rows', async () => {
  const id = await pipeline.upload(caller, crowdRange(15, 20), { operation: 'people.enrich' });
  await pipeline.runUntilIdle();
  await optOutAndForget(id, 'p16@list.example');
  const { store } = pipeline.context;
  for (const key of await pipeline.objects()) {
    if (key.startsWith(`batches/${id}/parts/`) && key.endsWith('.csv')) {
      await store.put(key, [Buffer.from('half,a,row\n')]);
    }
  }
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'rerun' }]);
  await pipeline.runUntilIdle();
  await isSound();
});

test('while a backup was written are in it, and restored without a refund', async () => {
  const { context, sql } = pipeline;
  const options = { operation: 'people.enrich' };
  const id = await pipeline.enrich(caller, crowdRange(21, 26), options);
  const emptied = await pipeline.makeExport(caller, { filter: 'id=1027', fields: ['id'] });
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(94);
  const optOut = async () => {
    for (const email of ['p22@list.example', 'p27@list.example']) await suppress(sql, email);
    await redactAllResults(context);
  };
  let replaced: Promise<void> | undefined;
  const head = async (key: string) => {
    if ([id, emptied].some((batch) => key.startsWith(`batches/${batch}/parts/`))) {
      replaced ??= optOut();
      await replaced;
    }
    return context.store.head(key);
  };
  const { file, end } = await writeBackup({ ...context, store: { ...context.store, head } }, null);
  const bytes = await buffer(file);
  // A part with its person index of each.
  expect(await end).toMatchObject({ missing: 4 });
  const target = await openPipeline({ CHUNK_ROWS: '5' });
  const checked = await checkBackup(() => Readable.from([bytes]), null);
  await restoreBackup(target.context, checked);
  const { findings } = await diagnose(target.context, { fix: true, restored: true });
  expect(findings).toMatchObject([
    { batch_id: id, action: 'replaced', credits_refunded: 0 },
    { batch_id: emptied, action: 'replaced', credits_refunded: 0 },
  ]);
  expect(await target.wallet(caller)).toMatchObject({ balance: 94 });
  expect((await target.results(caller, id)).text.match(/,suppressed,/g)).toHaveLength(1);
  expect((await target.people(caller, emptied)).text).toBe('person.id\n');
  expect(await audit(target.sql)).toMatchObject({ ok: true });
  await target.close();
});
