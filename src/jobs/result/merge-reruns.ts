/** The rows of a list as its reruns left them: in its own order, each row from the last run that had an answer to it. */
import { BY_DECISION } from '../../core/enrich/enrich-many.ts';
import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import { fieldsEnd } from '../../formats/csv/cells.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import type { ListBatch } from '../batch/batch.ts';
import { findRerunRows, listReruns } from '../batch/reruns.sql.ts';
import { type RowCandidate, readCandidates } from './candidates-cell.ts';
import type { Part } from './parts.sql.ts';
import type { PartsContext } from './read-part.ts';
import { openParts } from './read-parts.ts';
import { openRedactedParts } from './redact-parts.ts';
import { candidatesIndex, matchColumns } from './render-part.ts';
import { type OpenReruns, openRerunReaders } from './rerun-readers.ts';
import type { ResultLayout } from './result-formats.ts';
import { layoutOf } from './result-layout.ts';
import { type ResultRow, readResultRows } from './result-rows.ts';

/** Outcomes of a rerun that say nothing new about a row. */
const unanswered: ReadonlySet<string> = new Set(['not_processed', 'error']);

/** A row with the answer of its last rerun that has one. */
export interface MergedRow extends ResultRow {
  status: OutcomeStatus;
  /** The records that an ambiguous row may mean. */
  candidates: RowCandidate[];
}

/**
 * The rows of the list with the answers of its reruns, without people who have opted out, from the part of the row number
 * `from` on. Rejects as `openParts`.
 */
export async function* mergedRows(
  context: PartsContext,
  batch: ListBatch,
  from = 1,
): AsyncGenerator<MergedRow> {
  const layout = layoutOf(batch);
  const { accountId } = batch;
  const { signal } = context;
  const numbers = batch.rerunOf === null ? null : await findRerunRows(context.sql, batch.id);
  const all = await openRedactedParts(context, batch);
  const isBefore = (part: Part) =>
    (numbers?.[part.firstRow + part.rows - 2] ?? part.firstRow + part.rows - 1) < from;
  const parts = await openParts(
    context,
    accountId,
    all.filter((part) => !isBefore(part)),
  );
  const own = readResultRows(parts, { accountId, delimiter: layout.delimiter, signal });
  const candidatesAt = candidatesIndex(layout.further);
  for await (const row of await withReruns(context, batch, numberedRows(own, numbers))) {
    const cell = candidatesAt === -1 ? '' : row.cells[layout.width + candidatesAt];
    yield { ...row, status: statusOf(row, layout), candidates: readCandidates(cell ?? '') };
  }
}

/** The rows with their numbers in the list that was uploaded. */
export async function* numberedRows(
  rows: AsyncIterable<ResultRow>,
  numbers: readonly number[] | null,
): AsyncGenerator<ResultRow> {
  for await (const row of rows) yield { ...row, row: numbers?.[row.row - 1] ?? row.row };
}

/**
 * The rows of the list, which have the numbers of `numberedRows`, each with the answer of the last rerun that has one in the
 * place of its own.
 */
export async function withReruns(
  context: PartsContext,
  batch: ListBatch,
  rows: AsyncIterable<ResultRow>,
): Promise<AsyncGenerator<ResultRow>> {
  const reruns = await listReruns(context.sql, batch.id);
  return merged(rows, openRerunReaders(context, reruns, layoutOf(batch)), layoutOf(batch));
}

async function* merged(
  rows: AsyncIterable<ResultRow>,
  reruns: OpenReruns,
  layout: ResultLayout,
): AsyncGenerator<ResultRow> {
  try {
    for await (const own of rows) {
      const answer = await reruns.find(own.row, (row) => isAnswer(row, own, layout));
      yield answer === null ? own : answered(own, answer, layout);
    }
  } finally {
    await reruns.close();
  }
}

/**
 * True for a row of a rerun that says something new about the row of the list. A miss there may be an ambiguity that was not
 * disclosed (see `discloseAmbiguous`): one that no one decided leaves the row with its candidates.
 */
function isAnswer(row: ResultRow, own: ResultRow, layout: ResultLayout): boolean {
  const status = statusOf(row, layout);
  const isUndecided = row.cells[layout.width + matchColumns.indexOf('match.by')] !== BY_DECISION;
  // A rerun has no data for a record that the list has paid for.
  if (status === 'duplicate' && reasonOf(row, layout) === reasonOf(own, layout)) return false;
  if (status === 'no_match' && isUndecided) return statusOf(own, layout) !== 'ambiguous';
  return !unanswered.has(status);
}

function statusOf({ cells }: ResultRow, { width }: ResultLayout): OutcomeStatus {
  return cells[width + matchColumns.indexOf('match.status')] as OutcomeStatus;
}

function reasonOf({ cells }: ResultRow, { width }: ResultLayout): string | undefined {
  return cells[width + matchColumns.indexOf('match.reason')];
}

/** The row with the answer of another: its own cells keep their bytes. */
function answered(row: ResultRow, { cells }: ResultRow, layout: ResultLayout): ResultRow {
  const { width, delimiter } = layout;
  const answer = cells.slice(width);
  const end = fieldsEnd(row.text, { start: 0, end: row.text.length }, delimiter, width);
  const added = answer.map((cell) => delimiter + encodeCell(cell, { delimiter, safe: false }));
  return {
    ...row,
    cells: [...row.cells.slice(0, width), ...answer],
    text: Buffer.concat([row.text.subarray(0, end), Buffer.from(added.join(''))]),
  };
}
