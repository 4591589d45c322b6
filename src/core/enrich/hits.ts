/** Reads the result of a look-up, lines `<line> <code> <id>`, without making strings of it. */
import { CANDIDATES_MAX, type Hits } from './outcomes.ts';

const SPACE = 0x20;
const NEWLINE = 0x0a;
const ZERO = 0x30;

/** Parses the result of a look-up of `lines` values. Look-up lines count from 1 in it, from 0 in `Hits`. */
export function parseHits(answer: Buffer, lines: number): Hits {
  const first = new Int32Array(lines).fill(-1);
  const counts = new Int32Array(lines);
  const next: number[] = [];
  const codes: number[] = [];
  const ids: number[] = [];
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
      if (column === 2) {
        next.push(first[line - 1] ?? -1);
        first[line - 1] = ids.length;
        counts[line - 1] = (counts[line - 1] ?? 0) + 1;
        codes.push(code);
        ids.push(number);
      }
      column = 0;
      number = 0;
    } else {
      number = number * 10 + ((byte ?? ZERO) - ZERO);
    }
  }
  return {
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
