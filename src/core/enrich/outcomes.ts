/**
 * What a row's identifiers come to, given what the graph holds for them. Pure: the rules of matching
 * in one place, for single calls and batches alike.
 */
import { companyIdentifierCodes, personIdentifierCodes } from '../graph/identifier-kinds.ts';
import type { IdentifierKind } from '../identifiers/identifier.ts';
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

/** What a list's own name or company says of a match. */
export type Agreement = 'yes' | 'no' | 'unknown';

/** One identifier of a row: its canonical values in the order to try. */
export interface RowIdentifier {
  kind: IdentifierKind;
  values: readonly string[];
}

/** A row ready for matching. The identifiers stand in order of trust. */
export interface RowInput {
  identifiers: RowIdentifier[];
  /** Why there is no identifier to try; null when there is one. */
  invalid: string | null;
}

/** What the graph holds for the values of many rows. Look-up line i is the i-th value of all rows. */
export interface Hits {
  /** How many (identifier code, record id) pairs hold the value of the line. */
  count(line: number): number;
  /** Code and id of one of them, 0 where there is none: all there is to know when `count` is 1. */
  anyCode(line: number): number;
  anyId(line: number): number;
  /** Calls back for each of them. */
  forEach(line: number, visit: (code: number, id: number) => void): void;
  /** True when the value belongs to more records than were read. */
  isCapped(line: number): boolean;
}

export interface Decision {
  status: 'matched' | 'no_match' | 'ambiguous';
  /** The matched record, or 0. */
  id: number;
  /** The kind that hit, lower trust named; '' when none did. */
  by: string;
  /** The canonical value that hit; '' when none did. */
  value: string;
  /** True when another identifier of the row points only to other records. */
  conflict: boolean;
  /** Records that are equally good, when ambiguous; a look-up stops counting at `candidatesMax`. */
  candidates: number;
}

/** Records that a look-up reads for one value at most: a switchboard shared by thousands is one answer. */
export const candidatesMax = 100;

/** Identifier codes that answer one kind at one level of trust. */
interface TrustLevel {
  by: string;
  codes: readonly number[];
}

const person = personIdentifierCodes;
const company = companyIdentifierCodes;

/**
 * Levels of trust of each kind, best first. One owner at a time holds a domain or a handle, so the
 * owner of today wins over one of lower trust. Names are not exclusive: see `sharedLevels`.
 */
const personLevels: Partial<Record<IdentifierKind, readonly TrustLevel[]>> = {
  professional_network: [{ by: 'professional_network', codes: [person.professional_network] }],
  email: [{ by: 'email', codes: [person.email, person.work_email] }],
  phone: [{ by: 'phone', codes: [person.phone] }],
  twitter: [
    { by: 'twitter', codes: [person.twitter] },
    { by: 'former_handle', codes: [person.former_handle] },
  ],
};

const companyLevels: Partial<Record<IdentifierKind, readonly TrustLevel[]>> = {
  registry_number: [{ by: 'registry_number', codes: [company.registry_number] }],
  domain: [
    { by: 'domain', codes: [company.domain] },
    { by: 'alias_domain', codes: [company.alias_domain] },
  ],
  professional_network: [{ by: 'professional_network', codes: [company.professional_network] }],
  phone: [{ by: 'phone', codes: [company.phone] }],
  name: [
    { by: 'name', codes: [company.name] },
    { by: 'alias_name', codes: [company.alias_name] },
    { by: 'former_name', codes: [company.former_name] },
  ],
};

/** E-mail verification is about work e-mails alone. */
const workEmailLevels: typeof personLevels = {
  email: [{ by: 'email', codes: [person.work_email] }],
};

/**
 * Kinds whose levels count together: two companies may bear a name, one today and one in the past, and
 * a list does not say which it means. So all levels give candidates, and the level only names the hit.
 */
const sharedLevels: ReadonlySet<IdentifierKind> = new Set<IdentifierKind>(['name']);

/** The levels of trust by which an operation reads each identifier kind. */
export function levelsOf(operation: OperationName): typeof personLevels {
  if (operation === 'people.email-verify') return workEmailLevels;
  return operations[operation].subject === 'person' ? personLevels : companyLevels;
}

interface ValueAnswer {
  ids: number[];
  by: string;
  capped: boolean;
}

/**
 * Decides one row. `firstLine` is the look-up line of the row's first value. The first identifier, in
 * order of trust, that belongs to exactly one record wins; one that several records share is never
 * guessed from. Nothing unique but something shared is ambiguous.
 */
export function decide(
  levels: typeof personLevels,
  row: RowInput,
  firstLine: number,
  hits: Hits,
): Decision {
  if (row.identifiers.length === 1 && row.identifiers[0]?.values.length === 1) {
    return decideOne(levels, row.identifiers[0], firstLine, hits);
  }
  const answers: ValueAnswer[] = [];
  let winner: (ValueAnswer & { value: string }) | undefined;
  let shared: ValueAnswer | undefined;
  let line = firstLine;
  for (const { kind, values } of row.identifiers) {
    for (const value of values) {
      const answer = answerOf(levels[kind] ?? [], sharedLevels.has(kind), line++, hits);
      if (answer === undefined) continue;
      answers.push(answer);
      // One record among many that were not all read is not known to be the only one.
      if (answer.ids.length === 1 && !answer.capped) winner ??= { ...answer, value };
      else shared ??= answer;
    }
  }
  if (winner !== undefined) {
    const id = winner.ids[0] ?? 0;
    const conflict = answers.some((other) => !other.capped && !other.ids.includes(id));
    const { by, value } = winner;
    return { status: 'matched', id, by, value, conflict, candidates: 1 };
  }
  if (shared !== undefined) {
    const { by, ids } = shared;
    return { status: 'ambiguous', id: 0, by, value: '', conflict: false, candidates: ids.length };
  }
  return noMatch;
}

const noMatch: Decision = Object.freeze({
  status: 'no_match',
  id: 0,
  by: '',
  value: '',
  conflict: false,
  candidates: 0,
});

/** The most frequent row: one identifier of one value. The same rules, without collecting anything. */
function decideOne(
  levels: typeof personLevels,
  { kind, values }: RowIdentifier,
  line: number,
  hits: Hits,
): Decision {
  const count = hits.count(line);
  if (count === 0) return noMatch;
  if (count === 1) return decideOnly(levels[kind] ?? [], values[0] ?? '', line, hits);
  const answer = answerOf(levels[kind] ?? [], sharedLevels.has(kind), line, hits);
  if (answer === undefined) return noMatch;
  const { ids, by, capped } = answer;
  const [id = 0] = ids;
  if (ids.length === 1 && !capped) {
    const [value = ''] = values;
    return { status: 'matched', id, by, value, conflict: false, candidates: 1 };
  }
  return { status: 'ambiguous', id: 0, by, value: '', conflict: false, candidates: ids.length };
}

/** A value that one record holds, under one code: of what a large list asks, nearly everything. */
function decideOnly(
  levels: readonly TrustLevel[],
  value: string,
  line: number,
  hits: Hits,
): Decision {
  const code = hits.anyCode(line);
  for (const { by, codes } of levels) {
    if (!codes.includes(code)) continue;
    const id = hits.anyId(line);
    return { status: 'matched', id, by, value, conflict: false, candidates: 1 };
  }
  return noMatch;
}

/** The records that hold one value, at the best level of trust, or undefined when none does. */
function answerOf(
  levels: readonly TrustLevel[],
  together: boolean,
  line: number,
  hits: Hits,
): ValueAnswer | undefined {
  if (hits.count(line) === 0) return undefined;
  let ids: number[] = [];
  let best = levels.length;
  let worst = -1;
  hits.forEach(line, (code, id) => {
    const level = levels.findIndex((candidate) => candidate.codes.includes(code));
    worst = Math.max(worst, level);
    if (level === -1 || (level > best && !together)) return;
    if (level < best) {
      best = level;
      if (!together) ids = [];
    }
    if (!ids.includes(id)) ids.push(id);
  });
  const level = levels[best];
  if (level === undefined) return undefined;
  // Look-ups read levels of higher trust first: where a lower one was reached, this one is complete.
  const capped = hits.isCapped(line) && (together || worst === best);
  return { ids, by: level.by, capped };
}
