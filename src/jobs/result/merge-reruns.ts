/** The rows of a list as its reruns left them: in its own order, each row from the last run that had an answer to it. */
import { fieldsEnd } from '../../formats/csv/cells.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import type { ListBatch } from '../batch/batch.ts';
import { findRerunRows, listReruns } from '../batch/reruns.sql.ts';
import type { PartsContext } from './read-part.ts';
import { openParts } from './read-parts.ts';
import { openRedactedParts } from './redact-parts.ts';
import { matchColumns } from './render-part.ts';
import type { ResultLayout } from './result-formats.ts';
import { layoutOf } from './result-layout.ts';
import { type ResultRow, readResultRows } from './result-rows.ts';

/** Outcomes of a rerun that say nothing new about a row. */
const unanswered: ReadonlySet<string> = new Set(['not_processed', 'error']);

/** The rows with their numbers in the list that was uploaded. */
export async function* numberedRows(
  rows: AsyncIterable<ResultRow>,
  numbers: readonly number[] | null,
): AsyncGenerator<ResultRow> {
  for await (const row of rows) yield { ...row, row: numbers?.[row.row - 1] ?? row.row };
}

/**
 * The rows of the list, which have the numbers of `numberedRows`, with the answers of its reruns in the place of its
 * own. Rejects as `openParts`.
 */
export async function* withReruns(
  context: PartsContext,
  batch: ListBatch,
  rows: AsyncIterable<ResultRow>,
): AsyncGenerator<ResultRow> {
  const layout = layoutOf(batch);
  const reruns: AsyncGenerator<ResultRow>[] = [];
  for (const rerun of await listReruns(context.sql, batch.id)) {
    reruns.push(openRerun(context, rerun, layout));
  }
  const heads = await Promise.all(reruns.map(async (rerun) => (await rerun.next()).value));
  try {
    for await (const own of rows) {
      let row = own;
      for (const [index, rerun] of reruns.entries()) {
        const head = heads[index] as ResultRow | undefined;
        if (head?.row !== own.row) continue;
        if (!unanswered.has(statusOf(head, layout))) row = answered(row, head, layout);
        heads[index] = (await rerun.next()).value;
      }
      yield row;
    }
  } finally {
    for (const rerun of reruns) await rerun.return(undefined);
  }
}

function statusOf({ cells }: ResultRow, { width }: ResultLayout): string {
  return cells[width + matchColumns.indexOf('match.status')] ?? '';
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

/** The rows of a rerun in the columns of the list, which may have other ones. */
async function* openRerun(
  context: PartsContext,
  rerun: ListBatch,
  layout: ResultLayout,
): AsyncGenerator<ResultRow> {
  const { names, width, delimiter } = layoutOf(rerun);
  const numbers = await findRerunRows(context.sql, rerun.id);
  const parts = await openParts(context, await openRedactedParts(context, rerun));
  const rows = readResultRows(parts, { accountId: rerun.accountId, delimiter });
  const places = layout.names.map((name, index) =>
    index < layout.width ? index : names.indexOf(name, width),
  );
  for await (const row of numberedRows(rows, numbers)) {
    yield { ...row, cells: places.map((place) => row.cells[place] ?? '') };
  }
}
