/** Writes people as lines of CSV with only their own columns: cells of their records, then values inside objects. */

import type { Outcome } from '../../core/enrich/enrich-many.ts';
import type { OutputColumn } from '../../core/enrich/match-data.ts';
import { ByteWriter } from '../../formats/csv/byte-writer.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import { appendRecordCells } from '../result/record-cells.ts';
import type { RenderedPart } from '../result/render-part.ts';

const COMMA = 0x2c;
const LF = 0x0a;
/** Typical bytes of a person; the writer grows. */
const PERSON_BYTES = 512;

/** Renders the people among the outcomes, in order. */
export function renderPeople(
  outcomes: readonly Outcome[],
  columns: readonly OutputColumn[],
): RenderedPart {
  const selection = columns.flatMap((column) => (column.record === null ? [] : [column.index]));
  const members = columns.flatMap((column) => (column.record === null ? [column] : []));
  const filled = new Array<number>(columns.length).fill(0);
  const writer = new ByteWriter(outcomes.length * PERSON_BYTES);
  let rowBytesMax = 0;
  for (const { match } of outcomes) {
    if (match?.person == null) continue;
    const start = writer.length;
    appendRecordCells(writer, match.person, selection, COMMA, filled, 0);
    for (const [place, { read }] of members.entries()) {
      const cell = read(match);
      const column = selection.length + place;
      if (cell !== '') filled[column] = (filled[column] ?? 0) + 1;
      writer.text(`,${encodeCell(cell, { delimiter: ',', safe: false })}`);
    }
    // An empty line would not be a row.
    if (writer.length === start + 1) writer.text('""');
    // The comma before the first cell becomes the end of the previous line.
    writer.bytes[start] = LF;
    rowBytesMax = Math.max(rowBytesMax, writer.length - start);
  }
  const rows = writer.length > 0;
  if (rows) writer.text('\n');
  const bytes = writer.written().subarray(rows ? 1 : 0);
  return { bytes, filled, rowBytesMax, release: () => writer.release() };
}
