/**
 * The person index: a small object stored with each part, from which the rows of a person who opts out later are found without
 * their data. It has pairs of numbers for the match of a row and for each candidate: the row of the part, from 0, and the id
 * of the record. In results about companies the ids are those of companies whose officers are named, and, negated, of the
 * people among these officers.
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
  const pairs = new PairWriter(outcomes.length);
  for (let row = 0; row < outcomes.length; row++) {
    const { match, id, likely } = outcomes[row] as Outcome;
    if (match !== null) pairs.add(row, id);
    else if (likely !== undefined) {
      for (const candidate of likely.candidates) pairs.add(row, candidate.id);
    }
  }
  return pairs.encoded();
}

export function encodePairs(pairs: readonly IndexedRecord[]): Buffer {
  const writer = new PairWriter(pairs.length);
  for (const { row, id } of pairs) writer.add(row, id);
  return writer.encoded();
}

/** Pairs as numbers, little endian like every machine that Node runs on: a part has thousands of them. */
class PairWriter {
  #numbers: Float64Array;
  #count = 0;

  constructor(pairs: number) {
    this.#numbers = new Float64Array(pairs * 2);
  }

  add(row: number, id: number): void {
    if (this.#count === this.#numbers.length) {
      const wider = new Float64Array(Math.max(64, this.#count * 2));
      wider.set(this.#numbers);
      this.#numbers = wider;
    }
    this.#numbers[this.#count++] = row;
    this.#numbers[this.#count++] = id;
  }

  encoded(): Buffer {
    const { buffer } = this.#numbers;
    return Buffer.from(buffer, 0, this.#count * Float64Array.BYTES_PER_ELEMENT);
  }
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
