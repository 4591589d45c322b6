/** The messages between a process and the thread that reads its local copy. Buffers are handed over, not copied. */
import type { Manifest } from './manifest.ts';

export interface ThreadInput {
  folder: string;
  manifest: Manifest;
}

/**
 * The columns of a hit: positions in a row of `length` numbers. In the buffer, its person's block begins at `at`, and
 * `from` and `to` are the brief record, equal for a person without one.
 */
export const HIT = { line: 0, code: 1, buffer: 2, at: 3, from: 4, to: 5, length: 6 } as const;

/** The columns of a full record's place in its file. */
export const PLACE = { at: 0, bytes: 1, crc32: 2, length: 3 } as const;

/**
 * Look-ups of values, one a line; full records at places; records of people, whose ids ascend; buffers whose records are no longer read.
 */
export type Request =
  | { id: number; lines: string }
  | { id: number; places: Float64Array }
  | PeopleRequest
  | { used: ArrayBuffer[] };

export interface PeopleRequest {
  id: number;
  ids: Float64Array;
  brief: boolean;
}

/** The people who hold the values, in the order of the lines; none for `crowded` lines, which more hold than are read. */
export interface LookUpAnswer {
  id: number;
  hits: Int32Array;
  /** The id of each hit's person. */
  ids: Float64Array;
  crowded: Int32Array;
  buffers: ArrayBuffer[];
}

/** For each place or person the index of a buffer, and where the record begins and ends there: equal for none. */
export interface RecordsAnswer {
  id: number;
  records: Int32Array;
  buffers: ArrayBuffer[];
}

/** The answer to the request with this id; 0 for the opening. */
export type Answer =
  | { id: 0; isOpen: true }
  | LookUpAnswer
  | RecordsAnswer
  | { id: number; unusable: boolean; error: string };
