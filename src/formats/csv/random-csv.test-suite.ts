/** Random CSV files for the property tests of this folder. */

import fc from 'fast-check';
import { scanRecords } from './record-scanner.ts';
import { type Delimiter, delimiters, type RecordTable } from './record-table.ts';

/** Cases per property; 10,000 for a long run, and few when every mutant runs them. */
export const propertyRuns = Number(process.env.PROPERTY_RUNS ?? 300);

export const anyDelimiter = fc.constantFrom(...delimiters);

/** Bytes that matter to the grammar, far more often than by chance. */
export const junkBytes = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('"', ',', '\n', 'a') },
      { weight: 1, arbitrary: fc.constantFrom('""', '\r', '\r\n', 'é', '\0', '\xff', '","') },
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => bytesOf(part))));

/** `\xff` represents the lone byte, which is not valid UTF-8. */
function bytesOf(part: string): Buffer {
  return part === '\xff' ? Buffer.from([0xff]) : Buffer.from(part);
}

export interface RandomFile {
  delimiter: Delimiter;
  rows: string[][];
  bytes: Buffer;
}

const textPart = fc.constantFrom('a', 'Bob', ' ', 'é', '漢字', '😀', '1', '-', '.', "'");
const specialPart = fc.constantFrom('"', ',', ';', '\t', '|', '\n', '\r', '\r\n');

/**
 * Well-formed files: 1 to 8 rows of 1 to 5 cells, quoted when needed and sometimes otherwise. No record is an
 * empty line, and no content begins, after quotes, with a delimiter or newline (there a stray quote cannot be
 * distinguished from a real one).
 */
export const wellFormedFile: fc.Arbitrary<RandomFile> = fc
  .record({
    delimiter: anyDelimiter,
    newline: fc.constantFrom('\r\n', '\n', '\r'),
    isTerminated: fc.boolean(),
    rows: fc.array(fc.array(cellOfParts(), { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 8,
    }),
  })
  .map(({ delimiter, newline, isTerminated, rows }) => {
    const lines = rows.map((row) => encodeRow(row, delimiter));
    return {
      delimiter,
      rows: rows.map((row) => row.map(({ text }) => text)),
      bytes: Buffer.from(lines.join(newline) + (isTerminated ? newline : '')),
    };
  });

function cellOfParts(): fc.Arbitrary<{ text: string; isQuoted: boolean }> {
  return fc.record({
    text: fc
      .array(fc.oneof({ weight: 3, arbitrary: textPart }, { weight: 1, arbitrary: specialPart }), {
        maxLength: 6,
      })
      .map((parts) => parts.join(''))
      .filter((text) => !/^"*[,;\t|\r\n]/.test(text)),
    isQuoted: fc.boolean(),
  });
}

function encodeRow(row: { text: string; isQuoted: boolean }[], delimiter: Delimiter): string {
  const cells = row.map(({ text, isQuoted }) => {
    const needsQuotes = /["\r\n]/.test(text) || text.includes(delimiter);
    return isQuoted || needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
  });
  const line = cells.join(delimiter);
  return line === '' ? '""' : line;
}

/** The exact bytes of each record, as Latin-1 text. */
export function recordTexts(bytes: Buffer, records: RecordTable): string[] {
  return listRecords(records).map(({ start, end }) => bytes.toString('latin1', start, end));
}

export function listRecords(records: RecordTable) {
  return Array.from({ length: records.count }, (_, index) => records.at(index));
}

export function scanTexts(bytes: Buffer, delimiter: Delimiter = ','): string[] {
  return recordTexts(bytes, scanRecords(bytes, { delimiter }));
}
