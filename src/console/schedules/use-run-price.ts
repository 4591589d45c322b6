/** The credits that a run of a schedule costs at most, by its limits and what its search finds today. */
import { countOf, mostOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { addressable } from '../search/filter-text.ts';
import type { Preview } from '../search/preview-panel.tsx';
import { useAsTyped } from '../use-as-typed.ts';

interface Limits {
  maxResults: number | null;
  maxCredits: number | null;
}

export interface RunPrice {
  /** By the limits alone; infinite without one. */
  most: number;
  /** Also by what is found, whose number is rounded; infinite while neither is known. */
  credits: number;
  /** True while people are counted. */
  isPending: boolean;
  /** The same in words: `54 credits`. */
  said: string;
}

export function useRunPrice(filter: string, { maxResults, maxCredits }: Limits): RunPrice {
  const preview = useAsTyped<Preview>(
    filter === '' ? null : `/personsearch/preview?${addressable(filter)}`,
  );
  const found = preview.problem === null ? preview.data : undefined;
  const most = Math.min(
    (maxResults ?? Number.POSITIVE_INFINITY) * PERSON_PRICE,
    maxCredits ?? Number.POSITIVE_INFINITY,
  );
  const whole = found === undefined ? Number.POSITIVE_INFINITY : mostOf(found) * PERSON_PRICE;
  const credits = Math.min(most, whole);
  const said = countOf(credits, 'credit');
  const isPending = preview.problem === null && found === undefined;
  return { most, credits, isPending, said };
}
