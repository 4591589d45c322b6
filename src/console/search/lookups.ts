/** Lookups of the values that a filter names by their ids, and the names of such ids. */

import { useEffect } from 'preact/hooks';
import type { Calls } from '../../client/api-types.ts';
import { call } from '../api.ts';
import type { Option } from '../components/combobox.tsx';
import { countOf } from '../format.ts';
import { session } from '../session.ts';
import { createStore, useStore } from '../store.ts';

export type LookupKind = 'job-titles' | 'locations' | 'industries' | 'companies';

/** Values of any lookup. */
export interface Lookup {
  data: (
    | Calls['GET /v1/lookups/job-titles']['response']['data'][number]
    | Calls['GET /v1/lookups/companies']['response']['data'][number]
  )[];
}
type LookupValue = Lookup['data'][number];

/** The lookup whose ids a parameter takes. */
export const lookupOf: Readonly<Record<string, LookupKind>> = {
  positionIds: 'job-titles',
  industryIds: 'industries',
  locationIds: 'locations',
  companyId: 'companies',
  'not.positionIds': 'job-titles',
  'not.industryIds': 'industries',
  'not.locationIds': 'locations',
  'not.companyId': 'companies',
};

export function lookupPath(kind: LookupKind, text: string): string {
  return `/v1/lookups/${kind}?${new URLSearchParams({ q: text.trim().slice(0, 200) })}`;
}

/** The values whose ids a list of ids takes; regions, countries and titles have other filters. */
const idTypes: ReadonlySet<LookupValue['type']> = new Set([
  'position',
  'city',
  'industry',
  'company',
]);

/** Values that were looked up, as they can be chosen by id. Their names are remembered. */
export function toOptions(kind: LookupKind, values: readonly LookupValue[]): Option[] {
  return values
    .filter(({ type }) => idTypes.has(type))
    .map(({ id, name, count }) => {
      known.set(`${placeOf(kind)} ${id}`, name);
      return { value: String(id), label: name, note: noteOf(count) };
    });
}

/** The service counts fewer than ten people as 0. */
function noteOf(people: number): string {
  return people === 0 ? 'fewer than 10 people' : `about ${countOf(people, 'person', 'people')}`;
}

/** Names by place and id; what has no name is its id. */
const known = new Map<string, string>();
/** Counts what was added to them. */
const learned = createStore(0);
const IDS_MAX = 100;

/** Live and test ids are not the same. */
function placeOf(kind: LookupKind): string {
  return `${session.get()?.key.mode} ${kind}`;
}

/** The values of a filter by id, with their names; those without, or not yet, are numbers. */
export function useNamed(kind: LookupKind, ids: readonly string[]): Option[] {
  useStore(learned);
  const place = placeOf(kind);
  const missing = ids.filter((id) => /^\d{1,9}$/.test(id) && !known.has(`${place} ${id}`));
  const asked = missing.slice(0, IDS_MAX).join(',');
  useEffect(() => {
    if (asked === '') return;
    const gone = new AbortController();
    call<Lookup>('GET', `/v1/lookups/${kind}?ids=${asked}`, { signal: gone.signal }).then(
      ({ data }) => {
        const names = new Map(data.map(({ id, name }) => [String(id), name]));
        for (const id of asked.split(',')) known.set(`${place} ${id}`, names.get(id) ?? `#${id}`);
        learned.set(learned.get() + 1);
      },
      // Without their names they stay what they are: numbers.
      () => {},
    );
    return () => gone.abort();
  }, [kind, place, asked]);
  return ids.map((id) => ({ value: id, label: known.get(`${place} ${id}`) ?? `#${id}` }));
}
