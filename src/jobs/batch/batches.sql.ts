/**
 * Statements about batches as a whole. Those about chunks are in `../chunk/`. Locks are taken in
 * the order batch -> chunk -> reservation -> wallet -> budget of a key.
 */

import type { Owner } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { columnList } from '../../core/db/column-list.ts';
import { isToCome } from '../../core/db/lease.ts';
import { wordList } from '../../core/db/word-list.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import type { Chunk } from '../../formats/csv/split.ts';
import { type Batch, type BatchKind, type BatchOf, type ListBatch, storedFields } from './batch.ts';
import { DELETED_PAGE } from './delete-stored.ts';
import type { PartReport } from './report.ts';
import { deleteUnneededRecords } from './reruns.sql.ts';
import type { BatchState } from './states.ts';
import { endingStates } from './states.ts';

/**
 * The columns of a `Batch`. Named: with `*` the next column would change the shape of prepared statements, and
 * Postgres would fail those of the previous version inside a transaction.
 */
export const batchColumns = (sql: Sql) =>
  columnsWith(sql, { mapping: sql`mapping`, dialect: sql`dialect`, filter: sql`filter` });

type LongColumns = Record<'mapping' | 'dialect' | 'filter', ReturnType<Sql>>;

const columnsWith = (sql: Sql, { mapping, dialect, filter }: LongColumns) => sql`
  ${columnList(sql, otherFields)}, ${mapping} as mapping, ${dialect} as dialect, ${filter} as filter,
  (select rows_per_minute from api_keys where api_keys.id = key_id) as key_rows_per_minute`;

const otherFields = storedFields.filter(
  (field) => field !== 'mapping' && field !== 'dialect' && field !== 'filter',
);

/** A longer mapping, dialect or filter is no part of a page, nor kept when the files are deleted. */
const LONG_BYTES = 2000;

/** The values of the columns whose length callers choose, without those that are long. */
const shortColumns = (sql: Sql): LongColumns => ({
  mapping: sql`case when octet_length(mapping::text) <= ${LONG_BYTES} then mapping else '{}' end`,
  dialect: sql`case when octet_length(dialect::text) <= ${LONG_BYTES} then dialect
    else dialect || '{"header": null, "headerText": null, "titles": [], "sheets": []}' end`,
  filter: sql`case when octet_length(filter) <= ${LONG_BYTES} then filter end`,
});

/** Finds a batch by id, for jobs. */
export async function findBatch(sql: Sql, id: string): Promise<Batch | undefined> {
  const [batch] = await sql<Batch[]>`select ${batchColumns(sql)} from batches where id = ${id}`;
  return batch;
}

/** Finds a batch of this owner and kind; another owner's is not found. */
export async function findOwnBatch<Kind extends BatchKind>(
  sql: Sql,
  owner: Owner,
  kind: Kind,
  id: string,
): Promise<BatchOf<Kind> | undefined> {
  const [batch] = await sql<BatchOf<Kind>[]>`
    select ${batchColumns(sql)} from batches
    where id = ${id} and kind = ${kind} and account_id = ${owner.accountId}
      and live = ${owner.live}`;
  return batch;
}

/** The columns by which pages of lists and exports may be sorted. */
export const batchSorts = ['created_at', 'name', 'matched', 'credits'] as const;

export interface BatchPage {
  kind: BatchKind;
  /** The list whose reruns are read; null for all lists. */
  rerunOf: string | null;
  /** A text that the name contains, without regard to case and accents; null for all names. */
  search: string | null;
  sort: { by: (typeof batchSorts)[number]; descending: boolean };
  /** The last id of the previous page. */
  before: string | null;
  limit: number;
}

/** A page of an owner's batches of a kind, without their long texts. */
export async function listBatches(sql: Sql, owner: Owner, page: BatchPage): Promise<Batch[]> {
  const { by, descending } = page.sort;
  const key = {
    created_at: sql`created_at`,
    name: sql`fold(name)`,
    matched: sql`matched`,
    credits: sql`credits_charged`,
  }[by];
  const direction = descending ? sql`desc` : sql`asc`;
  const order = sql`order by ${key} ${direction}, id ${direction}`;
  // The ids first: a page in the order of a column without an index would compute the other columns of every batch.
  return sql<Batch[]>`
    select ${columnsWith(sql, shortColumns(sql))} from batches
    where id = any(array(
      select id from batches
      where account_id = ${owner.accountId} and kind = ${page.kind} and live = ${owner.live}
        and (${page.rerunOf}::uuid is null or rerun_of = ${page.rerunOf})
        and (${page.search}::text is null or strpos(fold(name), fold(${page.search})) > 0)
        and (${page.before}::uuid is null or (${key}, id) ${descending ? sql`<` : sql`>`} (
          select ${key}, id from batches where id = ${page.before}
            and account_id = ${owner.accountId}))
      ${order} limit ${page.limit}))
    ${order}`;
}

/** The assignments that end the claim of a successful batch job. */
export function jobDone(sql: Sql) {
  return sql`job_lease_until = null, job_attempts = 0, job_after = null, object_missing_since = null`;
}

/** A chunk as cut by the split. */
export interface NewChunk extends Chunk {
  number: number;
}

export interface SplitTotals {
  /** True to wait in `ready` instead of starting. */
  hold: boolean;
  canonicalKey: string;
  canonical: ObjectSum;
  rowsTotal: number;
  /** How many of its people the account owns; 0 for a list. */
  ownedFound: number;
  blankLines: number;
  width: number;
  /**
   * Bytes of the canonical copy written by the split; for the ids of an export, the value of `countedIdBytes`.
   */
  writtenBytes: number;
  /** Maximum bytes of the result without paid records; 0 for an export, where every row is paid. */
  resultBytesMax: number;
  notAsXlsx: string | null;
}

/**
 * Records the split of a batch in one statement: its chunks, its totals and the move to `queued` or `ready`. A
 * batch without rows ends at once. False when another run of the split was first, the batch has ended, or its upload
 * was read again since the batch was read.
 */
export async function insertSplit(
  sql: Sql,
  { id, uploadKey, dialect }: Pick<ListBatch, 'id' | 'dialect'> & { uploadKey: string | null },
  totals: SplitTotals,
  chunks: NewChunk[],
): Promise<boolean> {
  const column = <Name extends keyof NewChunk>(name: Name) => chunks.map((chunk) => chunk[name]);
  const isEmpty = chunks.length === 0;
  const state: BatchState = isEmpty ? 'completed' : totals.hold ? 'ready' : 'queued';
  const moved = await sql`
    with batch as (
      update batches set state = ${state}, ${jobDone(sql)}, rows_total = ${totals.rowsTotal},
        blank_lines = ${totals.blankLines}, owned_found = ${totals.ownedFound}, canonical_key = ${totals.canonicalKey},
        canonical_bytes = ${totals.canonical.bytes}, canonical_crc32 = ${totals.canonical.crc32},
        width = ${totals.width},
        chunks_total = ${chunks.length}, stored_bytes = stored_bytes + ${totals.writtenBytes},
        stored_bytes_open = stored_bytes + ${totals.writtenBytes + totals.resultBytesMax},
        not_as_xlsx = ${totals.notAsXlsx},
        finished_at = case when ${isEmpty} then now() end
      where id = ${id} and state = 'validating' and chunks_total is null
        and upload_key is not distinct from ${uploadKey} and dialect = ${sql.json(dialect as never)}
      returning id),
    chunk as (
      insert into chunks (batch_id, number, byte_from, byte_to, first_row, first_line, rows, crc32)
      select batch.id, c.* from batch, unnest(
        ${column('number')}::int[], ${column('byteFrom')}::bigint[], ${column('byteTo')}::bigint[],
        ${column('firstRow')}::int[], ${column('firstLine')}::int[], ${column('rows')}::int[],
        ${column('crc32')}::bigint[]) c)
    select id from batch`;
  return moved.length > 0;
}

/**
 * Ends a batch whose chunks are all done: `finalizing` becomes `completed`, `cancelling` becomes `cancelled`.
 * Returns the final state, or null when it was in neither state or chunks are left.
 */
export async function endBatch(
  sql: Sql,
  id: string,
  report: PartReport,
): Promise<BatchState | null> {
  const [ended] = await sql<{ state: BatchState }[]>`
    with ended as (
      update batches set report = ${sql.json(report as never)}, finished_at = now(),
        state = case when state = 'cancelling' then 'cancelled' else 'completed' end
      where id = ${id} and state in ${wordList(sql, endingStates)} and chunks_done = chunks_total
      returning state)
    select state from ended`;
  return ended?.state ?? null;
}

/** Those batches that have a higher revision now. */
export async function findChangedBatches(
  sql: Sql,
  known: readonly Pick<Batch, 'id' | 'revision'>[],
): Promise<Batch[]> {
  return sql<Batch[]>`
    select ${batchColumns(sql)}
    from unnest(${known.map(({ id }) => id)}::uuid[], ${known.map(({ revision }) => revision)}::int[])
      known (known_id, known_revision)
    join batches on id = known_id
    where revision > known_revision`;
}

/**
 * Up to 100 batches that ended at least `keepDays` ago and still have files: the oldest of each account first,
 * then the second oldest, and so on. Those in `passed` are left out.
 */
export async function listExpired(
  sql: Sql,
  keepDays: number,
  passed: readonly string[] = [],
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive account (id) as (
      (select account_id from batches where files_deleted_at is null order by account_id limit 1)
      union all
      select (
        select account_id from batches
        where account_id > account.id and files_deleted_at is null order by account_id limit 1)
      from account where account.id is not null)
    select b.id from account
    cross join lateral (
      select id, finished_at from batches
      where account_id = account.id and files_deleted_at is null
        and ${isOver(sql, keepDays)}
        and id <> all(${[...passed]}::uuid[])
      order by finished_at limit 100) b
    order by row_number() over (partition by account.id order by b.finished_at), b.finished_at
    limit 100`;
  return rows.map((row) => row.id);
}

/** Returns true for a batch that ended at least `keepDays` ago. */
export async function isExpired(sql: Sql, id: string, keepDays: number): Promise<boolean> {
  const rows = await sql`select from batches where id = ${id} and ${isOver(sql, keepDays)}`;
  return rows.length > 0;
}

function isOver(sql: Sql, keepDays: number): ReturnType<Sql> {
  return sql`finished_at < now() - make_interval(days => ${keepDays})`;
}

/** Creation time of the oldest batch whose files are kept; null for none. */
export async function readOldestKept(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ oldest: Date | null }[]>`
    select min(created_at) as oldest from batches where files_deleted_at is null`;
  return row?.oldest ?? null;
}

/**
 * Records that a batch's objects are deleted, or will be, so that they need no more checks. Its row is kept, without the long
 * texts that were only needed to read or repeat it. Its `dedupe` records are deleted as `deleteUnneededRecords` says.
 */
export async function markFilesDeleted(sql: Sql, id: string): Promise<void> {
  const { mapping, dialect, filter } = shortColumns(sql);
  await sql`select from batches where id = ${id} for no key update`;
  // A statement of its own: it sees a rerun that was inserted while the first one waited for its lock. Before the next one, which
  // locks the sum of the account's stored files: millions of records take seconds.
  await deleteUnneededRecords(sql, id);
  await sql`
    with checked as (
      update parts set suppression_number = null
      where batch_id = ${id} and suppression_number is not null)
    update batches set files_deleted_at = now(), mapping = ${mapping}, dialect = ${dialect}, filter = ${filter},
      rerun_rows = null, rerun_records = null
    where id = ${id}`;
}

/** Locks a batch until the end of the transaction; false when its files were deleted. */
export async function lockFiles(sql: Sql, id: string): Promise<boolean> {
  const [batch] = await sql`
    select from batches where id = ${id} and files_deleted_at is null for update`;
  return batch !== undefined;
}

/** A page of batches by id: those after `after`. */
interface DebrisPage {
  /** The time of the last round, which has seen what was due an hour before it; null for none. */
  seenUntil: Date | null;
  after: string | null;
}

/** Batches whose files were deleted more than a day ago, and less than two: no worker writes to them from now on. */
export async function listRecentlyDeleted(sql: Sql, page: DebrisPage): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from batches b where ${isDebrisDue(sql, sql`files_deleted_at`, page)}
    order by id limit ${DELETED_PAGE}`;
  return rows.map((row) => row.id);
}

/** Batches with files that ended as long ago, of which a chunk was claimed more often than it was committed. */
export async function listReclaimed(sql: Sql, page: DebrisPage): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from batches b
    where ${isDebrisDue(sql, sql`finished_at`, page)} and files_deleted_at is null
      and exists (select from chunks where batch_id = b.id and epoch > parts)
    order by id limit ${DELETED_PAGE}`;
  return rows.map((row) => row.id);
}

function isDebrisDue(sql: Sql, at: ReturnType<Sql>, { seenUntil, after }: DebrisPage) {
  return sql`${at} <= now() - interval '1 day'
    and ${at} > greatest(now() - interval '2 days', ${seenUntil}::timestamptz - interval '25 hours')
    and (${after}::uuid is null or id > ${after}::uuid)`;
}

/**
 * Records that a batch cannot read its object for this chunk, or for the whole batch (null). Returns the batch's state, and the
 * seconds since this was first recorded without a part written since, of this chunk or one before it: chunks run in the order
 * of the file, and those after it may be sound. Undefined when the batch has ended. A time in the future, from before the clock
 * was set back, does not count.
 */
export async function noteLost(
  sql: Sql,
  id: string,
  chunkNumber: number | null,
): Promise<{ state: BatchState; lostSeconds: number } | undefined> {
  const [noted] = await sql<{ state: BatchState; lostSeconds: number }[]>`
    update batches set object_missing_since = case
      when object_missing_since > coalesce((
          select max(committed_at) from parts
          where batch_id = ${id} and chunk_number <= ${chunkNumber}
            and not ${isToCome(sql, sql`committed_at`)}), '-infinity')
        and not ${isToCome(sql, sql`object_missing_since`)}
      then object_missing_since else clock_timestamp() end
    where id = ${id} and finished_at is null
    returning state, extract(epoch from clock_timestamp() - object_missing_since)::float8 as lost_seconds`;
  return noted;
}
