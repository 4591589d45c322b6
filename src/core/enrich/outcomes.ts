/**
 * Decides the outcome of a row's identifiers, given what the graph holds for them. Pure: the rules of matching in
 * one place, for single calls and batches alike.
 */
import {
  companyCodes,
  type KindCode,
  personCodes,
  personIdentifierCodes,
} from '../graph/identifier-kinds.ts';
import { type IdentifierKind, identifierKinds, kindNames } from '../identifiers/identifier.ts';
import type { LikelyCells } from '../likely/likely-row.ts';
import type { OperationName } from '../operations.ts';
import { operations } from '../operations.ts';

/** Every row gets exactly one of these. */
export const outcomeStatuses = [
  'matched',
  'no_match',
  'ambiguous',
  'invalid',
  'suppressed',
  'duplicate',
  'error',
  'not_processed',
] as const;
export type OutcomeStatus = (typeof outcomeStatuses)[number];

/** Agreement of a list's own name or company with a match. */
export type Agreement = 'yes' | 'no' | 'unknown';

/** One identifier of a row: its canonical values in the order to try. */
export interface RowIdentifier {
  kind: IdentifierKind;
  values: readonly string[];
}

/** A row ready for matching. The identifiers are in order of trust. */
export interface RowInput {
  identifiers: RowIdentifier[];
  /** Reason why there is no identifier to try; null when there is one. */
  invalid: string | null;
  /** The name that the row gives a company, as written: the value that is looked up leaves its legal form out. */
  companyName?: string;
  /** The name of the person that a call states. A list compares its own with the matches: see `EnrichOptions`. */
  personName?: string;
  /** The domain is that of an email address, which may be at another company than the row names. */
  isDomainOfAddress?: true;
  /** ISO 3166 alpha-2 country that the row itself states, for companies. */
  country?: string | null;
  /** Cells for a likely match; absent when none is wanted. */
  likely?: LikelyCells;
  /** The record that a decision of the caller names, 0 for none: it is not looked up. */
  decided?: number;
}

/** The graph's records for the values of many rows. Look-up line i is the i-th value of all rows. */
export interface Hits {
  /** Returns how many (identifier code, record id) pairs hold the value of the line. */
  count(line: number): number;
  /** Returns the code and id of one of them, 0 when there is none: complete when `count` is 1. */
  anyCode(line: number): number;
  anyId(line: number): number;
  /** Calls back for each of them. */
  forEach(line: number, visit: (code: number, id: number) => void): void;
  /** Returns true when the value belongs to more records than were read. */
  isCapped(line: number): boolean;
}

export interface Decision {
  status: 'matched' | 'no_match' | 'ambiguous';
  /** The matched record, or 0. */
  id: number;
  /** The kind that matched, named by its level of trust; '' when none did. */
  by: string;
  /** The canonical value that matched; '' when none did. */
  value: string;
  /** True when another identifier of the row points only to other records. */
  conflict: boolean;
  /** Number of equally good records, when ambiguous; a look-up stops counting at `CANDIDATES_MAX`. */
  candidates: number;
  /** True when there may be more of them. */
  areCandidatesCut: boolean;
}

/** Identifier codes that find one kind at one level of trust. */
interface TrustLevel {
  by: string;
  codes: number[];
  /** Counts only when no better level has a record, even for a kind whose levels count together. */
  isApart?: true;
}

/** Levels of trust of the kinds that an operation takes. */
type Levels = Readonly<Partial<Record<IdentifierKind, readonly TrustLevel[]>>>;

/**
 * Levels of trust of each kind, best first. A domain or a handle has one owner at a time, so the current owner
 * wins over one of lower trust. Names are not exclusive: see `sharedLevels`.
 */
const personLevels = levelsOfCodes(personCodes);
const companyLevels = levelsOfCodes(companyCodes);

function levelsOfCodes(codes: readonly KindCode[]): Levels {
  const levels: Partial<Record<IdentifierKind, TrustLevel[]>> = {};
  for (const { kind, name, by = name, code, isOfDissolved } of codes) {
    levels[kind] ??= [];
    const last = levels[kind].at(-1);
    if (isOfDissolved) levels[kind].push({ by, codes: [code], isApart: true });
    else if (last?.by === by) last.codes.push(code);
    else levels[kind].push({ by, codes: [code] });
  }
  return levels;
}

/** Email verification only concerns work emails. */
const workEmailLevels: Levels = {
  email: [{ by: 'email', codes: [personIdentifierCodes.work_email] }],
};

/** Kinds whose levels count together: all of them give candidates, and the level only names the match. */
const sharedLevels: ReadonlySet<IdentifierKind> = new Set(
  kindNames.filter((kind) => identifierKinds[kind].isShared),
);

/** Returns the levels of trust by which an operation reads each identifier kind. */
export function levelsOf(operation: OperationName): Levels {
  if (operation === 'people.email-verify') return workEmailLevels;
  return operations[operation].subject === 'person' ? personLevels : companyLevels;
}

/** Records that a row does not mean although they hold its identifier of a kind. */
export type LeftOut = Readonly<Partial<Record<IdentifierKind, ReadonlySet<number> | undefined>>>;

interface ValueAnswer {
  ids: number[];
  by: string;
  capped: boolean;
}

/**
 * Decides one row. `firstLine` is the look-up line of the row's first value. The first identifier, in order of
 * trust, that belongs to exactly one record wins; an identifier that several records share never picks one of
 * them. If nothing is unique but something is shared, the row is ambiguous. Records in `rejected` count as not stored,
 * those in `leftOut` as not found by an identifier of that kind.
 */
export function decide(
  levels: Levels,
  row: RowInput,
  firstLine: number,
  hits: Hits,
  rejected: ReadonlySet<number> = none,
  leftOut: LeftOut = nothing,
): Decision {
  const [only] = row.identifiers;
  const isPlain = rejected.size === 0 && leftOut === nothing;
  if (row.identifiers.length === 1 && only?.values.length === 1 && isPlain) {
    return decideOne(levels, only, firstLine, hits);
  }
  const answers: ValueAnswer[] = [];
  let winner: (ValueAnswer & { value: string }) | undefined;
  let shared: ValueAnswer | undefined;
  let line = firstLine;
  for (const { kind, values } of row.identifiers) {
    const together = sharedLevels.has(kind);
    const own = leftOut[kind];
    const excluded = own === undefined ? rejected : new Set([...rejected, ...own]);
    for (const value of values) {
      const answer = answerOf(levels[kind] ?? [], together, line++, hits, excluded);
      if (answer === undefined) continue;
      answers.push(answer);
      // A single record is not known to be unique when some records were not read.
      if (answer.ids.length === 1 && !answer.capped) winner ??= { ...answer, value };
      else shared ??= answer;
    }
  }
  if (winner !== undefined) {
    const id = winner.ids[0] ?? 0;
    const conflict = answers.some((other) => !other.capped && !other.ids.includes(id));
    return matchedBy(winner.by, id, winner.value, conflict);
  }
  if (shared !== undefined) {
    return ambiguous(shared);
  }
  return noMatch;
}

const none: ReadonlySet<number> = new Set();
const nothing: LeftOut = {};

/** The decision for a row that no record fits. */
export const noMatch: Decision = Object.freeze({
  status: 'no_match',
  id: 0,
  by: '',
  value: '',
  conflict: false,
  candidates: 0,
  areCandidatesCut: false,
});

function ambiguous({ by, ids, capped }: Pick<ValueAnswer, 'by' | 'ids' | 'capped'>): Decision {
  const candidates = { candidates: ids.length, areCandidatesCut: capped };
  return { status: 'ambiguous', id: 0, by, value: '', conflict: false, ...candidates };
}

/** The most frequent row: one identifier of one value. The same rules, without collecting anything. */
function decideOne(
  levels: Levels,
  { kind, values }: RowIdentifier,
  line: number,
  hits: Hits,
): Decision {
  const count = hits.count(line);
  if (count === 0) return noMatch;
  if (count === 1) return decideOnly(levels[kind] ?? [], values[0] ?? '', line, hits);
  const answer = answerOf(levels[kind] ?? [], sharedLevels.has(kind), line, hits, none);
  if (answer === undefined) return noMatch;
  const { ids, by, capped } = answer;
  const [id = 0] = ids;
  if (ids.length === 1 && !capped) return matchedBy(by, id, values[0] ?? '');
  return ambiguous(answer);
}

/** Returns the decision for exactly one record. `by` and `value` are what found it. */
export function matchedBy(by: string, id: number, value = '', conflict = false): Decision {
  return { status: 'matched', id, by, value, conflict, candidates: 1, areCandidatesCut: false };
}

/** A value that one record holds, under one code: nearly every value of a large list. */
function decideOnly(
  levels: readonly TrustLevel[],
  value: string,
  line: number,
  hits: Hits,
): Decision {
  const code = hits.anyCode(line);
  for (const { by, codes } of levels) {
    if (codes.includes(code)) return matchedBy(by, hits.anyId(line), value);
  }
  return noMatch;
}

/** Returns the records that hold one value, at the best level of trust; undefined when none does. */
function answerOf(
  levels: readonly TrustLevel[],
  together: boolean,
  line: number,
  hits: Hits,
  rejected: ReadonlySet<number>,
): ValueAnswer | undefined {
  if (hits.count(line) === 0) return undefined;
  let ids: number[] = [];
  let best = levels.length;
  let worst = -1;
  hits.forEach(line, (code, id) => {
    if (rejected.has(id)) return;
    const level = levels.findIndex((candidate) => candidate.codes.includes(code));
    worst = Math.max(worst, level);
    const isApart = !together || levels[level]?.isApart === true;
    if (level === -1 || (level > best && isApart)) return;
    if (level < best) {
      if (!together || levels[best]?.isApart === true) ids = [];
      best = level;
    }
    if (!ids.includes(id)) ids.push(id);
  });
  const level = levels[best];
  if (level === undefined) return undefined;
  // Look-ups read levels of higher trust first: when a lower one was reached, this one is complete.
  const capped = hits.isCapped(line) && (together || worst === best);
  return { ids, by: level.by, capped };
}
