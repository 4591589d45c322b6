/** The rows that a claim and a sweep read do not grow with other accounts' lists that cannot run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertOpenLists, settleBatches } from '../../../bench/open-lists.sql.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { prices } from '../../core/operations.ts';
import { type DispatchedChunk, dispatchChunks, listUnclaimed } from '../batch/dispatch.sql.ts';
import { resumePaidBatches } from '../housekeeping/resume-paid.sql.ts';
import { endWaits } from './chunk-waits.sql.ts';
import { claimChunk } from './claim-chunk.sql.ts';
import { listWithExpiredLeases, reclaimChunks } from './commit-part.sql.ts';

const ACCOUNTS = 20;
const LISTS = 4_000;
/**
 * Maximum rows of batches and chunks that a statement may read: a few per account, far fewer than its lists.
 */
const READ_MAX = 5 * ACCOUNTS;
const perAccount = 8;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
  caller = await pipeline.account(0);
});
afterAll(() => pipeline.close());

const options = { operation: 'people.enrich' };
const oneRow = 'email\nnobody@list.example\n';

/** Rows of batches and chunks that `work` reads. */
const readOf = (work: (tx: Sql) => Promise<unknown>) =>
  rowsRead(pipeline.sql, ['batches', 'chunks'], work);

test('claims, dispatches and sweeps read no lists that wait, are paused or lack credits', async () => {
  const { sql, context, queues } = pipeline;
  const like = await pipeline.upload(caller, oneRow, { ...options, hold: 'true' });
  await queues.runNext(context, 'split-batch');
  const accounts = await insertOpenLists(sql, {
    like,
    lists: LISTS,
    accounts: ACCOUNTS,
    rowsPerMinute: 1,
  });
  // One of the three each; those that lack credits cannot pay a single row.
  await sql`
    with numbered as (
      select id, row_number() over () % 3 as third from batches
      where account_id = any(${accounts}::uuid[]))
    update batches b set state = case third when 0 then 'running' else 'paused' end,
      reason = case third when 1 then 'user' when 2 then 'insufficient_credits' end
    from numbered where b.id = numbered.id`;
  await sql`update wallets set balance = 0 where account_id = any(${accounts}::uuid[])`;
  await sql`
    update batches set waits_for = 'key'
    where account_id = any(${accounts}::uuid[]) and state = 'running'`;
  await sql`
    insert into key_waits select distinct key_id, now() + interval '1 minute' from batches
    where waits_for = 'key'`;
  await settleBatches(sql);
  const id = await pipeline.upload(caller, oneRow, options);
  await queues.runNext(context, 'split-batch');
  await sql`update chunks set state = 'pending', dispatched_at = null where state = 'dispatched'`;

  let chosen: DispatchedChunk[] = [];
  let claimed: string | undefined;
  const reads = {
    dispatch: await readOf(async (tx) => {
      chosen = await dispatchChunks(tx, { perAccount, waitingMax: 50 });
    }),
    claim: await readOf(async (tx) => {
      claimed = (await claimChunk(tx, must(chosen[0], 'a chunk')))?.batch.id;
    }),
    unclaimed: await readOf((tx) => listUnclaimed(tx, 0)),
    reclaim: await readOf(async (tx) => reclaimChunks(tx, await listWithExpiredLeases(tx))),
    endWaits: await readOf(endWaits),
    resume: await readOf((tx) => resumePaidBatches(tx, prices)),
  };
  expect(chosen).toHaveLength(1);
  expect(claimed).toBe(id);
  for (const [work, rows] of Object.entries(reads)) expect(rows, work).toBeLessThan(READ_MAX);
});

test('a dispatch reads one chunk of a batch that never ran, however long it is', async () => {
  const { sql, context, queues } = pipeline;
  const id = await pipeline.upload(caller, oneRow, options);
  await queues.runNext(context, 'split-batch');
  await sql`
    insert into chunks (batch_id, number, byte_from, byte_to, first_row, first_line, rows, crc32)
    select batch_id, later, byte_from, byte_to, first_row, first_line, rows, crc32
    from chunks, generate_series(2, 1000) later where batch_id = ${id}`;
  await sql`update chunks set state = 'pending', dispatched_at = null where batch_id = ${id}`;
  await sql`analyze chunks`;
  let chosen: DispatchedChunk[] = [];
  const rows = await readOf(async (tx) => {
    chosen = await dispatchChunks(tx, { perAccount, waitingMax: 50 });
  });
  expect(chosen).toMatchObject([{ batchId: id, number: 1 }]);
  expect(rows).toBeLessThan(READ_MAX);
});
