/** Compares two words of names. Pure and total. */
import { isInitial, soundAlike } from './latin.ts';
import { areNicknames } from './nicknames.ts';
import type { NameWord } from './person-name.ts';
import { isOneSlip } from './slips.ts';

/** Relations of two words, best first. */
export type WordLevel = 'equal' | 'sound' | 'nickname' | 'slip' | 'initial' | 'start' | 'none';

const SLIP_MIN = 4;
const START_MIN = 3;

/** Returns the relation of two words of names. */
export function relateWords(a: NameWord, b: NameWord): WordLevel {
  if (a.text === b.text || a.joined === b.joined) return 'equal';
  if (a.joined === b.text || a.text === b.joined) return 'equal';
  if (isInitial(a.text) || isInitial(b.text)) {
    return a.text.charCodeAt(0) === b.text.charCodeAt(0) ? 'initial' : 'none';
  }
  const shorter = Math.min(a.text.length, b.text.length);
  if (shorter >= START_MIN && soundAlike(a.text, b.text)) return 'sound';
  if (areNicknames(a.text, b.text)) return 'nickname';
  if (shorter >= SLIP_MIN && isOneSlip(a.text, b.text)) return 'slip';
  if (shorter >= START_MIN && (a.text.startsWith(b.text) || b.text.startsWith(a.text))) {
    return 'start';
  }
  return 'none';
}
