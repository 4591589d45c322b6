/**
 * Measures replication lag with this process's clock alone. Each sample holds a position of the primary and the
 * time it was read; a replica that has replayed up to a sample knows everything that was committed before it. The
 * clocks of two servers are never compared, and an idle primary causes no lag.
 */
import { assert } from '../lib/assert.ts';

interface Sample {
  /** Byte position in the write-ahead log. */
  position: number;
  /** Last time the primary was seen there, in milliseconds. */
  at: number;
}

/** Samples kept. At one every two seconds, a lag of up to ten minutes is measured exactly. */
const SAMPLES_MAX = 300;

export class LagClock {
  /** In order of position, and so of time. */
  readonly #samples: Sample[] = [];

  /** Records the position of the primary. */
  sample(position: number, at: number): void {
    const last = this.#samples.at(-1);
    assert(last === undefined || at >= last.at, 'samples are taken in the order of time');
    // A lower position than before belongs to another server under the same address, or to a restored one.
    if (last !== undefined && position < last.position) this.#samples.length = 0;
    if (last?.position === position) last.at = at;
    else this.#samples.push({ position, at });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }

  /**
   * Returns the maximum milliseconds that a replica which has replayed up to the position is behind; infinite when
   * it has not reached the first sample, so that its lag is unknown.
   */
  lagOf(replayed: number, now: number): number {
    const reached = this.#samples.findLast(({ position }) => position <= replayed);
    return reached === undefined ? Number.POSITIVE_INFINITY : now - reached.at;
  }
}
