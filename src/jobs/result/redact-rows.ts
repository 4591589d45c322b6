/** Rewrites rows of a part: the list's own text stays byte for byte, the added cells change. Pure. */

import { fieldsEnd, readRecord } from '../../formats/csv/cells.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import type { Delimiter } from '../../formats/csv/record-table.ts';
import { encodeCandidates, readCandidates } from './candidates-cell.ts';
import { scanPart } from './part-records.ts';
import { matchColumns } from './render-part.ts';

interface PartForm {
  delimiter: Delimiter;
  /** Number of the list's own columns. */
  width: number;
}

/** The part with the added cells of some rows changed: `change` gets them and returns their replacement. */
export function changeRows(
  bytes: Buffer,
  { delimiter, width }: PartForm,
  rows: Iterable<number>,
  change: (added: string[], row: number) => readonly string[],
): Buffer {
  const records = scanPart(bytes, delimiter);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const row of [...new Set(rows)].sort((a, b) => a - b)) {
    const record = records.at(row);
    const added = readRecord(bytes, record, delimiter).slice(width);
    const changed = change(added, row);
    pieces.push(bytes.subarray(from, fieldsEnd(bytes, record, delimiter, width)));
    const text = changed.map((cell) => delimiter + encodeCell(cell, { delimiter, safe: false }));
    pieces.push(Buffer.from(text.join('')));
    from = record.end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

/** The part without some rows. */
export function dropRows(
  bytes: Buffer,
  { delimiter }: Pick<PartForm, 'delimiter'>,
  rows: Iterable<number>,
): Buffer {
  const records = scanPart(bytes, delimiter);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const row of [...new Set(rows)].sort((a, b) => a - b)) {
    pieces.push(bytes.subarray(from, records.at(row).start));
    from = records.at(row).end + (records.terminator[row] ?? 0);
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

const cellOf = {
  status: matchColumns.indexOf('match.status'),
  by: matchColumns.indexOf('match.by'),
  reason: matchColumns.indexOf('match.reason'),
  credits: matchColumns.indexOf('match.credits'),
};

/**
 * The added cells of a row without some opted-out people: the row of a match loses the person, an ambiguous row the
 * candidates. `candidatesAt` is as `candidatesIndex`.
 */
export function withholdPeople(
  added: readonly string[],
  people: ReadonlySet<number>,
  candidatesAt: number,
): string[] {
  if (added[cellOf.status] === 'duplicate') return withholdCopy(added);
  if (added[cellOf.status] !== 'ambiguous') return withholdPerson(added);
  const left = readCandidates(added[candidatesAt] ?? '').filter(({ id }) => !people.has(id));
  return added.with(candidatesAt, encodeCandidates(left));
}

/** The added cells of a duplicate of an opted-out person's row: it names that row, as without data. */
function withholdCopy(added: readonly string[]): string[] {
  const kept = [cellOf.status, cellOf.by, cellOf.reason, cellOf.credits];
  return added.map((cell, index) => (kept.includes(index) ? cell : ''));
}

/** The added cells of an opted-out person's row: only the outcome and the credits paid remain. */
function withholdPerson(added: readonly string[]): string[] {
  const left = added.map(() => '');
  left[cellOf.status] = 'suppressed';
  left[cellOf.by] = added[cellOf.by] ?? '';
  left[cellOf.reason] = 'opted_out';
  left[cellOf.credits] = added[cellOf.credits] ?? '';
  return left;
}
