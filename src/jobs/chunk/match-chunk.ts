/** Computes the outcomes of a chunk's rows before payment: reads, matches, compares, marks duplicates. */

import { agrees } from '../../core/enrich/agreement.ts';
import { enrichMany, miss, type Outcome } from '../../core/enrich/enrich-many.ts';
import { withoutConflict } from '../../core/enrich/free-outcomes.ts';
import { type MatchData, needsOnlyBrief, outputColumns } from '../../core/enrich/match-data.ts';
import { hidesMobile } from '../../core/enrich/mobile-in-records.ts';
import type { Decision, RowInput } from '../../core/enrich/outcomes.ts';
import { requiredColumns } from '../../core/enrich/required-fields.ts';
import { graphOf } from '../../core/graph/graph-of.ts';
import { findAllIds } from '../../core/graph/merged-ids.ts';
import type { CopiedGraph } from '../../core/graph-copy/copied-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { acquireBuffer, releaseBuffer } from '../../core/lib/buffer-pool.ts';
import { subjectOf } from '../../core/operations.ts';
import { readRange } from '../../core/storage/object-sum.ts';
import { scanRecords } from '../../formats/csv/record-scanner.ts';
import type { RecordTable } from '../../formats/csv/record-table.ts';
import { listScan } from '../../formats/csv/split.ts';
import { checksAgreement, type Repair, readRows } from '../../mapping/read-rows.ts';
import type { ListBatch } from '../batch/batch.ts';
import { findAnsweredRecords, findRerunRecords } from '../batch/reruns.sql.ts';
import { isStorageLeft } from '../batch/stored-bytes.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { ChunkPhases } from './chunk-metrics.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';
import { forcedOutcomes, rowsOfPart } from './next-part.ts';
import { storeCall } from './store-call.ts';

export interface MatchedChunk {
  piece: Buffer;
  records: RecordTable;
  /** Repairs in these rows, by their index in the chunk. */
  repairs: Repair[];
  /** Outcomes of the unfinished rows, up to the maximum of the part. */
  outcomes: Outcome[];
  /** Call when the records are rendered: they must not be read afterwards. */
  release(): void;
}

type ChunkContext = Pick<JobContext, 'sql' | 'testSql' | 'store' | 'config'> &
  Partial<Pick<ChunkPhases, 'endPhase'>>;

/**
 * A duplicate has the data of its record only where it was paid just before: by this list, which began within a day.
 * Records paid once could otherwise be had anew at any time, by reruns, or by a list that is paused for weeks.
 */
const DATA_OF_DUPLICATES_MS = 24 * 60 * 60 * 1000;

interface MatchOptions {
  /**
   * Maps records to the rows of earlier chunks that they matched in a quote, which records none; with `dedupe` they
   * count like the records that the batch has recorded.
   */
  answered?: ReadonlyMap<number, number>;
  /** Answers instead of Postgres. */
  copy: CopiedGraph | null;
}

/** Matches the unfinished rows of a chunk. */
export async function matchChunk(
  context: ChunkContext,
  batch: ListBatch,
  chunk: ClaimedChunk,
  { answered = new Map(), copy }: MatchOptions,
): Promise<MatchedChunk> {
  const delimiter = batch.dialect.delimiter;
  const range = { from: chunk.byteFrom, to: chunk.byteTo };
  const key = must(batch.canonicalKey, 'canonical key of a split batch');
  const piece = await storeCall(readRange(context.store, key, range, chunk.crc32));
  const records = scanRecords(piece, listScan(delimiter, chunk.firstLine));
  const forced = forcedOutcomes(batch, chunk);
  if (forced !== null) return { piece, records, repairs: [], outcomes: forced, release() {} };
  const part = { from: chunk.rowsDone, to: chunk.rowsDone + rowsOfPart(chunk) };
  const read = await readRows(piece, records, { ...batch, delimiter }, part);
  const graph = graphOf(context, batch.live);
  const rows = await decidedRows(context.sql, batch, chunk, read.rows);
  const columns = outputColumns(batch.operation, batch.fields);
  const required = requiredColumns(batch.operation, batch.required);
  const brief = needsOnlyBrief(batch.operation, columns, required);
  const kept: Buffer[] = [];
  const keep = (texts: Buffer[]) => copyInto(kept, texts);
  const { endPhase = () => {} } = context;
  endPhase('read');
  const agreementOf = (index: number, match: MatchData, decision: Decision) =>
    agrees(read.namesOf(chunk.rowsDone + index), match, decision);
  const { requireAgreement } = batch;
  const outcomes = await enrichMany(graph, batch.operation, rows, {
    brief,
    keep,
    endPhase,
    requireAgreement,
    required,
    hidesMobile: hidesMobile(context.config, batch.operation),
    minProbability: batch.match === 'likely' ? batch.minProbability : null,
    ...(checksAgreement(batch.mapping) ? { agreementOf } : {}),
    ...(copy ? { reader: copy } : {}),
  });
  if (batch.dedupe) {
    await markDuplicates(context, batch, chunk, outcomes, answered);
    endPhase('compare');
  }
  const release = () => {
    kept.splice(0).forEach(releaseBuffer);
    copy?.release();
  };
  return { piece, records, repairs: read.repairs, outcomes, release };
}

/**
 * The rows, from the first unfinished one on, with the records that decisions of the caller name. A row that decisions about
 * this list have answered, also as none of its candidates, matches nothing: theirs is the answer.
 */
async function decidedRows(
  sql: ChunkContext['sql'],
  batch: ListBatch,
  chunk: ClaimedChunk,
  rows: RowInput[],
): Promise<RowInput[]> {
  const from = chunk.firstRow + chunk.rowsDone;
  if (chunk.decidedRows !== null) {
    const answered = new Set(chunk.decidedRows);
    return rows.map((row, index) => (answered.has(from + index) ? decidedAs(0) : row));
  }
  if (batch.rerunOf === null) return rows;
  const range = { from, to: from + rows.length - 1 };
  const records = await findRerunRecords(sql, batch.id, range);
  if (records === null) return rows;
  return rows.map((_, index) => decidedAs(must(records[index], 'decision of the row')));
}

function decidedAs(decided: number): RowInput {
  return { identifiers: [], invalid: null, decided };
}

/**
 * Copies texts into one pooled buffer, which is added to `kept`. The driver's buffers should be short-lived:
 * kept for the time of a chunk, megabytes would wait for a full garbage collection.
 */
function copyInto(kept: Buffer[], texts: readonly Buffer[]): Buffer[] {
  const buffer = acquireBuffer(texts.reduce((bytes, text) => bytes + text.length, 0));
  kept.push(buffer);
  let length = 0;
  return texts.map((text) => {
    const from = length;
    length += text.copy(buffer, length);
    return buffer.subarray(from, length);
  });
}

/** The records matched by these outcomes, which start after the finished rows. */
export function answeredRecords(
  chunk: ClaimedChunk,
  outcomes: readonly Outcome[],
): { id: number; row: number }[] {
  return outcomes.flatMap(({ status, id }, index) =>
    status === 'matched' ? [{ id, row: rowNumber(chunk, index) }] : [],
  );
}

/** The number in the list that was uploaded of an outcome's row. */
function rowNumber({ rowNumbers, firstRow, rowsDone }: ClaimedChunk, index: number): number {
  return rowNumbers?.[rowsDone + index] ?? firstRow + rowsDone + index;
}

/** Marks each later row of a record as a duplicate of the first, anywhere in the list and its reruns. It costs nothing. */
async function markDuplicates(
  context: ChunkContext,
  batch: ListBatch,
  chunk: ClaimedChunk,
  outcomes: Outcome[],
  before: ReadonlyMap<number, number>,
): Promise<void> {
  const ids = [...new Set(outcomes.flatMap(({ id }) => (id === 0 ? [] : [id])))];
  const allIds = await findAllIds(graphOf(context, batch.live), subjectOf(batch.operation), ids);
  const answered = await findAnsweredRecords(context.sql, batch.id, ids.flatMap(allIds));
  const rowOf = new Map(answered.map(({ recordId, row }) => [recordId, row]));
  const paidEarlier = new Set(answered.flatMap(({ recordId, isOwn }) => (isOwn ? [] : [recordId])));
  const { claimedAt } = chunk;
  const ageMs = claimedAt.getTime() - (batch.startedAt ?? claimedAt).getTime();
  const isFresh = ageMs < DATA_OF_DUPLICATES_MS;
  // Data that no one pays for is bounded; a part that is written meanwhile exceeds the bound by its own rows at most.
  const hasRoom = await isStorageLeft(context.sql, batch.accountId, context.config);
  for (const [index, outcome] of outcomes.entries()) {
    const { id, by } = outcome;
    if (id === 0) continue;
    const same = allIds(id);
    const earlier = same.flatMap((one) => rowOf.get(one) ?? before.get(one) ?? []);
    if (earlier.length === 0) {
      rowOf.set(id, rowNumber(chunk, index));
      continue;
    }
    const reason = `same_record_as_row_${Math.min(...earlier)}`;
    const hasData = isFresh && hasRoom && !same.some((one) => paidEarlier.has(one));
    outcomes[index] = hasData
      ? { ...withoutConflict(outcome), status: 'duplicate', reason }
      : miss('duplicate', by, reason);
  }
}
