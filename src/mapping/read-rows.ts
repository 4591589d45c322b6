/** Turns the records of a piece of a list into rows ready for matching. */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { ListedNames } from '../core/enrich/agreement.ts';
import type { MatchMode } from '../core/enrich/match-mode.ts';
import type { RowIdentifier, RowInput } from '../core/enrich/outcomes.ts';
import { countryCode } from '../core/identifiers/country.ts';
import {
  type IdentifierKind,
  identifierKinds,
  isAddressForDomain,
  isIdentifierKind,
  statedText,
} from '../core/identifiers/identifier.ts';
import type { KindDescription, NormaliseContext } from '../core/identifiers/kind.ts';
import { withoutPlaceholder } from '../core/identifiers/placeholder.ts';
import { must } from '../core/lib/assert.ts';
import type { LikelyCells } from '../core/likely/likely-row.ts';
import { type OperationName, operations } from '../core/operations.ts';
import { type CellColumn, openColumns } from '../formats/csv/cells.ts';
import { type Delimiter, type RecordTable, unreadableReason } from '../formats/csv/record-table.ts';
import type { ColumnMapping } from './columns.ts';
import { hasLikelyColumns, likelyCells } from './read-likely-cells.ts';
import { numberContext, registerContext, registerOf, withListCountry } from './row-countries.ts';

export interface RowReading {
  operation: OperationName;
  mapping: ColumnMapping;
  match: MatchMode;
  delimiter: Delimiter;
  /** ISO 3166 alpha-2 region for national phone numbers of rows without a country, before `country`. */
  defaultRegion: string | null;
  /** ISO 3166 alpha-2 country of rows without one. */
  country: string | null;
  /** Columns of the list; null when they are not counted yet. */
  width: number | null;
}

/** True when the list has a name that a match can be checked against. */
export function checksAgreement(mapping: ColumnMapping): boolean {
  return ['person_name', 'company_name', 'name'].some((kind) => mapping[kind] !== undefined);
}

export interface ReadRows {
  /** One for each record of the range, in order. */
  rows: RowInput[];
  /** The list's own names for the record with this index. */
  namesOf(index: number): ListedNames;
  /** Damaged values that were repaired. */
  repairs: Repair[];
}

/** A damaged value that was repaired, with the index of its record. */
export interface Repair {
  index: number;
  kind: IdentifierKind;
}

/** Rows, and bytes of them, between two rounds of the event loop: hostile cells take a millisecond each. */
const ROWS_PER_ROUND = 100;
const BYTES_PER_ROUND = 64 * 1024;

/** Reads the rows of a piece, or of its records `from` to `to`; leases and other work go on meanwhile. */
export async function readRows(
  piece: Buffer,
  records: RecordTable,
  reading: RowReading,
  { from, to } = { from: 0, to: records.count },
): Promise<ReadRows> {
  const { identifiers, subject } = operations[reading.operation];
  const read = columnReader(piece, records, reading);
  const countries = read('country');
  const codeOf = countryReader(withListCountry(countries, reading.country));
  const contextOf = contextsOf(subject, reading, countries);
  const plain = { subject };
  const kinds = identifiers.map((kind): KindColumns => {
    const description = identifierKinds[kind];
    const headers = (reading.mapping[kind] ?? []).map(({ header }) => header);
    const columns = read(kind).map((column, place): KindColumn => {
      const own: ContextOf = description.dependsOnCountry ? contextOf : () => plain;
      const register = kind === 'registry_number' ? registerOf(headers[place] ?? null) : null;
      if (register === null) return { column, contextOf: own };
      return {
        column,
        contextOf: (index) => ({ subject, ...registerContext(register, own(index)) }),
      };
    });
    return { kind, description, columns };
  });
  const cities = read('city');
  const personNames = read('person_name');
  // In a list of companies the name is an identifier, and also confirms a registry number.
  const companyNames = [...read('company_name'), ...read('name')];
  const withLikely = likelyReader(reading, subject, read);
  const rows: RowInput[] = [];
  const repairs: Repair[] = [];
  let roundRow = from;
  let roundByte = records.start[from] ?? 0;
  for (let index = from; index < to; index++) {
    if (
      index >= roundRow + ROWS_PER_ROUND ||
      (records.end[index] ?? 0) > roundByte + BYTES_PER_ROUND
    ) {
      await nextRound();
      roundRow = index;
      roundByte = records.start[index] ?? 0;
    }
    const unreadable = unreadableReason(records.flags[index] ?? 0);
    if (unreadable !== null) {
      rows.push({ identifiers: [], invalid: unreadable });
      continue;
    }
    if (isFooter(piece, records, index, reading)) {
      rows.push({ identifiers: [], invalid: 'footer' });
      continue;
    }
    const row = readRow(kinds, index, repairs);
    if (subject === 'company' && codeOf !== null) row.country = codeOf(index);
    if (subject === 'company') addName(row, companyNames, index);
    rows.push(withLikely(row, index));
  }
  const named = { personNames, companyNames, cities, codeOf };
  const namesOf = (index: number) => new NamesOfRow(named, index);
  return { rows, namesOf, repairs };
}

/**
 * Returns the cells by which the records of a piece of a list are matched by name, in order; those of an unreadable one are ''.
 */
export function readLikelyCells(
  piece: Buffer,
  records: RecordTable,
  reading: RowReading,
): LikelyCells[] {
  const read = columnReader(piece, records, reading);
  const cellsAt = cellsReader(reading, read);
  const { subject } = operations[reading.operation];
  return Array.from({ length: records.count }, (_, index) => likelyCells(subject, cellsAt(index)));
}

/** Columns that an outcome is compared with. */
interface NamingColumns {
  personNames: readonly CellColumn[];
  companyNames: readonly CellColumn[];
  cities: readonly CellColumn[];
  codeOf: CodeOf | null;
}

/** The names of one row, decoded when a comparison comes to them: most need the first. */
class NamesOfRow implements ListedNames {
  readonly #columns: NamingColumns;
  readonly #index: number;

  constructor(columns: NamingColumns, index: number) {
    this.#columns = columns;
    this.#index = index;
  }

  get personName(): string {
    return joinCells(this.#columns.personNames, this.#index);
  }

  get companyName(): string {
    return firstCell(this.#columns.companyNames, this.#index);
  }

  get country(): string | null {
    return this.#columns.codeOf?.(this.#index) ?? null;
  }

  get city(): string {
    return firstCell(this.#columns.cities, this.#index);
  }
}

/** Returns what adds the cells of a likely match to a row, when one is wanted. */
function likelyReader(
  reading: RowReading,
  subject: 'person' | 'company',
  read: (kind: string) => CellColumn[],
): (row: RowInput, index: number) => RowInput {
  const { match, mapping } = reading;
  if (match !== 'likely' || !hasLikelyColumns(subject, mapping)) return (row) => row;
  const cellsAt = cellsReader(reading, read);
  return (row, index) => ({ ...row, likely: likelyCells(subject, cellsAt(index)) });
}

/** Returns what reads the cells of a row by the kind of their columns. */
function cellsReader({ mapping, country }: RowReading, read: (kind: string) => CellColumn[]) {
  const columns = new Map<string, readonly CellColumn[]>(
    Object.keys(mapping).map((kind) => [kind, read(kind)]),
  );
  columns.set('country', withListCountry(read('country'), country));
  return (index: number) => (kind: string) =>
    (columns.get(kind) ?? []).map((column) => column.at(index));
}

/**
 * Lines that reports write below their table (Salesforce: `Copyright (c) 2000-2026 salesforce.com, inc. All rights reserved.`,
 * `Confidential Information - Do Not Distribute`).
 */
const FOOTER =
  /^(?:confidential(?: information)?(?:$|\s*[-–—:.,])|strictly confidential\b|copyright\b.*\d{4}|©|.*\ball rights reserved\.?$|generated (?:by|on|at)\b|exported (?:by|on|from|at)\b|report (?:generated|run|created)\b|end of (?:report|file|list)\b|salesforce\.com$|(?:grand )?totals?(?:$|\s*[:(])|erstellt (?:am|von)\b|vertraulich$|gesamt(?:summe)?(?:$|\s*[:(]))/i;
const FOOTER_BYTES_MAX = 500;

/** True for a line below the table: only its first cell is filled, with a text that reports add. */
function isFooter(
  piece: Buffer,
  records: RecordTable,
  index: number,
  { delimiter, width }: RowReading,
): boolean {
  if (width === null || width < 2) return false;
  const start = records.start[index] ?? 0;
  let end = records.end[index] ?? 0;
  const byte = delimiter.charCodeAt(0);
  let empty = 0;
  while (end > start && piece[end - 1] === byte) {
    end--;
    empty++;
  }
  if ((records.fields[index] ?? 0) - 1 !== empty || end - start > FOOTER_BYTES_MAX) return false;
  return FOOTER.test(piece.toString('utf8', start, end).replace(/^["\s]+|["\s]+$/g, ''));
}

function joinCells(columns: readonly CellColumn[], index: number): string {
  if (columns.length === 1) return columns[0]?.at(index) ?? '';
  return columns
    .map((column) => column.at(index))
    .join(' ')
    .trim();
}

function firstCell(columns: readonly CellColumn[], index: number): string {
  for (const column of columns) {
    const cell = column.at(index);
    if (cell !== '') return cell;
  }
  return '';
}

/** Adds the name that confirms a row's registry number or the domain of its address, also one that is not looked up. */
function addName(row: RowInput, columns: readonly CellColumn[], index: number): void {
  const isNumbered = row.identifiers.some(({ kind }) => kind === 'registry_number');
  if (!isNumbered && row.isDomainOfAddress === undefined) return;
  const name = row.companyName ?? firstCell(columns, index);
  if (name !== '') row.companyName = name;
}

interface KindColumns {
  kind: IdentifierKind;
  description: KindDescription;
  columns: readonly KindColumn[];
}

interface KindColumn {
  column: CellColumn;
  contextOf: ContextOf;
}

type ContextOf = (index: number) => NormaliseContext;

function columnReader(piece: Buffer, records: RecordTable, reading: RowReading) {
  const wanted = [
    ...new Set(
      Object.values(reading.mapping)
        .flat()
        .map(({ column }) => column),
    ),
  ];
  const cells = openColumns(
    piece,
    records,
    wanted.map((column) => column - 1),
    reading.delimiter,
  );
  return (name: string): CellColumn[] =>
    (reading.mapping[name] ?? []).map(({ column }) => {
      const own = must(cells[wanted.indexOf(column)], 'a mapped column');
      if (readsAsWritten.has(name)) return own;
      if (!isIdentifierKind(name)) return { at: (index) => withoutPlaceholder(own.at(index)) };
      return { at: (index) => statedText(name, own.at(index)) };
    });
}

/** `NA` is a country, and there are people called Null. */
const readsAsWritten: ReadonlySet<string> = new Set(['country', 'person_name']);

type CodeOf = (index: number) => string | null;

/** Reading contexts by the countries of the row: few for a million rows. */
function contextsOf(
  subject: 'person' | 'company',
  reading: RowReading,
  countries: readonly CellColumn[],
) {
  const contexts = new Map<string, NormaliseContext>();
  const contextOf = (index: number): NormaliseContext => {
    const cells = countries.map((column) => column.at(index));
    const key = cells.join('\n');
    let context = contexts.get(key);
    if (context === undefined) {
      context = { subject, ...numberContext(cells, reading) };
      contexts.set(key, context);
    }
    return context;
  };
  // A row asks again for each of its cells.
  let last = -1;
  let lastContext: NormaliseContext = { subject };
  return (index: number): NormaliseContext => {
    if (index !== last) lastContext = contextOf(index);
    last = index;
    return lastContext;
  };
}

/** Returns the first country read from a row's cells, or null; null without a column of countries. */
function countryReader(columns: readonly CellColumn[]): CodeOf | null {
  if (columns.length === 0) return null;
  return (index) => {
    for (const column of columns) {
      const code = countryCode(column.at(index));
      if (code !== null) return code;
    }
    return null;
  };
}

/** All usable identifiers of one row in order of trust, or the reason why there is none. */
function readRow(kinds: readonly KindColumns[], index: number, repairs: Repair[]): RowInput {
  // Most rows have one identifier: a literal of one takes a fifth of the memory of an empty array that grows.
  let identifiers: RowIdentifier[] | null = null;
  let companyName: string | null = null;
  let isDomainOfAddress = false;
  let firstReason: string | null = null;
  for (const { kind, description, columns } of kinds) {
    let values: string[] | null = null;
    for (const { column, contextOf } of columns) {
      const text = column.at(index);
      if (text === '') continue;
      const normalised = description.normalise(text, contextOf(index));
      if ('reason' in normalised) {
        firstReason ??= normalised.reason;
        continue;
      }
      if (description.isRepaired?.(text)) repairs.push({ index, kind });
      if (kind === 'name') companyName ??= text;
      if (isAddressForDomain(kind, text)) isDomainOfAddress = true;
      if (values === null) values = normalised.values;
      else values = [...values, ...normalised.values];
    }
    if (values === null) continue;
    if (identifiers === null) identifiers = [{ kind, values }];
    else identifiers.push({ kind, values });
  }
  if (identifiers !== null) {
    const row: RowInput = { identifiers, invalid: null };
    if (companyName !== null) row.companyName = companyName;
    if (isDomainOfAddress) row.isDomainOfAddress = true;
    return row;
  }
  return { identifiers: [], invalid: firstReason ?? 'no_identifier' };
}
