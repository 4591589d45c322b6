/** The records of a build under those of its delta. */

import type { OpenRecords } from './open-records.ts';
import { idOf } from './record-block.ts';

/** Ids about which a delta knows, ascending. */
export class CoveredIds {
  readonly #ids: Float64Array;

  constructor(ids: Float64Array) {
    this.#ids = ids;
  }

  has(id: number): boolean {
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ids[middle] ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return this.#ids[low] === id;
  }
}

/**
 * Reads from the delta what it covers, and all else from the build. `furtherFrom` is the place of the delta's first further
 * text.
 */
export function layeredRecords(
  build: OpenRecords,
  delta: OpenRecords,
  covered: CoveredIds,
  furtherFrom: number,
): OpenRecords {
  return {
    find(value, buffers, visit) {
      const isAll = delta.find(value, buffers, visit);
      const isAllOfBuild = build.find(value, buffers, (code, block, at) => {
        if (!covered.has(idOf(block, at))) visit(code, block, at);
      });
      return isAll && isAllOfBuild;
    },

    forEach(ids, visit) {
      for (const [records, isCovered] of [
        [build, false],
        [delta, true],
      ] as const) {
        const indexes: number[] = [];
        const some = ids.filter((id, index) => {
          const isTheirs = covered.has(id) === isCovered;
          if (isTheirs) indexes.push(index);
          return isTheirs;
        });
        records.forEach(some, (index, ...found) => visit(indexes[index] ?? -1, ...found));
      }
    },

    readFurther(further, buffers) {
      return further.at < furtherFrom
        ? build.readFurther(further, buffers)
        : delta.readFurther({ ...further, at: further.at - furtherFrom }, buffers);
    },
  };
}
