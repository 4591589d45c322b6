/**
 * Takes people of a search: as an export of so many, so that what was paid has a page of its own in every tab, and a
 * file, and is never charged again for being looked at.
 */
import { countOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { joinParameters, readFilter, writeParameter } from '../search/filter-text.ts';
import { today } from '../search/search-name.ts';
import { createExport } from './create-export.ts';

interface People {
  /** The name of their search. */
  search: string;
  filter: string;
  /** The number of people that the user wants. */
  wanted: number;
  /** The number that can be paid for; credits end at their price. */
  payable: number;
}

/** Makes the export of up to so many people, and opens it. */
export function takePeople({ search, filter, wanted, payable: people }: People): Promise<void> {
  const body = {
    filter,
    name: `${search} · ${countOf(people, 'person', 'people')} · ${today()}`,
    max_results: people,
    max_credits: people * PERSON_PRICE,
  };
  return createExport(body, `${wanted} ${filter}`);
}

/** The filter of the people after this one; null where the filter itself asks for ids. */
export function filterAfter(filter: string, id: number): string | null {
  const parameters = readFilter(filter);
  const others = parameters.filter(({ name, text }) => name !== 'id' || !/^\d+-$/.test(text));
  if (others.some(({ name }) => name === 'id')) return null;
  return joinParameters([...others, writeParameter('id', `${id + 1}-`)]);
}
