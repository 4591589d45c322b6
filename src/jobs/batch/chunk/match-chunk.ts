/** The outcomes of a chunk's rows, before anything is paid: read, match, compare, drop duplicates. */
import { agrees } from '../../../core/enrich/agreement.ts';
import { enrichMany, miss, type Outcome } from '../../../core/enrich/enrich-many.ts';
import { must } from '../../../core/lib/assert.ts';
import type { JobContext } from '../../queue/job-context.ts';
import { scanRecords } from '../csv/record-scanner.ts';
import type { Delimiter, RecordTable } from '../csv/record-table.ts';
import type { Batch } from '../queries.ts';
import { checksAgreement, type ReadRows, readRows } from '../read-rows.ts';
import { type ClaimedChunk, findAnsweredRecords } from './queries.ts';

/** A row that failed so often when it was alone is given up. */
const ROW_FAILURES_MAX = 5;

export interface MatchedChunk {
  piece: Buffer;
  records: RecordTable;
  repaired: Record<string, number>;
  /** Outcomes of the rows after those that are done, or of as many as the part may hold. */
  outcomes: Outcome[];
}

type ChunkContext = Pick<JobContext, 'sql' | 'testSql' | 'store'>;

export async function matchChunk(
  context: ChunkContext,
  batch: Batch,
  chunk: ClaimedChunk,
): Promise<MatchedChunk> {
  const delimiter = batch.dialect.delimiter as Delimiter;
  const range = { from: chunk.byteFrom, to: chunk.byteTo };
  const key = must(batch.canonicalKey, 'canonical key of a split batch');
  const piece = await context.store.get(key, range);
  const records = scanRecords(piece, { delimiter, firstLine: chunk.firstLine });
  const to = Math.min(chunk.rows, chunk.rowsDone + (chunk.partRowsMax ?? chunk.rows));
  const givenUp = givenUpAs(batch, chunk);
  if (givenUp !== null) {
    const outcomes = Array.from({ length: to - chunk.rowsDone }, () => givenUp);
    return { piece, records, repaired: {}, outcomes };
  }
  const read = readRows(piece, records, { ...batch, delimiter });
  const graph = batch.live ? context.sql : context.testSql;
  const rows = read.rows.slice(chunk.rowsDone, to);
  const outcomes = await enrichMany(graph, batch.operation, rows);
  if (checksAgreement(batch.mapping)) compareNames(batch, read, chunk.rowsDone, outcomes);
  if (batch.dedupe) await markDuplicates(context, batch, chunk, outcomes);
  return { piece, records, repaired: read.repaired, outcomes };
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
): Promise<void> {
  const ids = [...new Set(outcomes.flatMap(({ id }) => (id === 0 ? [] : [id])))];
  const answered = await findAnsweredRecords(context.sql, batch.id, ids);
  const rowOf = new Map(answered.map(({ recordId, row }) => [recordId, row]));
  const firstRow = chunk.firstRow + chunk.rowsDone;
  for (const [index, { id, by }] of outcomes.entries()) {
    if (id === 0) continue;
    const earlier = rowOf.get(id);
    if (earlier === undefined) rowOf.set(id, firstRow + index);
    else outcomes[index] = miss('duplicate', by, `same record as row ${earlier}`);
  }
}
