/** Statements that record accepted lists and exports, within an account's maximum of open ones. */
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import { must } from '../../core/lib/assert.ts';
import { tooManyOpenLists } from '../../core/limits/limits.ts';
import { traceToKeep } from '../../core/tracing.ts';
import type { ExportBatch, ListBatch, ListOptions } from './batch.ts';
import { finalStates } from './states.ts';

export type NewList = Pick<
  ListBatch,
  | 'id'
  | 'accountId'
  | 'live'
  | 'name'
  | 'operation'
  | 'hold'
  | 'rerunOf'
  | 'uploadKey'
  | 'uploadBytes'
  | 'uploadCrc32'
  | 'uploadHeadCrc32'
  | 'mapping'
  | 'dialect'
> &
  ListOptions & {
    keyId: string;
    storedBytes: number;
    /** Of a rerun, the number of each row in the list that was uploaded. */
    rerunRows?: readonly number[];
    /** Of decisions, the record that each of these rows means, or 0. */
    rerunRecords?: readonly number[];
  };

export type NewExport = Pick<
  ExportBatch,
  | 'id'
  | 'accountId'
  | 'live'
  | 'kind'
  | 'name'
  | 'operation'
  | 'mapping'
  | 'dialect'
  | 'fields'
  | 'maxCredits'
  | 'hold'
  | 'filter'
  | 'namesPeople'
  | 'format'
  | 'gzip'
  | 'maxResults'
  | 'scheduleId'
  | 'onlyNew'
> & {
  keyId: string;
  /** Bytes that its ids count as. */
  storedBytesOpen: number;
};

/**
 * Records an accepted upload or an export, with the active trace. Throws `AppError` 429 `rate_limited` when
 * `openListsMax` lists and exports of the account have not ended. Call in a transaction.
 */
export async function insertBatch(
  sql: Sql,
  batch: NewList | NewExport,
  openListsMax: number,
): Promise<void> {
  const open = await countOpenBatches(sql, batch.accountId);
  if (open >= openListsMax) throw tooManyOpenLists(openListsMax);
  const row = {
    ...batch,
    mapping: sql.json(batch.mapping as never),
    dialect: sql.json(batch.dialect as never),
    traceParent: traceToKeep(),
  };
  await sql`insert into batches ${sql(row as never)}`;
}

/**
 * Number of an account's lists and exports that have not ended, in both modes. No other transaction can add one
 * until this one ends, so the bound is exact.
 */
export async function countOpenBatches(sql: Sql, accountId: string): Promise<number> {
  await sql`select from accounts where id = ${accountId} for no key update`;
  // A separate statement, to see rows committed while it waited for the lock.
  const [row] = await sql<{ open: number }[]>`
    select count(*) as open from batches
    where account_id = ${accountId} and state not in ${wordList(sql, finalStates)}`;
  return must(row, 'count').open;
}

/** Locks the account until the transaction ends. Returns false at once while another transaction holds it. */
export async function lockFreeAccount(tx: Sql, accountId: string): Promise<boolean> {
  const free = await tx`
    select from accounts where id = ${accountId} for no key update skip locked`;
  return free.length > 0;
}
