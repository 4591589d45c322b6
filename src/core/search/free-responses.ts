/**
 * Limits what an unpaid count or search may reveal about the people of the graph. Decided here, once, for every endpoint,
 * and for the rows of lists in `enrich/free-outcomes.ts`; the reasons are in docs/threat-model.md, "What a free response may
 * reveal". Pure.
 */
import { z } from 'zod';
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

/** Returns the most people that a disclosed number stands for. */
export function mostOf({ total, total_is }: DisclosedTotal): number {
  if (total_is === 'exact') return total;
  return (total_is === 'below' ? total : total + stepOf(total) / 2) - 1;
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
