import type { Problem } from '../problem.ts';
import { findControl, findRowField } from './filter-fields.ts';
import { readFilter, readItems } from './filter-text.ts';

/** Returns the message of a problem for one parameter of the filter, with the value that it is about. */
export function conditionError(
  problem: Problem | null,
  filter: string,
  name: string,
): string | undefined {
  const found = problem?.errors.find(({ field }) => field === name || field === `filter.${name}`);
  if (found === undefined || name === '') return undefined;
  const { message, position = 1 } = found;
  const own = readFilter(filter).filter((parameter) => parameter.name === name);
  const [first] = own;
  const isKnown = findControl(name) !== undefined || findRowField(name) !== undefined;
  // A position that is not inside the value.
  if (!isKnown || first === undefined || own.length > 1 || !first.raw.includes('=')) {
    return `“${name}” ${message}.`;
  }
  const commas = findControl(name)?.kind === 'ids';
  const item = readItems(first.text, { commas })?.findLast((one) => one.position <= position);
  return item === undefined
    ? `At character ${position}: ${message}.`
    : `“${item.text}” ${message}.`;
}
