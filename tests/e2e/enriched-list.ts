/** Reads a list, its result and its ground truth, and judges row by row what the service found. */
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { must } from '../../src/core/lib/assert.ts';

/** A row of the ground truth: its record, or the records between which it is ambiguous. */
interface TruthRow {
  kind: string;
  expectedId: string;
  candidates: string[];
}

export interface EnrichedRow {
  /** The text of the record in the list, and of the same record in the result. */
  input: string;
  output: string;
  truth: TruthRow;
  /** Cells of the result by header. */
  cell(header: string): string;
}

/** Outcomes of the rows of one kind of ground truth. */
export interface KindCounts {
  rows: number;
  /** Rows with an expected record. */
  expected: number;
  /** Matched with the expected record; matched with another, or where none is expected. */
  found: number;
  wrong: number;
  ambiguous: number;
  /** No match, invalid and the rest. */
  other: number;
}

/**
 * The rows of a list with those of its result and its ground truth. `expectedColumn` is the column of the
 * ground truth with the id. Throws when their numbers differ.
 */
export async function readEnrichedList(
  files: { list: string; result: string; truth: string },
  expectedColumn: string,
): Promise<EnrichedRow[]> {
  const [, ...inputs] = await readRecords(files.list);
  const [header, ...outputs] = await readRecords(files.result);
  const names = new Map(must(header, 'a header').record.map((name, index) => [name, index]));
  const truths = parse(await readFile(files.truth, 'utf8'), { columns: true, bom: true }) as Record<
    string,
    string
  >[];
  if (inputs.length !== outputs.length || inputs.length !== truths.length) {
    throw new Error(`${inputs.length} rows, ${truths.length} truths, ${outputs.length} results`);
  }
  return outputs.map(({ record, raw }, index) => {
    const truth = must(truths[index], 'truth of the row');
    return {
      input: must(inputs[index], 'row of the list').raw,
      output: raw,
      truth: {
        kind: truth.kind ?? '',
        expectedId: truth[expectedColumn] ?? '',
        candidates: (truth.candidates ?? '').split('|').filter((id) => id !== ''),
      },
      cell: (name) => record[must(names.get(name), `column ${name}`)] ?? '',
    };
  });
}

interface CsvRecord {
  record: string[];
  raw: string;
}

async function readRecords(file: string): Promise<CsvRecord[]> {
  const text = await readFile(file, 'utf8');
  const options = { bom: true, raw: true, skip_empty_lines: true, relax_column_count: true };
  const records = parse(text, options) as unknown as CsvRecord[];
  // The raw text includes the line break, and empty lines before the row.
  return records.map(({ record, raw }) => ({ record, raw: raw.replace(/^[\r\n]+|[\r\n]+$/g, '') }));
}

/** Counts by kind of ground truth; `idColumn` is the result's column with the id of the matched record. */
export function countByKind(
  rows: readonly EnrichedRow[],
  idColumn: string,
): Map<string, KindCounts> {
  const kinds = new Map<string, KindCounts>();
  for (const { truth, cell } of rows) {
    const none = { rows: 0, expected: 0, found: 0, wrong: 0, ambiguous: 0, other: 0 };
    const counts = kinds.get(truth.kind) ?? none;
    kinds.set(truth.kind, counts);
    counts.rows += 1;
    if (truth.expectedId !== '') counts.expected += 1;
    const status = cell('match.status');
    if (status === 'ambiguous') counts.ambiguous += 1;
    else if (status !== 'matched') counts.other += 1;
    else if (cell(idColumn) === truth.expectedId) counts.found += 1;
    else counts.wrong += 1;
  }
  return kinds;
}

/** Rows whose record in the result does not begin with the record of the list. */
export function changedRows(rows: readonly EnrichedRow[]): EnrichedRow[] {
  return rows.filter(({ input, output }) => !output.startsWith(`${input},`));
}
