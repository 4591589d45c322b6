/**
 * Limits what an unpaid response may reveal about the people of the graph. Decided here, once, for every endpoint;
 * the reasons are in docs/threat-model.md, "What a free response may reveal". Pure.
 */
import { z } from 'zod';
import type { Outcome } from '../enrich/enrich-many.ts';
import { identifierFieldsOf } from '../graph/import/identifiers-of.ts';
import { AppError } from '../lib/errors.ts';
import { PERSON_PRICE_TEXT } from '../operations.ts';
import type { Condition, Filter } from '../search/parse.ts';

/** Fewer people than this are never counted for free: the response only states that they are fewer. */
export const FEW = 10;

/** How a total is to be read. */
export const totalIsSchema = z.enum(['exact', 'about', 'below']).meta({
  description:
    '`exact`: that many. `about`: rounded to two digits, and never finer than tens. `below`: fewer than `total`, perhaps none.',
});

/** A number of people as a free response discloses it. */
export interface DisclosedTotal {
  total: number;
  total_is: z.output<typeof totalIsSchema>;
}

/** Returns the number of people of a filter, before any payment. */
export function discloseTotal(people: number): DisclosedTotal {
  if (people < FEW) return { total: FEW, total_is: 'below' };
  return { total: roundTo(stepOf(people), people), total_is: 'about' };
}

/** Returns how many people have a value of a lookup: 0 for fewer than ten. */
export function discloseCount(people: number): number {
  return people < FEW ? 0 : roundTo(stepOf(people), people);
}

/**
 * Returns how many of `people` people have each field, rounded like their total. Nothing for few people: a field
 * that one of them has would identify that person.
 */
export function discloseFields(
  people: number,
  counts: readonly (readonly [field: string, people: number])[],
): Record<string, number> {
  if (people < FEW) return {};
  const step = stepOf(people);
  const total = roundTo(step, people);
  return Object.fromEntries(
    counts.map(([field, count]) => [field, Math.min(total, roundTo(step, count))]),
  );
}

/** One person more or fewer only shows when the number crosses the middle of a step: once in `step` people. */
function stepOf(people: number): number {
  return Math.max(FEW, 10 ** (String(people).length - 2));
}

function roundTo(step: number, count: number): number {
  return Math.round(count / step) * step;
}

/**
 * Fields whose value identifies one person or a household: values that a caller may already know and look up by. A
 * free count by them would answer questions about that person. All other fields describe groups.
 */
export const identifyingFields: ReadonlySet<string> = new Set([
  ...identifierFieldsOf('person'),
  'id',
  'name',
  'surname',
  'birthDate',
  'domain',
  'social_aId',
  'social_aUsername',
  'summary',
  'locationGeo',
  'street',
  'ipAddress',
  'profileImage',
  'profileImageMapping',
  'lastPost',
]);

/**
 * Returns the first parameter of a filter that identifies people by a value; null when the filter describes a
 * group.
 */
export function identifyingParameter(filter: Filter): string | null {
  const found = filter.conditions.find(
    (condition) => identifyingFields.has(condition.field) && comparesValues(condition),
  );
  return found?.parameter ?? null;
}

/** Returns false for a condition that only checks whether a field is present. */
function comparesValues(condition: Condition): boolean {
  switch (condition.node) {
    case 'text':
    case 'words':
    case 'skills':
      return condition.texts.length > 0;
    case 'integer':
    case 'overlap':
    case 'age':
      return condition.ranges.length > 0;
    case 'time':
      return condition.spans.length > 0;
    case 'place':
      return condition.places.length > 0;
    case 'object':
    case 'anyPresent':
    case 'owned':
      return false;
  }
}

/** Throws `AppError` 400 `identifying_filter` for a filter that identifies people: it is not counted for free. */
export function assertCountedForFree(filter: Filter): void {
  const field = identifyingParameter(filter);
  if (field === null) return;
  const message = `identifies people, who are not counted for free. Run the search itself: it charges ${PERSON_PRICE_TEXT} for each person it returns, and nothing when it returns none`;
  throw new AppError({
    code: 'identifying_filter',
    status: 400,
    message: `${field}: ${message}.`,
    errors: [{ field, position: 1, message }],
  });
}

/** Digits of the largest id, and a newline. */
const ID_BYTES_MAX = 11;

/**
 * Returns the bytes that the ids of an export count as in what its account stores: those of the maximum number of
 * people. The size of the ids that were found would count these people before anything is paid.
 */
export function countedIdBytes(peopleMax: number): number {
  return peopleMax * ID_BYTES_MAX;
}

/** The price of a list as disclosed before payment. */
export interface DisclosedQuote {
  /** Rows of each outcome; only those without a readable identifier when few rows match. */
  rows: Record<string, number>;
  /** Of the matched rows, those that cost nothing because the account owns the person; 0 where few rows match. */
  owned: number;
  credits: number;
  credits_is: 'exact' | 'at_most';
}

/**
 * Returns the price of a list from its counts of each outcome, and of the matched rows that cost nothing: exact, unless
 * fewer than ten rows match. Of few rows, a repeated one would tell that two identifiers belong to one person.
 */
export function discloseQuote(
  counts: Readonly<Record<string, number>>,
  owned: number,
  price: number,
): DisclosedQuote {
  const { matched = 0, invalid = 0 } = counts;
  if (matched >= FEW) {
    const credits = (matched - owned) * price;
    return { rows: { ...counts }, owned, credits, credits_is: 'exact' };
  }
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const credits = Math.min(FEW - 1, rows - invalid) * price;
  return { rows: { invalid }, owned: 0, credits, credits_is: credits === 0 ? 'exact' : 'at_most' };
}

/**
 * Returns how many rows agree with their records, for a list whose disagreeing rows are misses and cost nothing.
 * Rows that disagree are counted only when at least ten agree and at most a fifth of all found rows disagree. A
 * list made to probe who is stored would have to pay for four times as many.
 */
export function discloseAgreement(
  agrees: Readonly<Record<string, number>>,
  matched: number,
): Record<string, number> {
  const { no = 0, ...others } = agrees;
  return no >= FEW && no * 4 <= matched ? { ...others, no } : others;
}

/** Rows that are sent together and may name the same record without a payment: a list of contacts rarely has more. */
const UNPAID_TELLINGS_MAX = 3;

/**
 * Returns the outcomes of rows that were sent together, as they are told where so many of them were charged. Whether
 * several people fit a name and a guessed city, title or company answers a question about each of them, and so does a miss
 * among ambiguous rows. So a record is named in three such rows, and in as many more as matches were charged; and of all such
 * rows as many are told as matches were charged, and `unpaidMax` more. The others are told as misses. A name alone only tells
 * how many share it.
 */
export function tellAmbiguous<One extends Outcome | undefined>(
  outcomes: readonly One[],
  charged: number,
  unpaidMax = Number.POSITIVE_INFINITY,
): (One | Outcome)[] {
  let leftOfRecords = charged;
  let left = charged + unpaidMax;
  const tellings = new Map<number, number>();
  return outcomes.map((outcome) => {
    const { untold, candidates = [] } = outcome?.likely ?? {};
    if (untold === undefined) return outcome;
    const ids = candidates.map(({ id }) => id);
    const isRepeated = ids.some((id) => (tellings.get(id) ?? 0) >= UNPAID_TELLINGS_MAX);
    if ((isRepeated && --leftOfRecords < 0) || --left < 0) return untold;
    for (const id of ids) tellings.set(id, (tellings.get(id) ?? 0) + 1);
    return outcome;
  });
}

/**
 * Returns the outcome as it is told where it costs nothing. Whether another identifier of the row is stored is told with a
 * charged match alone: next to an identifier of a person who is paid already, a million others could be asked about for free.
 */
export function withoutConflict(outcome: Outcome): Outcome {
  return outcome.conflict ? { ...outcome, conflict: false } : outcome;
}

/** Returns how many rows `tellAmbiguous` has told beyond the matches that were charged. */
export function countUnpaidTellings(
  told: readonly (Outcome | undefined)[],
  charged: number,
): number {
  const ambiguous = told.filter((one) => one?.likely?.untold !== undefined);
  return Math.max(0, ambiguous.length - charged);
}

/**
 * Returns true when the candidates of a list's ambiguous rows may be described: the list was charged for as many matches
 * as it has ambiguous rows. In test mode nothing is charged, and matches count.
 */
export function mayDescribeCandidates(list: {
  matched: number;
  owned: number;
  ambiguous: number;
}): boolean {
  return list.matched - list.owned >= list.ambiguous;
}
