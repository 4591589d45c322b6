/**
 * Checks the rows of files that others wrote before they are stored. A value that a statement of the build refuses would end
 * the import, every later one, and its undoing, because each begins with what is left to build.
 */
import { fitsIndex } from '../import/coerce.ts';
import type { Problem } from '../import/columns.ts';
import { heldFact } from '../import/fact-batch.ts';
import { type SourceRecord, type SourceRow, seenOf } from './source-record.ts';

/**
 * Returns the row with records that can be built, or rejects it: for a key that cannot be stored, and an officer or a period
 * without what it needs. Their other values that cannot be stored are left out; those of people and companies the build leaves
 * out.
 */
export function buildableRow(row: SourceRow): SourceRow {
  if (!('records' in row)) return withStorableKeys(row);
  const [first, ...others] = row.records;
  const checked = [buildable(first), ...others.map(buildable)] as const;
  const problem = checked.find((one): one is Problem => 'reason' in one);
  if (problem === undefined) {
    const isSame = checked.every((one, place) => one === row.records[place]);
    return isSame ? row : { ...row, records: checked as typeof row.records };
  }
  const { reason, field } = problem;
  const { key, record } = first;
  const named = { line: row.line, reason, ...(field === null ? {} : { field }), source: record };
  return { ...named, ...seenOf(isStorable(key) ? key : undefined) };
}

/** Without keys that cannot be stored: no record has them. */
function withStorableKeys(row: Exclude<SourceRow, { records: unknown }>): SourceRow {
  if ('optedOut' in row) return { ...row, keys: row.keys.filter(([, key]) => isStorable(key)) };
  if (!('seen' in row) || row.seen === undefined) return row;
  return { ...row, seen: row.seen.filter(isStorable) };
}

function buildable(given: SourceRecord): SourceRecord | Problem {
  const { entity, key, record, company = [], sameAs = [] } = given;
  if (![key, ...company, ...sameAs].every(isStorable)) return { field: 'key', reason: 'too_long' };
  if (entity !== 'officer' && entity !== 'financial') return given;
  const held = heldFact(entity, record);
  if ('problem' in held) return held.problem;
  return held.record === record ? given : { ...given, record: held.record };
}

function isStorable(text: string): boolean {
  return fitsIndex(text) && !text.includes('\0');
}
