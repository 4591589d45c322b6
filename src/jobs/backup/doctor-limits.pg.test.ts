/**
 * The doctor and what asks for no refund: the limits of today, the time for which files are kept, and an object that cannot be
 * read now.
 */
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { lockWallet } from '../../core/credits/credits.sql.ts';
import { refundCredits } from '../../core/credits/credits.ts';
import { inTransaction } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { unavailable } from '../../core/lib/errors.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { audit } from '../audit/audit.ts';
import { auditParts } from '../audit/audit-parts.ts';
import { markStore } from '../batch/own-store.ts';
import { diagnose } from './doctor.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '5' });
  await markStore(pipeline.context);
  await importGraph(pipeline.sql, { persons: crowd(20) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.unmeteredAccount(100);
});

const list = `Email\n${crowd(20)
  .map(({ email }) => `${email}\n`)
  .join('')}`;
const finish = () => pipeline.enrich(caller, list, { operation: 'people.enrich' });
const balance = async () => (await pipeline.wallet(caller))?.balance;
const fix = () => diagnose(pipeline.context, { fix: true });

async function lose(id: string, pattern: RegExp): Promise<void> {
  for (const key of await pipeline.objects()) {
    if (key.includes(id) && pattern.test(key)) await pipeline.context.store.delete(key);
  }
}

async function isSound(): Promise<void> {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  expect((await fix()).findings).toEqual([]);
}

test('lists of an account that could not upload them now are run again all the same', async () => {
  const lost = [await finish(), await finish()];
  for (const id of lost) await lose(id, /parts/);
  const { context } = pipeline;
  const config = { ...context.config, openListsMax: 1, storedBytesMax: 1 };
  const { findings } = await diagnose({ ...context, config }, { fix: true });
  expect(findings.map(({ action }) => action)).toEqual(['rerun', 'rerun']);
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(60);
  await isSound();
});

test('a list whose files would be deleted by now is not refunded, and has none any more', async () => {
  const { sql, config } = pipeline.context;
  const id = await finish();
  await lose(id, /parts\/1-/);
  await sql`
    update batches set created_at = created_at - interval '1 year',
      finished_at = now() - make_interval(days => ${config.filesKeepDays}, secs => 60) where id = ${id}`;
  const expired = { batch_id: id, action: 'expired', credits_refunded: 0, rerun_id: null };
  const statusOf = async () => (await pipeline.call(caller, `/v1/batches/${id}/results`)).status;
  expect((await diagnose(pipeline.context, { fix: false })).findings).toMatchObject([expired]);
  expect(await statusOf()).toBe(503);
  expect((await fix()).findings).toMatchObject([expired]);
  expect(await statusOf()).toBe(410);
  expect(await balance()).toBe(80);
  await isSound();
});

test('a list with an object that cannot be read is named and left alone, and the next one is mended', async () => {
  const [refused, lost] = [await finish(), await finish()];
  await lose(lost, /parts/);
  const { faults } = pipeline;
  faults.get = async (key) => {
    if (key.includes(refused)) throw unavailable('store_unavailable', 'AccessDenied');
  };
  const told: string[] = [];
  const examined = await diagnose(pipeline.context, {
    fix: true,
    onProgress: (line) => told.push(line),
  });
  const { checks, objects } = await auditParts(pipeline.context);
  delete faults.get;
  expect(examined.findings).toMatchObject([
    { batch_id: refused, action: 'unreadable', credits_refunded: 0, rerun_id: null },
    { batch_id: lost, action: 'rerun' },
  ]);
  const [finding] = examined.findings;
  expect(told).toHaveLength(finding?.objects ?? 0);
  expect(told[0]).toMatch(new RegExp(`^batches/${refused}/.* cannot be read: .*AccessDenied$`));
  expect(objects.damaged).toHaveLength(finding?.objects ?? 0);
  expect(checks.filter(({ violations }) => violations > 0)).toHaveLength(1);
  await pipeline.runUntilIdle();
  await isSound();
});

test('a list of which an operator has refunded a part is refunded to the end, and paid once', async () => {
  const id = await finish();
  const [charge] = await pipeline.charges(caller);
  const { reference } = must(charge, 'a charge');
  await refundCredits(pipeline.sql, { accountId: caller.accountId, reference, amount: 2 });
  await lose(id, /parts/);
  expect((await fix()).findings).toMatchObject([{ action: 'rerun', credits_refunded: 18 }]);
  expect(await balance()).toBe(100);
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(80);
  await isSound();
});

test('nor is one that an operator refunds in part at that moment refunded less or more', async () => {
  const id = await finish();
  const [charge] = await pipeline.charges(caller);
  const { reference } = must(charge, 'a charge');
  const { accountId } = caller;
  let atOnce: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await lose(id, /parts/);
  await inTransaction(pipeline.sql, async (tx) => {
    await lockWallet(tx, accountId);
    const refunding = refundCredits(pipeline.sql, { accountId, reference, amount: 2 });
    await pipeline.untilBlocked(1);
    atOnce = Promise.allSettled([refunding, fix()]);
    await pipeline.untilBlocked(2);
  });
  expect((await atOnce).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(await balance()).toBe(100);
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(80);
  await isSound();
});

test('an upload of which a byte changes on its way to the new list is read again', async () => {
  const id = await finish();
  await lose(id, /parts/);
  const { store } = pipeline.context;
  let reads = 0;
  const changing: ObjectStore = {
    ...store,
    getStream(key, range) {
      const isChanged = key === `batches/${id}/upload` && ++reads === 1;
      return isChanged
        ? Readable.from([Buffer.from(list.replace('p1@', 'q1@'))])
        : store.getStream(key, range);
    },
  };
  const { findings } = await diagnose({ ...pipeline.context, store: changing }, { fix: true });
  expect(findings).toMatchObject([{ batch_id: id, action: 'rerun' }]);
  await pipeline.runUntilIdle();
  expect(reads).toBe(2);
  await isSound();
});
