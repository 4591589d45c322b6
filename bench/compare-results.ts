/**
 * Compares our result with the reference's, cell by cell: a fast but different result does not count. Reads
 * both with csv-parse, which neither side uses, and fails at the first difference.
 */
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { type FieldType, personFields } from '../src/core/graph/fields.ts';
import { assert } from '../src/core/lib/assert.ts';

export interface Comparison {
  rows: number;
  matched: number;
  /** Number of compared cells. */
  cells: number;
  /** Number of columns only in ours. */
  columnsOnlyOurs: number;
}

/** Columns of the reference by position, each with its position in ours and its comparison. */
interface SharedColumn {
  header: string;
  ours: number;
  canonical: (text: string) => string;
}

/** Compares two files row by row. Throws with row, column and both texts at the first difference. */
export async function compareResults(ours: string, reference: string): Promise<Comparison> {
  const result = readRecords(ours);
  const expected = readRecords(reference);
  const header = await nextRecord(result);
  const shared = shareColumns(header, await nextRecord(expected));
  const status = header.indexOf('match.status');
  const id = shared.findIndex((column) => column.header === 'person.id');
  assert(id >= 0, 'the reference says who matched');
  let rows = 0;
  let matched = 0;
  for await (const wanted of expected) {
    const row = await nextRecord(result);
    rows++;
    for (const [index, column] of shared.entries()) {
      const theirs = wanted[index] ?? '';
      const text = row[column.ours] ?? '';
      if (text !== theirs && column.canonical(text) !== column.canonical(theirs)) {
        throw new Error(
          `row ${rows}, ${column.header}: ours is ${JSON.stringify(text)}, the reference's ${JSON.stringify(theirs)}`,
        );
      }
    }
    // Every row of an export is a person.
    const isMatched = status === -1 || row[status] === 'matched';
    assert(isMatched === (wanted[id] !== ''), `row ${rows} is matched on both sides or on neither`);
    if (isMatched) matched++;
  }
  assert((await result.next()).done === true, 'ours has no row more than the reference');
  const columnsOnlyOurs = header.length - shared.length;
  return { rows, matched, cells: rows * shared.length, columnsOnlyOurs };
}

type Records = AsyncIterableIterator<string[]>;

function readRecords(file: string): Records {
  const source = createReadStream(file, { highWaterMark: 1 << 20 });
  const parser = parse({ bom: true, relax_column_count: true });
  source.on('error', (error) => parser.destroy(error));
  return source.pipe(parser)[Symbol.asyncIterator]() as Records;
}

async function nextRecord(records: Records): Promise<string[]> {
  const next = await records.next();
  assert(next.done !== true, 'both files hold the same number of rows');
  return next.value;
}

function shareColumns(ours: readonly string[], reference: readonly string[]): SharedColumn[] {
  return reference.map((header) => {
    const index = ours.indexOf(header);
    assert(index >= 0, `our result has the column ${header}`);
    const field = personFields.find(({ name }) => header === `person.${name}`);
    return { header, ours: index, canonical: canonicalOf[field?.type ?? 'text'] };
  });
}

/** Postgres writes a timestamp with a space, and JSON with spaces between its tokens. */
const canonicalOf: Record<FieldType, (text: string) => string> = {
  text: String,
  integer: String,
  date: String,
  timestamp: (text) => text.replace(' ', 'T'),
  json: (text) => (text === '' ? '' : JSON.stringify(JSON.parse(text))),
};
