/**
 * Writes a lead list about the people of a generated graph, and a file with the truth of every row.
 * Streams: a page of rows is in memory, never the list.
 */
import { open } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import type { Database } from '../../src/core/db/client.ts';
import { type AppError, conflict, invalidParameter } from '../../src/core/lib/errors.ts';
import { drawNumber } from './draw-number.ts';
import {
  type LeadCells,
  type LeadPlan,
  type LeadStyle,
  type LeadTruth,
  leadColumns,
  planLead,
  writeLead,
} from './leads/lead-row.ts';
import { type LeadPerson, readLeadPeople, readMaxPersonId } from './leads/leads.sql.ts';

export interface GenerateLeadsOptions {
  /** At most 3,000,000. */
  rows: number;
  /** A whole number from 0. */
  seed: number;
  /**
   * `messy` (default): like a sales team's export, with every problem that lists have. `plain`: mostly one clean
   * identifier per row, 70 % of them emails, and 71 % of the rows about stored people.
   */
  style?: LeadStyle;
}

/** The next piece of both files; the pieces joined are the files. */
export interface LeadPiece {
  leads: string;
  truth: string;
}

const ROWS_MAX = 3_000_000;
const ROWS_PER_PAGE = 2_000;
const truthColumns = [
  'row',
  'expected_person_id',
  'kind',
  'identifier',
  'normalised',
  'candidates',
];

/**
 * Yields `leads` (UTF-8 with BOM, CRLF, ten columns, empty lines in messy lists) and `truth`
 * (`row,expected_person_id,kind,identifier,normalised,candidates`, LF; rows count from 1 without
 * header and empty lines; candidates are separated by `|`). The same graph, seed and style give
 * the same text. Throws `AppError` `invalid_parameter` for a size outside the limit and
 * `graph_empty`.
 */
export async function* generateLeads(
  sql: Database,
  { rows, seed, style = 'messy' }: GenerateLeadsOptions,
): AsyncGenerator<LeadPiece, void, undefined> {
  assertRows(rows);
  const maxPersonId = await readMaxPersonId(sql);
  if (maxPersonId === 0) throw graphEmpty();
  const expected = new Uint8Array(Math.floor(maxPersonId / 8) + 1);
  yield {
    leads: `\ufeff${stringify([[...leadColumns]], csvOptions)}`,
    truth: stringify([truthColumns]),
  };
  const request = { rows, seed, style, maxPersonId };
  let next = readPage(sql, { ...request, fromRow: 1 });
  try {
    for (let fromRow = 1; fromRow <= rows; fromRow += ROWS_PER_PAGE) {
      const page = await next;
      // The database looks up the next page while this one is written.
      next = readPage(sql, { ...request, fromRow: fromRow + ROWS_PER_PAGE });
      yield writePage(page, style, expected);
    }
  } finally {
    // A reader may stop early; the look-up in progress must not outlive the generator.
    await Promise.allSettled([next]);
  }
}

/** Writes both files of `generateLeads`. */
export async function writeLeadFiles(
  sql: Database,
  options: GenerateLeadsOptions,
  files: { leads: string; truth: string },
): Promise<void> {
  const leads = await open(files.leads, 'w');
  try {
    const truth = await open(files.truth, 'w');
    try {
      for await (const piece of generateLeads(sql, options)) {
        await leads.appendFile(piece.leads);
        await truth.appendFile(piece.truth);
      }
    } finally {
      await truth.close();
    }
  } finally {
    await leads.close();
  }
}

interface Page {
  plans: LeadPlan[];
  people: Map<number, LeadPerson>;
}

interface PageRequest {
  fromRow: number;
  rows: number;
  seed: number;
  style: LeadStyle;
  maxPersonId: number;
}

/** Plans a page and reads its people, keyed by row number. Empty after the last row. */
async function readPage(sql: Database, request: PageRequest): Promise<Page> {
  const { fromRow, rows, seed, style } = request;
  const length = Math.max(0, Math.min(ROWS_PER_PAGE, rows - fromRow + 1));
  const plans = Array.from({ length }, (_, index) => planLead(seed, fromRow + index, style));
  const asked = plans.flatMap(({ row, need }) =>
    need === null ? [] : [{ row, need, fromId: startOf(row, request) }],
  );
  if (asked.length === 0) return { plans, people: new Map() };
  const found = await readLeadPeople(sql, asked);
  const people = new Map(found.map((person) => [asked[person.place - 1]?.row ?? 0, person]));
  return { plans, people };
}

/** Returns the same person id for the same row; people are spread evenly over the list. */
function startOf(row: number, { seed, style, maxPersonId }: PageRequest): number {
  const pick = (use: number, n: number) => drawNumber(row, (seed % 65_521) * 65_536 + use, n);
  const isAgain = style === 'messy' && row > 1 && pick(60_000, 100) < AGAIN_PERCENT;
  const about = isAgain ? row - 1 - pick(60_001, Math.min(row - 1, ROWS_PER_PAGE)) : row;
  return 1 + ((about * 2_654_435_761 + (seed % 1_000_000) * 7919) % maxPersonId);
}

/** Percentage of messy rows that start from the person of an earlier row. */
const AGAIN_PERCENT = 7;

function writePage({ plans, people }: Page, style: LeadStyle, expected: Uint8Array): LeadPiece {
  const cells: LeadCells[] = [];
  const truths: string[][] = [];
  let leads = '';
  for (const plan of plans) {
    const lead = writeLead(plan, people.get(plan.row) ?? null, style);
    markDuplicate(lead.truth, expected);
    if (style === 'messy' && plan.pick(150) === 0) {
      leads += `${writeCells(cells.splice(0))}\r\n`;
    }
    cells.push(lead.cells);
    truths.push(truthCells(plan.row, lead.truth));
  }
  return { leads: leads + writeCells(cells), truth: stringify(truths) };
}

// A lone newline inside a cell ends the record for most readers: it needs quotes as much as CRLF does.
const csvOptions = { record_delimiter: '\r\n', quoted_match: /[\r\n]/ };

function writeCells(cells: readonly LeadCells[]): string {
  const records = cells.map((row) => leadColumns.map((column) => row[column]));
  return records.length === 0 ? '' : stringify(records, csvOptions);
}

function truthCells(row: number, truth: LeadTruth): string[] {
  const { expectedPersonId, kind, identifier, normalised, candidates } = truth;
  const person = expectedPersonId === null ? '' : String(expectedPersonId);
  return [String(row), person, kind, identifier, normalised, candidates.join('|')];
}

/** A plain match of a person whom an earlier row expects is `match_duplicate`. */
function markDuplicate(truth: LeadTruth, expected: Uint8Array): void {
  if (truth.expectedPersonId === null) return;
  const byte = Math.floor(truth.expectedPersonId / 8);
  const bit = 1 << (truth.expectedPersonId % 8);
  const seen = expected[byte] ?? 0;
  if ((seen & bit) !== 0 && truth.kind === 'match') truth.kind = 'match_duplicate';
  expected[byte] = seen | bit;
}

function assertRows(rows: number): void {
  if (Number.isSafeInteger(rows) && rows >= 0 && rows <= ROWS_MAX) return;
  throw invalidParameter('rows', `must be a whole number from 0 to ${ROWS_MAX}`);
}

function graphEmpty(): AppError {
  return conflict('graph_empty', 'The graph has no people. Generate or import some first.');
}
