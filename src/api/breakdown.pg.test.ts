/** A search shows groups of its people before payment; they are compared with a plain count of the same people. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import type { Breakdown } from '../core/search/breakdown.ts';
import { suppress } from '../core/suppression/suppress.ts';

interface Someone {
  id: number;
  email: string;
  position: string;
  positions: { id: number; name: string };
  positionId: number;
  countryId: number;
  countries: { id: number; name: string; iso2: string };
  company: { id: number; headCount: string };
  companyId: number;
  mobile: string | null;
}

const titles = ['Engineer', 'Dentist', 'Baker'];
const countries = [
  { id: 1, name: 'France', iso2: 'FR' },
  { id: 2, name: 'Germany', iso2: 'DE' },
];
const headCounts = ['51-200', '11-50'];

/** Engineers in France at larger companies, nine bakers, and a mixture of the rest. */
function person(at: number): Someone {
  const title = at < 60 ? 0 : at < 120 ? 1 : 2;
  const country = countries[at % 3 === 0 ? 1 : 0] as (typeof countries)[number];
  const size = at % 2;
  return {
    id: 1000 + at,
    email: `p${at}@list.example`,
    position: titles[title] ?? '',
    positions: { id: title + 1, name: titles[title] ?? '' },
    positionId: title + 1,
    countryId: country.id,
    countries: country,
    company: { id: size + 1, headCount: headCounts[size] ?? '' },
    companyId: size + 1,
    mobile: at % 4 === 0 ? `+4479111${String(23000 + at)}` : null,
  };
}
const people = Array.from({ length: 129 }, (_, at) => person(at));

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, {
    companies: headCounts.map((headCount, at) => ({ id: at + 1, name: `C${at}`, headCount })),
    persons: people.map(({ company: _, ...rest }) => rest),
  });
  caller = await pipeline.unmeteredAccount(10);
});
afterAll(() => pipeline.close());

async function breakdown(filter: string): Promise<Breakdown> {
  const response = await pipeline.call(caller, `/v1/personsearch/breakdown?${filter}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Breakdown;
}

/** The groups of at least ten, largest first, with their numbers rounded to tens. */
function count(of: readonly Someone[], nameOf: (one: Someone) => string) {
  const counts = new Map<string, number>();
  for (const one of of) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1);
  const large = [...counts].filter(([, number]) => number >= 10);
  return Object.fromEntries(large.map(([name, number]) => [name, Math.round(number / 10) * 10]));
}

const told = (groups: { name: string | null; people: number }[]) =>
  Object.fromEntries(groups.map((group) => [group.name, group.people]));

test('has the groups of the people who match, rounded, without groups of fewer than ten', async () => {
  const found = await breakdown('email=*');
  expect(told(found.countries)).toEqual(count(people, ({ countries: { name } }) => name));
  expect(told(found.company_sizes)).toEqual(count(people, ({ company }) => company.headCount));
  const rows = found.rows.map((row) => [
    `${row.title} ${row.company_size} ${row.country}`,
    row.people,
  ]);
  expect(Object.fromEntries(rows)).toEqual(
    count(people, (one) => `${one.position} ${one.company.headCount} ${one.countries.name}`),
  );
  expect(found.rows.length).toBeGreaterThan(2);
  // Nine bakers are in no row.
  expect(found.rows.map(({ title }) => title)).not.toContain('Baker');
  expect((await pipeline.wallet(caller))?.balance).toBe(10);
});

test('says of a row how many have which contact data, in tens', async () => {
  const { rows } = await breakdown('positionIds=1&companyId=1&countryId=1');
  expect(rows).toHaveLength(1);
  const own = people.filter(
    (one) => one.positionId === 1 && one.companyId === 1 && one.countryId === 1,
  );
  const mobiles = own.filter(({ mobile }) => mobile !== null).length;
  expect(rows[0]).toMatchObject({
    people: Math.round(own.length / 10) * 10,
    fields: { email: Math.round(own.length / 10) * 10, mobile: Math.round(mobiles / 10) * 10 },
  });
});

test('leaves out people who opted out', async () => {
  const before = told((await breakdown('countryId=2')).countries);
  for (const one of people.filter(({ countryId }) => countryId === 2).slice(0, 30)) {
    await suppress(pipeline.sql, one.email);
  }
  expect(told((await breakdown('countryId=2')).countries)).not.toEqual(before);
});

test('is refused for a filter that names people', async () => {
  const response = await pipeline.call(caller, '/v1/personsearch/breakdown?email=p1@list.example');
  await expectProblem(response, { status: 400, code: 'identifying_filter' });
});
