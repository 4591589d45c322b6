/**
 * Writes the rows of a part: each record's own text, unchanged, then the match columns, then the columns of the
 * operation. Blank lines between records keep their place.
 */

import type { Outcome } from '../../core/enrich/enrich-many.ts';
import type { OutputColumn } from '../../core/enrich/match-data.ts';
import { ByteWriter } from '../../formats/csv/byte-writer.ts';
import { readRecord } from '../../formats/csv/cells.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import {
  type Delimiter,
  isRawLine,
  type RecordTable,
  recordFlag,
} from '../../formats/csv/record-table.ts';
import { decodeWindows1252 } from '../../formats/csv/windows-1252.ts';
import { checksAgreement } from '../../mapping/read-rows.ts';
import type { ListBatch } from '../batch/batch.ts';
import { encodeCandidates } from './candidates-cell.ts';
import { appendRecordCells } from './record-cells.ts';

/** Columns that every operation adds before its own. */
export const matchColumns = [
  'match.status',
  'match.by',
  'match.reason',
  'match.conflict',
  'match.credits',
] as const;

/** Columns of a list with likely matches. */
const likelyColumns = ['match.probability', 'match.evidence', 'match.candidates'] as const;

/** The columns that follow `matchColumns` in this list, before those of the operation. */
export function furtherMatchColumns(list: Pick<ListBatch, 'mapping' | 'match'>): string[] {
  return [
    ...(checksAgreement(list.mapping) ? ['match.agrees'] : []),
    ...(list.match === 'likely' ? likelyColumns : []),
  ];
}

/** Returns the index of `match.candidates` among the cells that are added to a row; -1 without that column. */
export function candidatesIndex(further: readonly string[]): number {
  const at = further.indexOf('match.candidates');
  return at === -1 ? -1 : matchColumns.length + at;
}

export interface PartLayout {
  delimiter: Delimiter;
  newline: string;
  /** Width of the widest record or header: narrower ones are padded. */
  width: number;
  columns: readonly OutputColumn[];
  /** Credits of a match, written in its row. */
  price: number;
  /** As `furtherMatchColumns`. */
  further: readonly string[];
}

export interface RenderedPart {
  bytes: Buffer;
  /** Matched rows with a non-empty cell, by added column. */
  filled: number[];
  /** Bytes of the longest row, an upper bound for its cells. */
  rowBytesMax: number;
  /** Call when `bytes` are stored and no longer read. */
  release(): void;
}

/** The rows `from` to `to` of a piece, which may continue after them. */
export interface PartRows {
  piece: Buffer;
  records: RecordTable;
  from: number;
  to: number;
}

/**
 * Renders rows of a piece; `outcomes` belong to the rows `from` to `to`. Those at the indexes `owned` cost nothing.
 */
export function renderPart(
  rows: PartRows,
  outcomes: readonly Outcome[],
  layout: PartLayout,
  owned: ReadonlySet<number>,
): RenderedPart {
  const { piece, records, from, to } = rows;
  const writer = new ByteWriter(piece.length + answerBytes(outcomes) + (to - from) * 64);
  const plan = planColumns(layout);
  const freePlan = planColumns({ ...layout, price: 0 });
  const notCounted: number[] = [];
  const filled = new Array<number>(layout.columns.length).fill(0);
  let rowBytesMax = 0;
  let gapFrom = from === 0 ? 0 : endOf(records, from - 1);
  for (let index = from; index < to; index++) {
    const start = records.start[index] ?? 0;
    if (start > gapFrom) writer.copy(piece, gapFrom, start);
    const rowFrom = writer.length;
    appendInput(writer, rows, index, layout);
    const outcome = outcomes[index - from] as Outcome;
    const isCopy = outcome.status === 'duplicate';
    const priced = isCopy || owned.has(index - from) ? freePlan : plan;
    appendOutcome(writer, outcome, layout, priced, isCopy ? notCounted : filled);
    rowBytesMax = Math.max(rowBytesMax, writer.length - rowFrom);
    writer.text(layout.newline);
    gapFrom = endOf(records, index);
  }
  if (to === records.count) writer.copy(piece, gapFrom, piece.length);
  return { bytes: writer.written(), filled, rowBytesMax, release: () => writer.release() };
}

/** Length of the records that the columns are copied from. */
function answerBytes(outcomes: readonly Outcome[]): number {
  let bytes = 0;
  for (const { match } of outcomes) {
    if (match === null) continue;
    if (match.person !== null) bytes += match.person.to - match.person.from;
    if (match.company !== null) bytes += match.company.to - match.company.from;
  }
  return bytes;
}

function endOf(records: RecordTable, index: number): number {
  return (records.end[index] ?? 0) + (records.terminator[index] ?? 0);
}

function appendInput(writer: ByteWriter, rows: PartRows, index: number, layout: PartLayout): void {
  const { piece, records } = rows;
  const { delimiter, width } = layout;
  const flags = records.flags[index] ?? 0;
  const start = records.start[index] ?? 0;
  const end = records.end[index] ?? 0;
  let cells = records.fields[index] ?? 0;
  if (isRawLine(flags)) {
    // Its quotes may be unbalanced: as one quoted cell it cannot swallow the following rows.
    const [text = ''] = readRecord(piece, { start, end, flags }, delimiter);
    writer.text(encodeCell(text, { delimiter, safe: false }));
    cells = 1;
  } else if (flags & recordFlag.invalidUtf8) {
    // The structural bytes are the same in both encodings.
    writer.text(decodeWindows1252(piece.subarray(start, end)));
  } else {
    writer.copy(piece, start, end);
  }
  if (cells < width) writer.text(delimiter.repeat(width - cells));
}

interface ColumnPlan {
  person: number[];
  company: number[];
  computed: Extract<OutputColumn, { record: null }>[];
  /** The columns of an absent person, company or response: only delimiters. */
  personBlank: string;
  companyBlank: string;
  /** The text after the reason of an unmatched row: its conflict and credits. */
  unmatched: string;
  /** The columns of the operation in an unmatched row. */
  empty: string;
  /** The text after the reason of a row with data: its conflict and the price. */
  conflict: string;
  noConflict: string;
}

function planColumns({ columns, delimiter, price }: PartLayout): ColumnPlan {
  const of = (record: 'person' | 'company') =>
    columns.flatMap((column) => (column.record === record ? [column.index] : []));
  const person = of('person');
  const company = of('company');
  return {
    person,
    company,
    computed: columns.filter((column) => column.record === null),
    personBlank: delimiter.repeat(person.length),
    companyBlank: delimiter.repeat(company.length),
    unmatched: `${delimiter}${delimiter}0`,
    empty: delimiter.repeat(columns.length),
    conflict: `${delimiter}true${delimiter}${price}`,
    noConflict: `${delimiter}false${delimiter}${price}`,
  };
}

function appendOutcome(
  writer: ByteWriter,
  outcome: Outcome,
  layout: PartLayout,
  plan: ColumnPlan,
  filled: number[],
): void {
  const { delimiter } = layout;
  const { status, by, reason, conflict, match } = outcome;
  // Appended piece by piece: a joined text for each of a million rows would be garbage at once.
  writer.text(delimiter);
  writer.text(status);
  writer.text(delimiter);
  writer.text(by);
  writer.text(delimiter);
  if (reason !== '') writer.text(encodeCell(reason, { delimiter, safe: false }));
  if (match === null) {
    writer.text(plan.unmatched);
    appendFurther(writer, outcome, layout);
    writer.text(plan.empty);
    return;
  }
  writer.text(conflict ? plan.conflict : plan.noConflict);
  appendFurther(writer, outcome, layout);
  let column = 0;
  const delimiterByte = delimiter.charCodeAt(0);
  if (plan.person.length > 0) {
    if (match.person === null) writer.text(plan.personBlank);
    else appendRecordCells(writer, match.person, plan.person, delimiterByte, filled, column);
    column += plan.person.length;
  }
  if (plan.company.length > 0) {
    if (match.company === null) writer.text(plan.companyBlank);
    else appendRecordCells(writer, match.company, plan.company, delimiterByte, filled, column);
    column += plan.company.length;
  }
  for (const computed of plan.computed) {
    const cell = computed.read(match);
    if (cell !== '') filled[column] = (filled[column] ?? 0) + 1;
    column++;
    writer.text(delimiter + encodeCell(cell, { delimiter, safe: false }));
  }
}

function appendFurther(writer: ByteWriter, outcome: Outcome, layout: PartLayout): void {
  const { delimiter, further } = layout;
  for (const column of further) {
    writer.text(delimiter);
    const cell = furtherCell(column, outcome);
    if (cell !== '') writer.text(encodeCell(cell, { delimiter, safe: false }));
  }
}

function furtherCell(column: string, { agrees, match, likely }: Outcome): string {
  switch (column) {
    case 'match.agrees':
      return match === null ? '' : agrees;
    case 'match.probability':
      return likely?.probability?.toFixed(4) ?? '';
    case 'match.evidence':
      return likely?.evidence ?? '';
    default:
      return encodeCandidates(likely?.candidates ?? []);
  }
}

/** The header row of the result: the list's own names, padded, then the added names. */
export function resultHeader(
  header: readonly string[],
  width: number,
  columns: readonly OutputColumn[],
  further: readonly string[],
): string[] {
  const names = [...header, ...new Array<string>(Math.max(0, width - header.length)).fill('')];
  const taken = new Set(names);
  for (const added of [...matchColumns, ...further, ...columns.map((column) => column.header)]) {
    let name = added;
    for (let copy = 2; taken.has(name); copy++) name = `${added}_${copy}`;
    taken.add(name);
    names.push(name);
  }
  return names;
}
