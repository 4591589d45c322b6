/** Statements that record what is accepted, within the bound of an account's open lists and exports. */
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { tooManyOpenLists } from '../../core/limits/limits.ts';
import { traceToKeep } from '../../core/tracing.ts';
import type { ExportBatch, ListBatch } from './batch.ts';

export type NewList = Pick<
  ListBatch,
  | 'id'
  | 'accountId'
  | 'live'
  | 'name'
  | 'operation'
  | 'fields'
  | 'defaultRegion'
  | 'country'
  | 'maxCredits'
  | 'hold'
  | 'dedupe'
  | 'requireAgreement'
  | 'rerunOf'
  | 'uploadKey'
  | 'uploadBytes'
  | 'uploadCrc32'
  | 'uploadHeadCrc32'
  | 'mapping'
  | 'dialect'
> & { keyId: string };

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
  | 'format'
  | 'gzip'
  | 'maxResults'
  | 'scheduleId'
  | 'onlyNew'
> & { keyId: string };

/**
 * Records an accepted upload, or an export, as part of the trace that is active. Throws `AppError` 429
 * `rate_limited` when `openListsMax` lists and exports of the account have not ended. Call inside a transaction.
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
    storedBytes: 'uploadBytes' in batch ? batch.uploadBytes : 0,
    traceParent: traceToKeep(),
  };
  await sql`insert into batches ${sql(row as never)}`;
}

/**
 * Lists and exports of an account that have not ended, in both modes. Until the end of the transaction no other
 * one adds any, so that a bound is exact.
 */
export async function countOpenBatches(sql: Sql, accountId: string): Promise<number> {
  await sql`select from accounts where id = ${accountId} for no key update`;
  // A statement of its own: it sees what was committed while the lock was waited for.
  const [row] = await sql<{ open: number }[]>`
    select count(*) as open from batches
    where account_id = ${accountId} and state in ('created', 'validating', 'ready', 'queued',
      'running', 'paused', 'finalizing', 'cancelling')`;
  return must(row, 'count').open;
}
