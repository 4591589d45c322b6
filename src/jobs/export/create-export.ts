/** Accepts an export: checks its filter and fields; reads no people yet. */
import { uuidv7 } from 'uuidv7';
import type { OwnerWithKey } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { outputColumns } from '../../core/enrich/match-data.ts';
import { checkMobileField, type MobileSetting } from '../../core/enrich/mobile-in-records.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError, invalidParameter } from '../../core/lib/errors.ts';
import { personSearch } from '../../core/operations.ts';
import { checkFilter } from '../../core/search/check-filter.ts';
import { countedIdBytes, identifyingParameter } from '../../core/search/free-responses.ts';
import { parseFilter } from '../../core/search/parse.ts';
import { traceToKeep } from '../../core/tracing.ts';
import type { ExportBatch, StoredDialect } from '../batch/batch.ts';
import { findOwnBatch } from '../batch/batches.sql.ts';
import { insertBatch, type NewExport } from '../batch/insert-batch.sql.ts';
import { assertRecordedFits, countMade, type StorageBounds } from '../batch/stored-bytes.ts';
import type { Queues } from '../queue/queues.ts';

/** The part of the configuration that decides which exports are accepted. */
export type ExportConfig = MobileSetting & { batchRowsMax: number };

/** The contents of an export as callers and schedules describe them. */
export type ExportRequest = Pick<
  NewExport,
  | 'name'
  | 'fields'
  | 'format'
  | 'gzip'
  | 'maxResults'
  | 'maxCredits'
  | 'hold'
  | 'scheduleId'
  | 'onlyNew'
> & { filter: string };

/** Exports have no list of their own: they write CSV with commas. */
const dialect: StoredDialect = {
  encoding: 'utf-8',
  encodingIsGuess: false,
  bom: 0,
  delimiter: ',',
  newline: '\n',
  headerRow: 0,
  titles: [],
  header: null,
  headerText: null,
  doubts: [],
  firstByte: 0,
  firstLine: 1,
  sheet: null,
  sheets: [],
  workbook: null,
};

/**
 * Checks an export request. Throws `AppError` 400 that names the error: the filter and the position in it, an
 * unknown field, one that records leave empty here, or more results than the maximum of an export.
 */
export function checkExport(
  request: Pick<ExportRequest, 'filter' | 'fields' | 'maxResults'>,
  { batchRowsMax, mobileInRecords }: ExportConfig,
): void {
  checkFilter(request.filter);
  outputColumns(personSearch.name, request.fields);
  checkMobileField({ mobileInRecords }, personSearch.name, request.fields);
  if (request.maxResults === null || request.maxResults <= batchRowsMax) return;
  const message = `must be at most ${batchRowsMax}`;
  throw invalidParameter('max_results', message);
}

/** Also true for a filter of a schedule that an older version accepted and this one cannot parse. */
function namesPeople(filter: string): boolean {
  try {
    return identifyingParameter(parseFilter(filter)) !== null;
  } catch (error) {
    if (error instanceof AppError) return true;
    throw error;
  }
}

/**
 * Records a checked export, which counts as the maximum of its ids from then on. Throws as `insertBatch`. Call `wakeExport` with
 * its id after the commit.
 */
export async function insertExport(
  tx: Sql,
  owner: OwnerWithKey,
  request: ExportRequest,
  { batchRowsMax, openListsMax }: Pick<ExportConfig, 'batchRowsMax'> & { openListsMax: number },
): Promise<ExportBatch> {
  const id = uuidv7();
  const kind = 'export' as const;
  const operation = personSearch.name;
  const { accountId, live, keyId } = owner;
  const known = { kind, operation, mapping: {}, dialect, namesPeople: namesPeople(request.filter) };
  const storedBytesOpen = countedIdBytes(request.maxResults ?? batchRowsMax);
  const row = { id, accountId, live, keyId, ...request, ...known, storedBytesOpen };
  await insertBatch(tx, row, openListsMax);
  return must(await findOwnBatch(tx, owner, kind, id), `export ${id}`);
}

/** Wakes the job that writes the ids, within this trace; the sweep repeats a lost wake-up. */
export async function wakeExport(
  { queues }: { queues: Queues },
  batchId: string,
  trace: string | null = traceToKeep(),
): Promise<void> {
  await queues.wake('write-ids', [{ id: `write-ids-${batchId}`, payload: { batchId }, trace }]);
}

/**
 * Creates an export. Throws as `checkExport` and `insertBatch`, and 409 `storage_full`. Call `wakeExport` with its id
 * after the commit.
 */
export async function createExport(
  tx: Sql,
  config: StorageBounds & ExportConfig & { openListsMax: number },
  owner: OwnerWithKey,
  request: ExportRequest,
): Promise<ExportBatch> {
  checkExport(request, config);
  const made = await insertExport(tx, owner, request, config);
  await countMade(tx, owner.accountId, config);
  await assertRecordedFits(tx, owner.accountId, config);
  return made;
}
