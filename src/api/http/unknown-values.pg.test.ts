/** Values of a filter that no lookup knows are named, and nothing else is told of a filter's values. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(1000);
  await importGraph(pipeline.sql, {
    countries: [{ id: 1, name: 'United Kingdom' }],
    regions: [{ id: 2, name: 'Kent', countryId: 1 }],
    cities: [{ id: 3, name: 'London', countryId: 1, regionId: 2 }],
    industries: [{ id: 4, name: 'Banking' }],
    positions: [{ id: 5, name: 'Clerk' }],
    persons: Array.from({ length: 12 }, (_, index) => ({
      id: index + 1,
      cityId: index === 0 ? 99 : 3,
      countryId: 1,
      surname: 'Known',
      skills: 'Kafka',
      position: index < 2 ? 'Rare Title' : 'State Senator',
    })),
  });
});
afterAll(() => pipeline.close());

const encoded = (filter: Record<string, string>) => new URLSearchParams(filter).toString();

async function unknownIn(filter: Record<string, string>): Promise<string[]> {
  const response = await pipeline.call(caller, `/personsearch/preview?${encoded(filter)}`);
  const body = (await response.json()) as {
    unknown_values: { parameter: string; value: string }[];
  };
  expect(response.status, JSON.stringify(body)).toBe(200);
  const [parameter] = Object.keys(filter);
  expect(body.unknown_values.every((one) => one.parameter === parameter)).toBe(true);
  return body.unknown_values.map(({ value }) => value);
}

describe('a preview names', () => {
  test.each([
    [
      'locationList',
      '[London:ZZ|London:GB|Atlantis:UK|:Atlantis|:England]',
      ['London:ZZ', 'Atlantis:UK', ':Atlantis'],
    ],
    ['locationIds', '[3,99,999999]', ['99', '999999']],
    ['countryId', '[1|7|5-9]', ['7']],
    ['regionId', '[2|3]', ['3']],
    ['industryList', '[banking|Bonking]', ['Bonking']],
    ['industryIds', '[4|999999]', ['999999']],
    ['positionIds', '[5|6]', ['6']],
    ['positionList', '[clerk|STATE SENATOR|Rare Title|Nobody]', ['Rare Title', 'Nobody']],
    ['position', '[State Senator|Nobody]', ['Nobody']],
    ['cities.countries.name', '[United Kingdom|Atlantis]', ['Atlantis']],
    ['regions.name', '[KENT|Nowhere]', ['Nowhere']],
  ])('of %s=%s: %j', async (parameter, value, unknown) => {
    expect(await unknownIn({ [parameter]: value })).toEqual(unknown);
  });

  test.each([
    ['skills', '[Kafka|Cobol]'],
    ['company.name', '[Nobody Ltd]'],
    ['companyId', '[99]'],
    ['school', 'Nowhere'],
    ['gender', 'female'],
    ['position.text', 'nobody'],
  ])('no value of %s, which no lookup has', async (parameter, value) => {
    expect(await unknownIn({ [parameter]: value })).toEqual([]);
  });
});

test('the first page of a search has them in a header, that of a filter that identifies people too', async () => {
  const filter = {
    locationList: '[:Atlantis|London:GB]',
    surname: 'Unknown',
    industryIds: '999999',
  };
  const response = await pipeline.call(caller, `/personsearch/?${encoded(filter)}`);
  expect(response.status).toBe(200);
  const header = response.headers.get('x-unknown-values') ?? '';
  expect([...new URLSearchParams(header)]).toEqual([
    ['locationList', ':Atlantis'],
    ['industryIds', '999999'],
  ]);
  const known = await pipeline.call(caller, `/personsearch/?${encoded({ surname: 'Unknown' })}`);
  expect(known.headers.has('x-unknown-values')).toBe(false);
});

test('a replayed search has the same header', async () => {
  const path = `/personsearch/?${encoded({ locationList: '[:Atlantis|London:GB]' })}&limit=1`;
  const headers = { 'Idempotency-Key': 'unknown-values' };
  for (const replayed of [null, 'true']) {
    const response = await pipeline.call(caller, path, { headers });
    expect(response.headers.get('idempotent-replayed')).toBe(replayed);
    expect(response.headers.get('x-unknown-values')).toBe('locationList=%3AAtlantis');
  }
});

test.each([
  ['/v1/exports', {}],
  ['/v1/schedules', { cron: '0 2 * * *' }],
])('%s responds with them', async (path, more) => {
  const body = JSON.stringify({ filter: 'locationList=[London:ZZ]&positionList=Clerk', ...more });
  const headers = { 'Content-Type': 'application/json' };
  const response = await pipeline.call(caller, path, { method: 'POST', headers, body });
  expect([201, 202]).toContain(response.status);
  expect(await response.json()).toMatchObject({
    unknown_values: [{ parameter: 'locationList', value: 'London:ZZ' }],
  });
});

test('a changed schedule responds with those of its filter, also when another member was changed', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const send = async (path: string, method: string, body: object) => {
    const response = await pipeline.call(caller, path, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as { id: string; unknown_values: object[] };
  };
  const made = { filter: 'locationList=[London:GB]', cron: '0 2 * * *' };
  const { id, unknown_values: before } = await send('/v1/schedules', 'POST', made);
  expect(before).toEqual([]);
  const unknown = [
    { parameter: 'locationList', value: ':Atlantis' },
    { parameter: 'industryList', value: 'Nonsense' },
  ];
  const filter = 'locationList=[London:GB|:Atlantis]&industryList=[Nonsense]';
  for (const change of [{ filter }, { name: 'renamed' }]) {
    const { unknown_values } = await send(`/v1/schedules/${id}`, 'PATCH', change);
    expect(unknown_values).toEqual(unknown);
  }
  const after = await send(`/v1/schedules/${id}`, 'PATCH', { filter: made.filter });
  expect(after.unknown_values).toEqual([]);
});
