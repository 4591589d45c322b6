/**
 * Random small graphs and random filters over them. Each filter is a query string and an independent predicate on
 * a record: nothing of the parser or the compiler is used.
 */
import fc from 'fast-check';
import { fold as foldText } from '../lib/fold.ts';

type Json = Record<string, unknown>;

/** A generated graph, in the form of the import. */
export type DrawnGraph = Record<
  'countries' | 'regions' | 'cities' | 'positions' | 'industries' | 'companies' | 'persons',
  Json[]
>;

/** A person as the API returns it, with the company. */
export interface Subject {
  person: Json;
  company: { headCount: string | null; employees: number | null } | null;
}

export interface DrawnFilter {
  query: string;
  matches(subject: Subject): boolean;
}

const names = [
  'Ada',
  'ada',
  'ÁDA',
  'Bob',
  'Zoë',
  'null',
  'a|b',
  'C++',
  'x,y',
  'Łukasz',
  'lukasz',
  'Weiß',
  'WEISS',
  'O’Brien',
  "o'brien",
  '東京',
];
const titles = ['Engineer', 'engineer', 'CEO/Founder', 'Head of R&D', 'Öl-Prüfer'];
const skillWords = ['SQL', 'sql', 'C++', 'Node.js', 'Öl', 'a|b', 'Team work'];
const countries = [
  { id: 1, name: 'United Kingdom', iso2: 'GB' },
  { id: 2, name: 'France', iso2: 'FR' },
];
const cities = [
  { id: 10, name: 'London', countryId: 1, regionId: 5, createdAt: '2020-01-01T00:00:00' },
  { id: 11, name: 'Orléans', countryId: 2, createdAt: '2021-06-01T12:00:00' },
  { id: 12, name: 'London', countryId: 2 },
  { id: 13, name: 'Bonn', countryId: 3, regionId: 6 },
];
const ranges = ['1-9', '10-49', '50-249', '10,001+', null];

const absentOr = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });
const idOf = (ids: number[]) => absentOr(fc.constantFrom(...ids));
const day = fc.constantFrom('2024-01-01T00:00:00', '2024-01-01T23:59:59', '2024-01-02T00:00:00');
const reference = fc.constantFrom({ id: 7, name: 'Past Ltd' }, { id: 8, name: 'OLD co' });

const person = fc.record({
  name: absentOr(fc.constantFrom(...names)),
  surname: absentOr(fc.constantFrom(...names)),
  gender: absentOr(fc.constantFrom('male', 'female')),
  birthYear: absentOr(fc.integer({ min: 1940, max: 2010 })),
  birthDate: absentOr(fc.constantFrom('1980-05-03', '1990-12-31')),
  email: absentOr(fc.constantFrom('a@b.example', 'B@b.example', 'c@d.example')),
  workEmail: absentOr(fc.constantFrom('w@w.example')),
  twitter: absentOr(fc.constantFrom('ada_x')),
  social_aId: absentOr(fc.constantFrom('42')),
  phone: absentOr(fc.constantFrom('+441632960001', '+441632960002')),
  mobile: absentOr(fc.constantFrom('+447700900001')),
  position: absentOr(fc.constantFrom(...titles)),
  positionId: idOf([20, 21, 22]),
  industryId: idOf([30, 31, 32]),
  cityId: idOf([10, 11, 12, 13, 99]),
  countryId: idOf([1, 2, 3, 99]),
  regionId: idOf([5, 6]),
  companyId: idOf([100, 101, 102, 999]),
  pastCompanies: absentOr(fc.array(reference, { maxLength: 2 })),
  school: absentOr(fc.constantFrom('University of X')),
  experience: absentOr(fc.constantFrom('Clerk at B, then C++ at É', 'clerk; b', '!!!')),
  inferredYearsExperience: absentOr(fc.integer({ min: 1, max: 12 })),
  inferredSalary: absentOr(fc.constantFrom('45,000-55,000', '55,000-70,000', '250000', 'much')),
  skills: absentOr(fc.subarray(skillWords, { minLength: 1 }).map((list) => list.join(' , '))),
  dataSourceType: absentOr(fc.integer({ min: 1, max: 3 })),
  bounceResponseType: absentOr(fc.integer({ min: 1, max: 3 })),
  createdAt: day,
  whenUpdated: day,
  lastPostDate: absentOr(day),
});

/** A graph of up to 40 people. */
export const drawnGraph: fc.Arbitrary<DrawnGraph> = fc
  .record({
    people: fc.array(person, { minLength: 20, maxLength: 40 }),
    companies: fc.tuple(
      ...[100, 101, 102].map((id) =>
        fc.record({
          id: fc.constant(id),
          name: fc.constantFrom('Acme', 'Ácme', 'Other'),
          headCount: fc.constantFrom(...ranges),
          employees: absentOr(fc.integer({ min: 1, max: 300 })),
        }),
      ),
    ),
  })
  .map(({ people, companies }) => ({
    countries,
    regions: [{ id: 5, name: 'Greater London', countryId: 1 }],
    cities,
    positions: [{ id: 20, name: 'Engineer' }],
    industries: [
      { id: 30, name: 'Oil & Gas' },
      { id: 31, name: 'Énergie' },
    ],
    companies,
    persons: people.map((one, index) => ({
      id: index * 3 + 1,
      ...Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)),
    })),
  }));

/** Ignores case, accents and outer spaces. */
const fold = (text: string) => foldText(text).trim();

export function isAbsent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  // The object of an unknown city.
  if (typeof value === 'object' && value !== null) return (value as Json).id === 0;
  return value === null || value === '' || value === 0;
}

/** Returns the value at a dotted path; in a list, the first one. */
export function at(record: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    const object = (Array.isArray(value) ? value[0] : value) as Json | null | undefined;
    return object?.[name] ?? null;
  }, record);
}

const escaped = (text: string) => text.replace(/[|[\],*\\]/g, '\\$&');
/** A list as written in a query; a single item may have no brackets. */
const listed = (parameter: string, items: readonly string[]) => {
  const value = items.length === 1 && items[0]?.length !== 3 ? items[0] : `[${items.join('|')}]`;
  return `${parameter}=${encodeURIComponent(value ?? '')}`;
};

/** Usually a few items; occasionally more than are compared one by one. */
function itemsOf<T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(item, { minLength: 11, maxLength: 25 }) },
  );
}

/** A filter of one parameter; `isItem` is the meaning of one of its items. */
function anyOf<T>(
  parameter: string,
  item: fc.Arbitrary<T>,
  spell: (item: T) => string,
  isItem: (item: T, subject: Subject) => boolean,
): fc.Arbitrary<DrawnFilter> {
  return itemsOf(item).map((items) => ({
    query: listed(parameter, items.map(spell)),
    matches: (subject) => items.some((one) => isItem(one, subject)),
  }));
}

/** A text field of the record, with presence among its items. */
function textFilter(field: string, texts: string[]): fc.Arbitrary<DrawnFilter> {
  const item = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...texts).map((text) => ({ text })) },
    { weight: 1, arbitrary: fc.constantFrom({ keyword: '*' }, { keyword: 'null' }) },
  ) as fc.Arbitrary<{ text?: string; keyword?: string }>;
  return anyOf(
    field,
    item,
    ({ text, keyword }) => keyword ?? spellText(text ?? ''),
    ({ text, keyword }, { person }) => {
      const value = at(person, field);
      if (keyword !== undefined) return isAbsent(value) === (keyword === 'null');
      return !isAbsent(value) && fold(String(value)) === fold(text ?? '');
    },
  );
}

/** Lower-case `null` is a keyword of the grammar; any other spelling is text. */
function spellText(text: string): string {
  return text === 'null' ? 'NULL' : escaped(text);
}

const range = fc
  .tuple(fc.integer({ min: 0, max: 40 }), fc.option(fc.integer({ min: 0, max: 40 })))
  .map(([min, more]) => ({ min, max: more === null ? Number.POSITIVE_INFINITY : min + more }));
type DrawnRange = { min: number; max: number };
const shifted = (by: number, factor = 1) =>
  range.map(({ min, max }) => ({ min: by + min * factor, max: by + max * factor }));
const spellRange = ({ min, max }: DrawnRange) =>
  max === Number.POSITIVE_INFINITY ? `${min}-` : min === max ? `${min}` : `${min}-${max}`;
const holds = ({ min, max }: DrawnRange, value: number) => min <= value && value <= max;

function integerFilter(parameter: string, field: string, by: number): fc.Arbitrary<DrawnFilter> {
  return anyOf(parameter, shifted(by), spellRange, (item, { person }) => {
    const value = at(person, field);
    return !isAbsent(value) && holds(item, Number(value));
  });
}

function presenceFilter(parameter: string, field: string, value: string) {
  return fc.constant<DrawnFilter>({
    query: `${parameter}=${value}`,
    matches: ({ person }) => !isAbsent(at(person, field)),
  });
}

function timeFilter(field: string): fc.Arbitrary<DrawnFilter> {
  const spans: [string, (value: string) => boolean][] = [
    ['2024-01-01', (value) => value.startsWith('2024-01-01')],
    ['2024-01-01..2024-01-02', (value) => value.startsWith('2024-01-01')],
    ['2024-01-01T23:59:59', (value) => value === '2024-01-01T23:59:59'],
    ['2024-01-01T23:59:59..', (value) => value >= '2024-01-01T23:59:59'],
    ['2025-01-01', () => false],
  ];
  return anyOf(
    field,
    fc.constantFrom(...spans),
    ([text]) => text,
    ([, isInside], { person }) => person[field] !== null && isInside(String(person[field])),
  );
}

const money = (text: string) =>
  text.replace(/\d+/g, (digits) => Number(digits).toLocaleString('en'));
const overlaps = (left: DrawnRange, right: DrawnRange | null) =>
  right !== null && left.min <= right.max && right.min <= left.max;

/** Parses the salary or head count of a record. */
function toRange(text: string | null): DrawnRange | null {
  const digits = (text ?? '').replaceAll(',', '').match(/\d+/g)?.map(Number);
  if (digits?.[0] === undefined) return null;
  const max = text?.endsWith('+') ? Number.POSITIVE_INFINITY : (digits[1] ?? digits[0]);
  return { min: digits[0], max };
}

function staffOf({ company }: Subject): DrawnRange | null {
  if (company === null) return null;
  const { headCount, employees } = company;
  return headCount !== null
    ? toRange(headCount)
    : employees === null
      ? null
      : { min: employees, max: employees };
}

const words = (text: string) =>
  fold(text)
    .split(/[^\p{L}\p{N}+#]+/u)
    .filter(Boolean);

function wordsFilter(field: string, texts: string[]): fc.Arbitrary<DrawnFilter> {
  return anyOf(`${field}.text`, fc.constantFrom(...texts), escaped, (text, { person }) => {
    const has = words(String(person[field]));
    const sought = words(text);
    return sought.length > 0 && sought.every((word) => has.includes(word));
  });
}

/** The year in which the filters are evaluated. */
export const YEAR = 2026;

const drawnConditions: Record<string, fc.Arbitrary<DrawnFilter>> = {
  ...Object.fromEntries(
    ['name', 'surname'].map((field) => [field, textFilter(field, [...names, 'nobody'])]),
  ),
  ...Object.fromEntries(
    ['position', 'cities.name', 'cities.countries.name', 'countries.name', 'regions.name'].map(
      (field) => [
        field,
        textFilter(field, ['ENGINEER', 'oel', 'öl-pruefer', 'LONDON', 'orleans', 'France', 'x']),
      ],
    ),
  ),
  'industries.name': textFilter('industries.name', ['oil & GAS', 'energie']),
  'company.name': textFilter('company.name', ['acme', 'OTHER', 'none']),
  email: textFilter('email', ['A@B.example', 'nobody@x.example']),
  phone: textFilter('phone', ['+441632960001']),
  school: textFilter('school', ['university of x']),
  mobile: textFilter('mobile', ['+447700900001']),
  birthYear: integerFilter('birthYear', 'birthYear', 1950),
  experience: integerFilter('experience', 'inferredYearsExperience', 0),
  dataSourceType: integerFilter('dataSourceType', 'dataSourceType', 0),
  regionId: integerFilter('regionId', 'regionId', 0),
  id: integerFilter('id', 'id', 20),
  'cities.regionId': integerFilter('cities.regionId', 'cities.regionId', 0),
  'industries.id': integerFilter('industries.id', 'industries.id', 0),
  positionIds: integerFilter('positionIds', 'positionId', 0),
  industryIds: integerFilter('industryIds', 'industryId', 0),
  locationIds: integerFilter('locationIds', 'cityId', 0),
  companyId: integerFilter('companyId', 'companyId', 90),
  isFB: presenceFilter('isFB', 'social_aId', '1'),
  isX: presenceFilter('isX', 'twitter', '[1]'),
  emailTypeId: presenceFilter('emailTypeId', 'workEmail', '1'),
  phoneTypeId: presenceFilter('phoneTypeId', 'phone', '2'),
  cities: presenceFilter('cities', 'cities', '*'),
  bounceResponseType: presenceFilter('bounceResponseType', 'bounceResponseType', '*'),
  pastCompanies: presenceFilter('pastCompanies', 'pastCompanies', '*'),
  createdAt: timeFilter('createdAt'),
  whenUpdated: timeFilter('whenUpdated'),
  lastPostDate: timeFilter('lastPostDate'),
  positionList: anyOf(
    'positionList',
    fc.constantFrom(...titles, 'Nobody'),
    escaped,
    (text, { person }) =>
      fold(String(person.position || at(person, 'positions.name') || '')) === fold(text),
  ),
  industryList: anyOf(
    'industryList',
    fc.constantFrom('OIL & GAS', 'énergie', 'none'),
    escaped,
    (text, { person }) => {
      const value = at(person, 'industries.name');
      return value !== null && fold(String(value)) === fold(text);
    },
  ),
  locationList: anyOf(
    'locationList',
    fc.constantFrom('london:UK', 'London:FR', 'ORLEANS:france', ':GB', ':Germany', 'Bonn:DE'),
    escaped,
    (text, { person }) => isPlace(text, person),
  ),
  gender: anyOf(
    'gender',
    fc.constantFrom('1', 'male', '2', 'female'),
    String,
    (item, { person }) =>
      ['1', 'male'].includes(item) ? person.gender === 'male' : person.gender === 'female',
  ),
  headCount: anyOf('headCount', shifted(1, 7), spellRange, (item, subject) =>
    overlaps(item, staffOf(subject)),
  ),
  salary: anyOf(
    'salary',
    shifted(30_000, 5_000),
    (item) => money(spellRange(item)),
    (item, { person }) => overlaps(item, toRange(String(person.inferredSalary))),
  ),
  ageRange: anyOf('ageRange', shifted(16), spellRange, (item, { person }) => {
    return person.birthYear !== 0 && holds(item, YEAR - Number(person.birthYear));
  }),
  skills: fc.subarray([...skillWords, 'none'], { minLength: 1 }).map((asked) => ({
    query: `skills=${encodeURIComponent(`[${asked.map(escaped).join('|')}]`)}`,
    matches: ({ person }) => {
      const has = String(person.skills).split(',').map(fold);
      return asked.every((skill) => has.includes(fold(skill)));
    },
  })),
  'experience.text': wordsFilter('experience', ['clerk', 'B CLERK', 'c++', 'clerk nobody', '!!!']),
  'position.text': wordsFilter('position', ['HEAD', 'r d', 'öl', 'ceo founder', 'x', '!!!']),
  'pastCompanies.name': anyOf(
    'pastCompanies.name',
    fc.constantFrom('past ltd', 'Old Co', 'x'),
    escaped,
    (text, { person }) =>
      ((person.pastCompanies ?? []) as { name: string }[]).some(
        ({ name }) => fold(name) === fold(text),
      ),
  ),
};

function isPlace(text: string, person: Json): boolean {
  const [city = '', country = ''] = text.split(':');
  const meant = { uk: 1, gb: 1, fr: 2, france: 2 }[country.toLowerCase()];
  if (meant === undefined) return false;
  if (city === '') return person.countryId === meant;
  const stored = cities.find(({ id }) => id === person.cityId);
  return stored !== undefined && stored.countryId === meant && fold(stored.name) === fold(city);
}

/** One to three parameters together; `&` joins them by AND. */
export const drawnFilter: fc.Arbitrary<DrawnFilter> = fc
  .subarray(Object.keys(drawnConditions), { minLength: 1, maxLength: 3 })
  .chain((parameters) =>
    fc.tuple(...parameters.map((name) => drawnConditions[name] as fc.Arbitrary<DrawnFilter>)),
  )
  .map((conditions) => ({
    query: conditions.map(({ query }) => query).join('&'),
    matches: (subject) => conditions.every(({ matches }) => matches(subject)),
  }));

/** Every kind of condition once, so that a run skips none. */
export const drawnConditionEach = Object.entries(drawnConditions);
