/** The outcomes of a chunk's rows, before anything is paid: read, match, compare, drop duplicates. */
import { agrees } from '../../../core/enrich/agreement.ts';
import { needsOnlyBrief, outputColumns } from '../../../core/enrich/answer.ts';
import { enrichMany, miss, type Outcome } from '../../../core/enrich/enrich-many.ts';
import { must } from '../../../core/lib/assert.ts';
import type { JobContext } from '../../queue/job-context.ts';
import { scanRecords } from '../csv/record-scanner.ts';
import type { Delimiter, RecordTable } from '../csv/record-table.ts';
import type { Batch } from '../queries.ts';
import { checksAgreement, type ReadRows, type Repair, readRows } from '../read-rows.ts';
import { type ClaimedChunk, findAnsweredRecords } from './queries.ts';
import { storeCall } from './store-call.ts';

/** A row that failed so often when it was alone is given up. */
const ROW_FAILURES_MAX = 5;

export interface MatchedChunk {
  piece: Buffer;
  records: RecordTable;
  /** Of all rows of the chunk. */
  repairs: Repair[];
  /** Outcomes of the rows after those that are done, or of as many as the part may hold. */
  outcomes: Outcome[];
}

type ChunkContext = Pick<JobContext, 'sql' | 'testSql' | 'store'>;

/**
 * Matches the rows of a chunk that are not done. `answered` are the records, with their rows, that a pass
 * without results has answered before, beside those that the batch has recorded.
 */
export async function matchChunk(
  context: ChunkContext,
  batch: Batch,
  chunk: ClaimedChunk,
  answered: ReadonlyMap<number, number> = new Map(),
): Promise<MatchedChunk> {
  const delimiter = batch.dialect.delimiter as Delimiter;
  const range = { from: chunk.byteFrom, to: chunk.byteTo };
  const key = must(batch.canonicalKey, 'canonical key of a split batch');
  const piece = await storeCall(context.store.get(key, range));
  const records = scanRecords(piece, { delimiter, firstLine: chunk.firstLine });
  const to = Math.min(chunk.rows, chunk.rowsDone + (chunk.partRowsMax ?? chunk.rows));
  const givenUp = givenUpAs(batch, chunk);
  if (givenUp !== null) {
    const outcomes = Array.from({ length: to - chunk.rowsDone }, () => givenUp);
    return { piece, records, repairs: [], outcomes };
  }
  const read = readRows(piece, records, { ...batch, delimiter });
  const graph = batch.live ? context.sql : context.testSql;
  const rows = read.rows.slice(chunk.rowsDone, to);
  const columns = outputColumns(batch.operation, batch.fields);
  const brief = needsOnlyBrief(batch.operation, columns);
  const outcomes = await enrichMany(graph, batch.operation, rows, brief);
  if (checksAgreement(batch.mapping)) compareNames(batch, read, chunk.rowsDone, outcomes);
  if (batch.dedupe) await markDuplicates(context, batch, chunk, outcomes, answered);
  return { piece, records, repairs: read.repairs, outcomes };
}

/** The records that these outcomes, which begin behind the rows that are done, answer. */
export function answeredRecords(
  chunk: ClaimedChunk,
  outcomes: readonly Outcome[],
): { id: number; row: number }[] {
  const firstRow = chunk.firstRow + chunk.rowsDone;
  return outcomes.flatMap(({ status, id }, index) =>
    status === 'matched' ? [{ id, row: firstRow + index }] : [],
  );
}

/** What every row of the part comes to without looking at it, or null. */
function givenUpAs(batch: Batch, chunk: ClaimedChunk): Outcome | null {
  if (batch.state === 'cancelling') return miss('not_processed', '', 'cancelled');
  if (chunk.partRowsMax === 1 && chunk.failures >= ROW_FAILURES_MAX) {
    return miss('error', '', 'processing_failed');
  }
  return null;
}

/** Asks the list's own names about each match; with `require_agreement` a `no` is no match. */
function compareNames(batch: Batch, read: ReadRows, from: number, outcomes: Outcome[]): void {
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.answer === null) continue;
    outcome.agrees = agrees(read.namesOf(from + index), outcome.answer);
    if (batch.requireAgreement && outcome.agrees === 'no') {
      outcomes[index] = miss('no_match', outcome.by, 'disagrees');
    }
  }
}

/** The second row of a record is a duplicate of the first, wherever in the list that was. */
async function markDuplicates(
  context: ChunkContext,
  batch: Batch,
  chunk: ClaimedChunk,
  outcomes: Outcome[],
  before: ReadonlyMap<number, number>,
): Promise<void> {
  const ids = [...new Set(outcomes.flatMap(({ id }) => (id === 0 ? [] : [id])))];
  const answered = await findAnsweredRecords(context.sql, batch.id, ids);
  const rowOf = new Map(answered.map(({ recordId, row }) => [recordId, row]));
  const firstRow = chunk.firstRow + chunk.rowsDone;
  for (const [index, { id, by }] of outcomes.entries()) {
    if (id === 0) continue;
    const earlier = rowOf.get(id) ?? before.get(id);
    if (earlier === undefined) rowOf.set(id, firstRow + index);
    else outcomes[index] = miss('duplicate', by, `same record as row ${earlier}`);
  }
}
