/**
 * What a response that nobody paid for may reveal about the people of the graph. Decided here, once, for every
 * endpoint; the reasons are in docs/threat-model.md, "What a free response may reveal". Pure.
 */
import { AppError } from '../lib/errors.ts';
import type { Condition, Filter } from '../search/parse.ts';

/** Fewer people than this are never counted for free: the response only says that they are fewer. */
export const FEW = 10;

/** A number of people as it may be told. */
export interface ToldTotal {
  total: number;
  /**
   * `exact`: that many. `about`: rounded to two digits, and never finer than tens. `below`: fewer than `total`,
   * perhaps none.
   */
  total_is: 'exact' | 'about' | 'below';
}

/** The number of people of a filter, before anything is paid. */
export function tellTotal(people: number): ToldTotal {
  if (people < FEW) return { total: FEW, total_is: 'below' };
  return { total: roundTo(stepOf(people), people), total_is: 'about' };
}

/**
 * How many of `people` people have each field, rounded as their total is. Nothing for few people: a field that
 * one of them has would be that person's.
 */
export function tellFields(
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

/** One person more or fewer shows only where the number crosses the middle of a step: once in `step` people. */
function stepOf(people: number): number {
  return Math.max(FEW, 10 ** (String(people).length - 2));
}

function roundTo(step: number, count: number): number {
  return Math.round(count / step) * step;
}

/**
 * Fields whose value names one person, or a household: what somebody already knows of a person and would look up
 * by. A free count that took them would answer questions about that person. Everything else describes groups.
 */
export const identifyingFields: ReadonlySet<string> = new Set([
  'id',
  'name',
  'surname',
  'birthDate',
  'domain',
  'email',
  'workEmail',
  'professional_network',
  'twitter',
  'social_aId',
  'social_aUsername',
  'summary',
  'locationGeo',
  'street',
  'ipAddress',
  'phone',
  'mobile',
  'profileImage',
  'profileImageMapping',
  'lastPost',
]);

/** The first parameter of a filter that names people by a value; null when the filter describes a group. */
export function identifyingParameter(filter: Filter): string | null {
  const found = filter.conditions.find(
    (condition) => identifyingFields.has(condition.field) && comparesValues(condition),
  );
  return found?.parameter ?? null;
}

/** False for a condition that only asks whether a field is there. */
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
      return false;
  }
}

/** Throws `AppError` 400 `identifying_filter` for a filter that names people: it is not counted for free. */
export function assertCountedForFree(filter: Filter): void {
  const field = identifyingParameter(filter);
  if (field === null) return;
  const message =
    'names people, who are not counted for free. Run the search itself: it charges 1 credit for each person it returns, and nothing when there is none';
  throw new AppError({
    code: 'identifying_filter',
    status: 400,
    message: `${field}: ${message}.`,
    errors: [{ field, position: 1, message }],
  });
}

/** The price of a list as it may be told before it is paid. */
export interface ToldQuote {
  /** Rows of each outcome; only those without a readable identifier where few rows match. */
  rows: Record<string, number>;
  credits: number;
  credits_is: 'exact' | 'at_most';
}

/** The price of a list by its counts of each outcome: exact, unless fewer than ten rows match. */
export function tellQuote(counts: Readonly<Record<string, number>>, price: number): ToldQuote {
  const { matched = 0, invalid = 0 } = counts;
  if (matched >= FEW) return { rows: { ...counts }, credits: matched * price, credits_is: 'exact' };
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const credits = Math.min(FEW - 1, rows - invalid) * price;
  return { rows: { invalid }, credits, credits_is: credits === 0 ? 'exact' : 'at_most' };
}

/**
 * How many rows agree with their records, of a list whose rows that disagree are misses and cost nothing: they are
 * counted only where at least ten do, and at most a fifth of all that were found. A list made to find out who is
 * stored would have to pay for four times as many.
 */
export function tellAgreement(
  agrees: Readonly<Record<string, number>>,
  matched: number,
): Record<string, number> {
  const { no = 0, ...others } = agrees;
  return no >= FEW && no * 4 <= matched ? { ...others, no } : others;
}
