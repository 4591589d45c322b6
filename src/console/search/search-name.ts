/** A short name of a search, by what it asks for first: `Civil Engineer, Dentist · Germany`. */
import { now } from '../clock.ts';
import { countOf } from '../format.ts';
import { type ControlName, controls, findRowField } from './filter-fields.ts';
import { placeLabel, readForm } from './filter-form.ts';
import { useNamed } from './lookups.ts';
import { rangeLabel } from './range-list.tsx';

/** The controls that name a search, the most telling first. */
const telling: readonly ControlName[] = ['positionIds', 'positionList', 'industryIds', 'skills'];
const PARTS_MAX = 3;
const VALUES_MAX = 2;
const CHARACTERS_MAX = 80;

/** The name of a search; ids are numbers until their names are known. */
export function useSearchName(filter: string): string {
  const { values, rows } = readForm(filter);
  const of = (name: ControlName) => values.get(name) ?? [];
  const titles = useNamed('job-titles', of('positionIds'));
  const industries = useNamed('industries', of('industryIds'));
  const companies = useNamed('companies', of('companyId'));
  const cities = useNamed('locations', of('locationIds'));
  const words = (name: ControlName): string[] => {
    if (name === 'positionIds') return titles.map(({ label }) => label);
    if (name === 'industryIds') return industries.map(({ label }) => label);
    if (name === 'companyId') return companies.map(({ label }) => label);
    if (name === 'locationIds') return cities.map(({ label }) => label);
    if (name === 'locationList') return of(name).map(placeLabel);
    if (name === 'headCount') return of(name).map((range) => `${rangeLabel(range)} employees`);
    return [...of(name)];
  };
  const named = [...telling, 'companyId', 'locationIds', 'locationList', 'headCount'] as const;
  const parts = named.flatMap((name) => joined(words(name)));
  const others = [
    ...controls.filter(({ name }) => values.has(name) && !named.includes(name as never)),
    ...rows.map(({ name }) => ({ label: findRowField(name)?.label ?? name })),
  ].map(({ label }) => label);
  const shown = [...parts, ...(parts.length === 0 ? others : [])].slice(0, PARTS_MAX);
  const text = shown.length === 0 ? 'People' : shown.join(' · ');
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX - 1)}…` : text;
}

function joined(values: readonly string[]): string[] {
  if (values.length === 0) return [];
  const more = values.length - VALUES_MAX;
  const first = values.slice(0, VALUES_MAX).join(', ');
  return [more > 0 ? `${first} and ${countOf(more, 'other')}` : first];
}

/** The day in the name of a file: `2026-11-21`. */
export function today(): string {
  return new Date(now()).toLocaleDateString('sv');
}
