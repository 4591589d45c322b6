/**
 * The person index: which records a part contains in which rows. It is a small object stored with the part, so
 * that the rows of a person who opts out later are found without their data. It holds pairs of numbers: row of
 * the part from 0, and id, of the match of a row or of a candidate. In results about companies the ids are companies whose officers are named, and,
 * negated, people among those officers.
 */

import type { Outcome } from '../../core/enrich/enrich-many.ts';
import { outputColumns, peopleOfMatch } from '../../core/enrich/match-data.ts';
import { subjectOf } from '../../core/operations.ts';
import type { Batch } from '../batch/batch.ts';

/** The subject of the ids in a batch's person index. */
export type IndexedSubject = 'person' | 'company';

/** The column of companies that contains people. */
export const DIRECTORS_COLUMN = 'company.directors';

/** The kind of people in the results of a batch; null for none. */
export function indexedSubject({
  operation,
  fields,
}: Pick<Batch, 'operation' | 'fields'>): IndexedSubject | null {
  if (subjectOf(operation) === 'person') return 'person';
  const columns = outputColumns(operation, fields);
  return columns.some(({ header }) => header === DIRECTORS_COLUMN) ? 'company' : null;
}

export interface IndexedRecord {
  row: number;
  id: number;
}

const PAIR_BYTES = 16;

/** Encodes the records in these outcomes. */
export function encodePersonIndex(subject: IndexedSubject, outcomes: readonly Outcome[]): Buffer {
  if (subject === 'company') return encodePairs(officersOf(outcomes));
  const pairs: IndexedRecord[] = [];
  for (const [row, { match, id, likely }] of outcomes.entries()) {
    if (match !== null) pairs.push({ row, id });
    else for (const candidate of likely?.candidates ?? []) pairs.push({ row, id: candidate.id });
  }
  return encodePairs(pairs);
}

/** Encodes pairs as bytes. */
export function encodePairs(pairs: readonly IndexedRecord[]): Buffer {
  const bytes = Buffer.allocUnsafe(pairs.length * PAIR_BYTES);
  let at = 0;
  for (const { row, id } of pairs) {
    at = bytes.writeDoubleLE(row, at);
    at = bytes.writeDoubleLE(id, at);
  }
  return bytes;
}

/** Decodes the pairs from bytes. */
export function decodePersonIndex(bytes: Buffer): IndexedRecord[] {
  const pairs: IndexedRecord[] = [];
  for (let at = 0; at + PAIR_BYTES <= bytes.length; at += PAIR_BYTES) {
    pairs.push({ row: bytes.readDoubleLE(at), id: bytes.readDoubleLE(at + 8) });
  }
  return pairs;
}

function officersOf(outcomes: readonly Outcome[]): IndexedRecord[] {
  const pairs: IndexedRecord[] = [];
  for (const [row, { match, id }] of outcomes.entries()) {
    if (match === null || match.directors === null) continue;
    pairs.push({ row, id });
    for (const person of peopleOfMatch(match)) pairs.push({ row, id: -person });
  }
  return pairs;
}
