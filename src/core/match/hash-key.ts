/**
 * The number under which a key of a name is stored: 48 bits of a hash, then the kind. Two keys with one number only
 * cost a comparison, because candidates are compared by their names.
 */

/** Kinds of keys; stored in the last three bits, so never renumbered. */
export const keyKinds = {
  /** A given name and a family name. */
  pair: 0,
  family: 1,
  given: 2,
  /** A word of a name at an employer. */
  employer: 3,
  /** Anything that finds a company. */
  company: 4,
  /** A word of a company's name, for its frequency. */
  companyWord: 5,
  /** The people of a company, for their number. */
  staff: 6,
} as const;
export type KeyKind = keyof typeof keyKinds;

const KINDS = 8;
const HIGH_BITS = 0x1_0000;
const LOW_WORD = 0x1_0000_0000;
/** All keys are below it. */
export const KEYS_END = HIGH_BITS * LOW_WORD * KINDS;

/** Returns the number of a key; the same on every machine. `skipped` is the place of a letter that is left out. */
export function hashKey(kind: KeyKind, text: string, skipped = -1): number {
  let high = 0xdeadbeef ^ keyKinds[kind];
  let low = 0x41c6ce57 ^ keyKinds[kind];
  for (let at = 0; at < text.length; at++) {
    if (at === skipped) continue;
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (((high >>> 0) % HIGH_BITS) * LOW_WORD + (low >>> 0)) * KINDS + keyKinds[kind];
}

export function kindOfKey(key: number): number {
  // Exact, and several times as fast as the remainder of doubles.
  return key - Math.floor(key / KINDS) * KINDS;
}

/** Returns the key of the people of a company. */
export function staffKey(company: number): number {
  return company * KINDS + keyKinds.staff;
}
