/** The records that hold the values of a look-up. */
import { copyInto } from '../lib/wider-numbers.ts';
import { CANDIDATES_MAX } from './candidates-max.ts';
import type { Hits } from './outcomes.ts';

const SPACE = 0x20;
const NEWLINE = 0x0a;
const ZERO = 0x30;

/** Hits that a reader adds one by one, at most `CANDIDATES_MAX` for each line. */
export interface HitList extends Hits {
  add(line: number, code: number, id: number): void;
}

/** Returns an empty list of hits for so many values. Their lines count from 0. */
export function openHits(lines: number): HitList {
  const first = new Int32Array(lines).fill(-1);
  const counts = new Int32Array(lines);
  let next = new Int32Array(lines);
  let codes = new Uint8Array(lines);
  let ids = new Float64Array(lines);
  let hits = 0;
  const grow = () => {
    const length = Math.max(64, hits * 2);
    next = copyInto(new Int32Array(length), next);
    codes = copyInto(new Uint8Array(length), codes);
    ids = copyInto(new Float64Array(length), ids);
  };
  return {
    add(line, code, id) {
      if (hits === next.length) grow();
      next[hits] = first[line] ?? -1;
      first[line] = hits;
      counts[line] = (counts[line] ?? 0) + 1;
      codes[hits] = code;
      ids[hits++] = id;
    },
    forEach(wanted, visit) {
      for (let hit = first[wanted] ?? -1; hit !== -1; hit = next[hit] ?? -1) {
        visit(codes[hit] ?? 0, ids[hit] ?? 0);
      }
    },
    count: (wanted) => counts[wanted] ?? 0,
    anyCode: (wanted) => codes[first[wanted] ?? -1] ?? 0,
    anyId: (wanted) => ids[first[wanted] ?? -1] ?? 0,
    isCapped: (wanted) => (counts[wanted] ?? 0) >= CANDIDATES_MAX,
  };
}

/**
 * Parses the result of a look-up of `lines` values, lines `<line> <code> <id>` that count from 1, without making strings
 * of it.
 */
export function parseHits(answer: Buffer, lines: number): Hits {
  const hits = openHits(lines);
  let line = 0;
  let code = 0;
  let number = 0;
  let column = 0;
  for (let at = 0; at <= answer.length; at++) {
    const byte = at === answer.length ? NEWLINE : answer[at];
    if (byte === SPACE) {
      if (column === 0) line = number;
      else code = number;
      column++;
      number = 0;
    } else if (byte === NEWLINE) {
      if (column === 2) hits.add(line - 1, code, number);
      column = 0;
      number = 0;
    } else {
      number = number * 10 + ((byte ?? ZERO) - ZERO);
    }
  }
  return hits;
}
