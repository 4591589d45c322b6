/** The messages between a process and the thread that reads its local copy. Buffers are handed over, not copied. */
import type { Entity, Manifest } from './manifest.ts';

export interface ThreadInput {
  folder: string;
  manifest: Manifest;
}

/**
 * The columns of a hit: positions in a row of `length` numbers. In the buffer, its record's block begins at `at`, and
 * `from` and `to` are the block's text, equal for a record without one.
 */
export const HIT = { line: 0, code: 1, buffer: 2, at: 3, from: 4, to: 5, length: 6 } as const;

/** The columns of a further text's place in its file. */
export const PLACE = { at: 0, bytes: 1, crc32: 2, length: 3 } as const;

/**
 * Look-ups of values, one a line; further texts at places; texts of records by id; buffers whose texts are no longer read.
 */
export type Request =
  | { id: number; entity: Entity; lines: string }
  | { id: number; entity: Entity; places: Float64Array }
  | TextsRequest
  | { used: ArrayBuffer[] };

export interface TextsRequest {
  id: number;
  entity: Entity;
  /** They ascend. */
  ids: Float64Array;
  /** Asks for further texts instead of those of the blocks. */
  further: boolean;
}

/** The records that have the values, in the order of the lines; none for `crowded` lines, which more have than are read. */
export interface LookUpAnswer {
  id: number;
  hits: Int32Array;
  /** The id of each hit's record. */
  ids: Float64Array;
  crowded: Int32Array;
  buffers: ArrayBuffer[];
}

/** For each place or record the index of a buffer, and where the text begins and ends there: equal for none. */
export interface TextsAnswer {
  id: number;
  texts: Int32Array;
  buffers: ArrayBuffer[];
}

/** The answer to the request with this id; 0 for the opening. */
export type Answer =
  | { id: 0; isOpen: true }
  | LookUpAnswer
  | TextsAnswer
  | { id: number; unusable: boolean; error: string };
