/** Reads a list with its truth: for measuring and training likely matches. */
import { parse } from 'csv-parse/sync';
import { AppError } from '../core/lib/errors.ts';
import type { LikelyCells } from '../core/likely/likely-row.ts';
import { mapColumns } from './columns.ts';
import { likelyCells } from './read-likely-cells.ts';

/** A row and its truth. */
export interface LabelledRow {
  cells: LikelyCells;
  /** The record that the row means; 0 when it must not match. */
  expected: number;
  /** The kind of row, as the truth says; '' when it does not. */
  kind: string;
  /** Records that fit a row which must not match, when the truth says so. */
  candidates: readonly number[];
}

export interface LabelledList {
  subject: 'person' | 'company';
  rows: LabelledRow[];
}

const SAMPLE_ROWS = 100;
const OPERATIONS = { person: 'people.enrich', company: 'companies.enrich' } as const;

function unreadable(message: string): AppError {
  return new AppError({ code: 'invalid_file', status: 400, message });
}

function readCsv(text: string): string[][] {
  return parse(text, { bom: true, relax_column_count: true, skip_empty_lines: true });
}

/**
 * Reads a list and its truth, both CSV with a header. The truth has the columns `row` (from 1, the header not counted)
 * and `expected_person_id` or `expected_company_id`, empty when the row must not match; also `kind` and `candidates`
 * (ids between `|`), if it knows them. Throws `AppError` when a column is missing or a row has no truth.
 */
export function readLabelledList(listText: string, truthText: string): LabelledList {
  const [header = [], ...records] = readCsv(listText);
  const [names = [], ...truths] = readCsv(truthText);
  const at = (name: string) => names.indexOf(name);
  const subject = at('expected_person_id') !== -1 ? 'person' : 'company';
  const expectedAt = at(`expected_${subject}_id`);
  if (at('row') === -1 || expectedAt === -1) {
    throw unreadable(
      'The truth needs a column `row` and a column `expected_person_id` or `expected_company_id`.',
    );
  }
  const list = { header, sample: records.slice(0, SAMPLE_ROWS) };
  const mapping = mapColumns(OPERATIONS[subject], list, null, { match: 'likely' });
  const truthOf = new Map(truths.map((truth) => [Number(truth[at('row')]), truth]));
  const rows = records.map((record, index) => {
    const truth = truthOf.get(index + 1);
    if (truth === undefined) throw unreadable(`The truth has no line for row ${index + 1}.`);
    const cells = likelyCells(subject, (kind) =>
      (mapping[kind] ?? []).map(({ column }) => record[column - 1] ?? ''),
    );
    return {
      cells,
      expected: Number(truth[expectedAt] ?? ''),
      kind: truth[at('kind')] ?? '',
      candidates: (truth[at('candidates')] ?? '').split('|').map(Number).filter(Boolean),
    };
  });
  return { subject, rows };
}
