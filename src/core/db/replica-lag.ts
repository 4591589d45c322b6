/**
 * How far a replica is behind, by this process's clock alone: where the primary was is noted with the time
 * it was asked, and a replica that has replayed up to a note knows everything that was committed before
 * it. Two servers' clocks never meet, and a primary on which nothing happens makes nobody late.
 */
import { assert } from '../lib/assert.ts';

interface Note {
  /** Byte position in the write-ahead log. */
  position: number;
  /** When the primary was last seen there, in milliseconds. */
  at: number;
}

/** Notes kept: at one every two seconds, what a replica may be behind to be told exactly is ten minutes. */
const NOTES_MAX = 300;

export class LagClock {
  /** By position, and so by time. */
  readonly #notes: Note[] = [];

  /** Notes where the primary is. */
  note(position: number, at: number): void {
    const last = this.#notes.at(-1);
    assert(last === undefined || at >= last.at, 'notes are taken in the order of time');
    // A position lower than before is that of another server under the same address, or of one restored.
    if (last !== undefined && position < last.position) this.#notes.length = 0;
    if (last?.position === position) last.at = at;
    else this.#notes.push({ position, at });
    if (this.#notes.length > NOTES_MAX) this.#notes.shift();
  }

  /**
   * Milliseconds that a replica is behind at most when it has replayed up to the position; infinite when it
   * has not reached the first note, so that nothing is known.
   */
  lagOf(replayed: number, now: number): number {
    const reached = this.#notes.findLast(({ position }) => position <= replayed);
    return reached === undefined ? Number.POSITIVE_INFINITY : now - reached.at;
  }
}
