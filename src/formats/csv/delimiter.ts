/**
 * Guesses the delimiter of a file from its first records, read by the record scanner itself, so
 * that delimiters in quotes do not count. A file with one column has the delimiter `,`.
 */

import { invalidParameter } from '../../core/lib/errors.ts';
import { readRecord } from './cells.ts';
import { isHeaderProved, looksLikeValue, TITLE_ROWS_MAX } from './header.ts';
import { type Delimiter, delimiters } from './record-table.ts';
import { sampleRecords } from './sample-records.ts';

const RECORDS_SCORED_MAX = 100;

// Weights in addition to the share of records as wide as the first, which counts 1. They only separate candidates
// that split the sample about equally well.
const HEADER_WEIGHT = 0.02;
const WIDTH_WEIGHT = 0.002;
const DECIMAL_COMMA_WEIGHT = 0.06;
/** A cell with a quote at its edge was cut at the wrong place, or written carelessly. */
const CARELESS_WEIGHT = 0.3;
/** A consistent table below other lines, e.g. a title, is a weak sign, unless it has a header above values. */
const TITLE_LINE_WEIGHT = 0.3;
const TITLE_LINE_HEADER_WEIGHT = 0.95;
/** Semicolons, tabs and pipes are rarer in ordinary text than commas. */
const rarityWeight: Record<Delimiter, number> = { ',': 0, ';': 0.001, '|': 0.002, '\t': 0.003 };

const DOUBTFUL_SCORE = 0.8;
const DOUBTFUL_DISTANCE = 0.03;

export interface DelimiterGuess {
  delimiter: Delimiter;
  /** True when a person should check the preview. */
  isDoubtful: boolean;
}

/** Guesses the delimiter of a canonical sample, which begins at the file's first record. */
export function guessDelimiter(sample: Buffer, isWhole: boolean): DelimiterGuess {
  const candidates = delimiters
    .map((delimiter) => ({ delimiter, score: scoreDelimiter(sample, delimiter, isWhole) }))
    .sort((one, other) => other.score - one.score);
  const [best, second] = candidates;
  if (best === undefined || second === undefined || best.score === 0) {
    return { delimiter: ',', isDoubtful: hasWiderRecord(sample, isWhole) };
  }
  const isDoubtful = best.score < DOUBTFUL_SCORE || second.score > best.score - DOUBTFUL_DISTANCE;
  return { delimiter: best.delimiter, isDoubtful };
}

/** Parses a delimiter as a user writes it: the character itself, `tab` or `\t`. Throws `AppError` 400. */
export function parseDelimiter(text: string): Delimiter {
  const named = /^(tab|\\t)$/i.test(text) ? '\t' : text;
  for (const delimiter of delimiters) if (delimiter === named) return delimiter;
  throw invalidParameter('delimiter', `"${text}" is not supported. Use , ; | or tab`);
}

function scoreDelimiter(sample: Buffer, delimiter: Delimiter, isWhole: boolean): number {
  const records = sampleRecords(sample, { delimiter, isWhole });
  const count = Math.min(records.count, RECORDS_SCORED_MAX);
  if (count === 0) return 0;
  const widths = [...records.fields.subarray(0, count)];
  const rows = widths.map((_, index) => readRecord(sample, records.at(index), delimiter));
  const from = scoreTable(widths, rows, 0);
  const below = scoreTable(widths, rows, firstOfTable(widths));
  const table = below !== null && (from === null || below > from) ? below : from;
  if (table === null) return 0;
  const careless = rows.filter((row) => row.some((cell) => /^"|"$/.test(cell))).length / count;
  const commas = delimiter === ',' ? decimalCommaShare(sample) : 0;
  return (
    table + rarityWeight[delimiter] - commas * DECIMAL_COMMA_WEIGHT - careless * CARELESS_WEIGHT
  );
}

/** The score of the table that begins at a record; null when it has one column, or is no table below titles. */
function scoreTable(widths: number[], rows: string[][], first: number): number | null {
  const width = widths[first] ?? 1;
  const table = widths.slice(first);
  if (width < 2) return null;
  const consistency = table.filter((other) => other === width).length / table.length;
  const isHeaderLike = rows[first]?.every((cell) => cell.trim() !== '' && !looksLikeValue(cell));
  const bonus = (isHeaderLike ? HEADER_WEIGHT : 0) + Math.min(width, 20) * WIDTH_WEIGHT;
  if (first === 0) return consistency + bonus;
  if (table.length < 2 || consistency < 0.8) return null;
  const isHeader = isHeaderLike && isHeaderProved(rows.slice(first + 1));
  if (!isHeader && table.length < 3) return null;
  return consistency * (isHeader ? TITLE_LINE_HEADER_WEIGHT + bonus : TITLE_LINE_WEIGHT);
}

/** The first record of the most frequent width, which may be below titles. */
function firstOfTable(widths: number[]): number {
  const counts = new Map<number, number>();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [[width = 1] = []] = [...counts].sort(([a, n], [b, m]) => m - n || b - a);
  const first = widths.indexOf(width);
  return first > TITLE_ROWS_MAX ? 0 : first;
}

/** Returns the share of commas between two digits, such as decimal commas. */
function decimalCommaShare(sample: Buffer): number {
  let commas = 0;
  let decimal = 0;
  for (let at = sample.indexOf(44); at >= 0; at = sample.indexOf(44, at + 1)) {
    commas++;
    if (isDigit(sample[at - 1]) && isDigit(sample[at + 1])) decimal++;
  }
  return commas === 0 ? 0 : decimal / commas;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

function hasWiderRecord(sample: Buffer, isWhole: boolean): boolean {
  const records = sampleRecords(sample, { delimiter: ',', isWhole });
  return records.fields.subarray(0, records.count).some((width) => width > 1);
}
