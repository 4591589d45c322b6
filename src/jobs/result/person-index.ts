/**
 * Which records a part shows in which rows, kept in a small object beside the part, so that the rows of
 * somebody who opts out later are found without their data. Pairs of numbers: row of the part from 0,
 * and id. In results about companies the ids are of companies whose officers are named, and, with a minus, of
 * people among those officers.
 */
import { outputColumns } from '../../core/enrich/answer.ts';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import { peopleOfAnswer } from '../../core/enrich/people-of-answer.ts';
import { subjectOf } from '../../core/operations.ts';
import type { Batch } from '../batch/batch.ts';

/** Whose ids stand beside the parts of a batch. */
export type IndexedSubject = 'person' | 'company';

/** The column of companies that holds people. */
export const directorsColumn = 'company.directors';

/** Whom the results of a batch show; null for nobody. */
export function indexedSubject({
  operation,
  fields,
}: Pick<Batch, 'operation' | 'fields'>): IndexedSubject | null {
  if (subjectOf(operation) === 'person') return 'person';
  const columns = outputColumns(operation, fields);
  return columns.some(({ header }) => header === directorsColumn) ? 'company' : null;
}

/** The key of the object beside a part. */
export function personIndexKey(partKey: string): string {
  return `${partKey}.ids`;
}

export interface IndexedRecord {
  row: number;
  id: number;
}

const PAIR_BYTES = 16;

/** The records that these outcomes show, as bytes. */
export function encodePersonIndex(subject: IndexedSubject, outcomes: readonly Outcome[]): Buffer {
  if (subject === 'company') return encodePairs(officersOf(outcomes));
  const bytes = Buffer.allocUnsafe(outcomes.length * PAIR_BYTES);
  let at = 0;
  for (const [row, { answer, id }] of outcomes.entries()) {
    if (answer === null) continue;
    at = bytes.writeDoubleLE(row, at);
    at = bytes.writeDoubleLE(id, at);
  }
  return bytes.subarray(0, at);
}

/** Pairs as bytes. */
export function encodePairs(pairs: readonly IndexedRecord[]): Buffer {
  const bytes = Buffer.allocUnsafe(pairs.length * PAIR_BYTES);
  let at = 0;
  for (const { row, id } of pairs) {
    at = bytes.writeDoubleLE(row, at);
    at = bytes.writeDoubleLE(id, at);
  }
  return bytes;
}

/** The pairs that these bytes hold. */
export function decodePersonIndex(bytes: Buffer): IndexedRecord[] {
  const pairs: IndexedRecord[] = [];
  for (let at = 0; at + PAIR_BYTES <= bytes.length; at += PAIR_BYTES) {
    pairs.push({ row: bytes.readDoubleLE(at), id: bytes.readDoubleLE(at + 8) });
  }
  return pairs;
}

function officersOf(outcomes: readonly Outcome[]): IndexedRecord[] {
  const pairs: IndexedRecord[] = [];
  for (const [row, { answer, id }] of outcomes.entries()) {
    if (answer === null || answer.directors === null) continue;
    pairs.push({ row, id });
    for (const person of peopleOfAnswer(answer)) pairs.push({ row, id: -person });
  }
  return pairs;
}
