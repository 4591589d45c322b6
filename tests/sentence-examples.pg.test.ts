/**
 * Runs the examples inside the sentences of docs/api.md and docs/csv-guide.md, and the page parameters of
 * docs/search-guide.md, on an imported graph. The commands of these pages run in e2e/documents.e2e.test.ts, the filters of
 * the search guide in search-guide.pg.test.ts.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../src/core/lib/package-root.ts';
import type { BatchView } from '../src/jobs/batch/batch-view.ts';
import { importGraph } from './support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from './support/pipeline.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.unmeteredAccount(10_000);
  await importGraph(pipeline.sql, {
    countries: [{ id: 1, name: 'Switzerland', iso2: 'CH' }],
    regions: [{ id: 5, name: 'Vaud', countryId: 1 }],
    cities: [{ id: 41, name: 'Lausanne', countryId: 1, regionId: 5 }],
    industries: [{ id: 3, name: 'Banking' }],
    positions: [12, 15].map((id) => ({ id, name: `Auditor ${id}` })),
    companies: [{ id: 10, name: 'Acme', domain: 'acme.example' }],
    persons: Array.from({ length: 12 }, (_, index) => ({
      id: index + 1,
      name: 'Ada',
      surname: `Sample${index}`,
      email: `p${index}@home.example`,
      workEmail: `p${index}@acme.example`,
      phone: `+4420794600${String(index).padStart(2, '0')}`,
      positionId: index === 0 ? 12 : 15,
      inferredYearsExperience: 2,
      industryId: 3,
      companyId: 10,
      cityId: 41,
      regionId: 5,
      countryId: 1,
    })),
  });
});
afterAll(() => pipeline.close());

/** The texts between backticks in sentences that are more than a name: an option or filter with its value, a query, JSON. */
function examplesOf(page: string): string[] {
  const text = readFileSync(path.join(packageRoot, 'docs', page), 'utf8');
  const sentences = text.replace(/^ {4}.*$/gm, '');
  const spans = [...sentences.matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replace(/\s+/g, ' '),
  );
  const isExample = /^[\w.]+=[^<\s]|\?[\w.]+=|"[\w.]+": |^enrich \w+ \w+ \S|^--\w+ \w+=/;
  return spans.filter((span) => isExample.test(span) && !/[?&]name=FILE|=&time_zone/.test(span));
}

const pageParameters = /^(?:hold|partial|sort)=/;
const examples = new Set([
  ...examplesOf('api.md'),
  ...examplesOf('csv-guide.md'),
  ...examplesOf('search-guide.md').filter((span) => pageParameters.test(span)),
]);

/** Examples that need more than a list: the tests that run them, and the text by which they do. */
const elsewhere: Record<string, readonly [file: string, text: string]> = {
  'MOBILE_IN_RECORDS=false': ['src/api/mobile-in-records.pg.test.ts', "MOBILE_IN_RECORDS: 'false'"],
  'fields=mobile': ['src/api/mobile-in-records.pg.test.ts', 'fields=mobile'],
  '{"decisions": [{"row": 7, "id": 4711}, {"row": 9, "id": null}]}': [
    'src/api/decisions.pg.test.ts',
    'decisions: object[]',
  ],
  '{"records": [17]}': ['src/api/admin/splits.pg.test.ts', '{ records: [taken] }'],
  '{"with": [ids of undo.later]}': ['src/api/admin/imports.pg.test.ts', '{ with: told.later }'],
  'enrich batch cap ID CREDITS': ['workers/commands/batch.pg.test.ts', "'cap', id"],
  'enrich batch results ID -o FILE --outcomes no_match,ambiguous': [
    'workers/commands/batch.pg.test.ts',
    "'results', id, '-o', output, '--outcomes'",
  ],
  'enrich key bound PREFIX': ['workers/commands/keys.pg.test.ts', "'bound'"],
  'enrich key revoke PREFIX --cancel': ['workers/commands/keys.pg.test.ts', "'--cancel'"],
};

const list =
  'Name,Email\nAda Sample0,p0@acme.example\nNobody,nobody@acme.example\nAda,p0@acme.example\n';

/** A successful response. */
async function get(pathname: string, init?: RequestInit): Promise<Response> {
  const response = await pipeline.call(caller, pathname, init);
  expect(
    response.status,
    `${pathname}: ${response.ok ? '' : await response.clone().text()}`,
  ).toBeLessThan(300);
  return response;
}

function send(method: string, pathname: string, body: unknown): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return get(pathname, { method, headers, body: JSON.stringify(body) });
}

async function search(
  query: string,
): Promise<{ people: Record<string, unknown>[]; headers: Headers }> {
  const response = await get(`/personsearch/?${query}`);
  const people = (await response.json()) as Record<string, unknown>[];
  expect(people).not.toEqual([]);
  return { people, headers: response.headers };
}

async function enrich(options: Record<string, string> = {}, text = list): Promise<BatchView> {
  const id = await pipeline.enrich(caller, text, { operation: 'people.enrich', ...options });
  return pipeline.batch(caller, id);
}

async function resultsOf(query: string, options: Record<string, string> = {}): Promise<Buffer> {
  const { id } = await enrich({ fields: 'id', ...options });
  const response = await get(`/v1/batches/${id}/results${query}`);
  return Buffer.from(await response.arrayBuffer());
}

async function held(): Promise<BatchView> {
  const view = await enrich({ hold: 'true' });
  expect(view.state).toBe('ready');
  return view;
}

const call = (query: string) => get(`/v1/people/enrich?email=p0%40acme.example&${query}`);
const lookup = async (query: string) =>
  ((await (await get(`/v1/lookups/${query}`)).json()) as { data: { name: string }[] }).data;
const optionOf = (span: string) => Object.fromEntries(new URLSearchParams(span));

/** Uploads a list with the option, and expects these rows to match. */
const asOption = (matched: number) => async (span: string) => {
  expect((await enrich(optionOf(span))).rows?.matched).toBe(matched);
};
const asResults = async (span: string) => {
  for (const query of alternativesOf(span.slice(span.indexOf('?')))) {
    expect((await resultsOf(query)).length).toBeGreaterThan(0);
  }
};
const asOutcomes = async (span: string) => {
  const text = (await resultsOf(span.slice(span.indexOf('?')))).toString();
  expect(text.match(/,no_match,/g)).toHaveLength(1);
  expect(text).not.toContain(',matched,');
};
const asSearch = async (span: string) => void (await search(span));
const asRerun = async (span: string) => {
  const { id } = await enrich();
  await send('POST', `/v1/batches/${id}/rerun`, JSON.parse(span));
  await pipeline.runUntilIdle();
};
const asHeader = async (span: string) => {
  const hasHeader = /true|1$/.test(span);
  expect((await enrich(optionOf(span), hasHeader ? list : 'p0@acme.example\n')).rows?.total).toBe(
    hasHeader ? 3 : 1,
  );
};

/** `?format=csv|jsonl` as two queries. */
function alternativesOf(query: string): string[] {
  const [name = '', values = ''] = query.split('=');
  return values.split('|').map((value) => `${name}=${value}`);
}

const runs: Record<string, (span: string) => Promise<unknown>> = {
  '/results?format=csv|csv-safe|jsonl|xlsx': asResults,
  '/results?outcomes=no_match,ambiguous': asOutcomes,
  'results?outcomes=no_match,ambiguous': asOutcomes,
  '/results?reruns=true': asResults,
  '/results?search=acme': asResults,
  '?ids=12,15': async (span) => expect(await lookup(`job-titles${span}`)).toHaveLength(2),
  'GET /v1/batches?rerun_of=ID': async () => {
    const { id } = await enrich();
    await send('POST', `/v1/batches/${id}/rerun`, { outcomes: ['no_match'] });
    const { data } = (await (await get(`/v1/batches?rerun_of=${id}`)).json()) as {
      data: unknown[];
    };
    expect(data).toHaveLength(1);
    await pipeline.runUntilIdle();
  },
  'GET /v1/lookups/{job-titles,locations,industries,companies}?q=&limit=10': async () => {
    for (const name of ['job-titles', 'locations', 'industries']) {
      expect(await lookup(`${name}?q=&limit=10`)).not.toEqual([]);
    }
    expect(await lookup('companies?q=&limit=10')).toEqual([]);
  },
  'GET /v1/mappings?operation=': async () => {
    const { id } = await enrich();
    await send('POST', '/v1/mappings', { name: 'ours', batch_id: id });
    const { data } = (await (await get('/v1/mappings?operation=people.enrich')).json()) as {
      data: unknown[];
    };
    expect(data).toHaveLength(1);
  },
  'q=vaud': async (span) =>
    expect((await lookup(`locations?${span}`)).map(({ name }) => name).join()).toContain(
      'Lausanne',
    ),
  'count=true': async (span) =>
    expect((await search(`name=Ada&${span}`)).headers.get('x-total-count')).toBe('12'),
  'email=*': async (span) =>
    expect(await (await get(`/personsearch/preview?${span}`)).json()).toMatchObject({
      total: 10,
      total_is: 'about',
    }),
  'workEmail=*': asSearch,
  'experience=[0-3]': asSearch,
  'partial=true': (span) => asSearch(`name=Ada&${span}`),
  'sort=whenUpdated': (span) => asSearch(`name=Ada&${span}`),
  'sort=-whenUpdated': (span) => asSearch(`name=Ada&${span}`),
  'locationList=London%3AZZ': async (span) => {
    const response = await get(`/personsearch/?${span}`);
    expect(await response.json()).toEqual([]);
    expect([...response.headers.values()].join()).toContain(span);
  },
  'fields=name,company.name,city': async (span) =>
    expect((await search(`name=Ada&${span}`)).people[0]).toEqual({
      name: 'Ada',
      'company.name': 'Acme',
      city: 'Lausanne',
    }),
  'fields=name,surname': async (span) =>
    expect(await (await call(span)).json()).toMatchObject({
      data: { name: 'Ada', surname: 'Sample0' },
    }),
  '{"company.name": "Acme"}': async (span) =>
    expect(await (await call('fields=company.name')).json()).toMatchObject({
      data: JSON.parse(span),
    }),
  'fields=name,surname,workEmail,company.name,city,country,industry': async (span) =>
    expect((await resultsOf('', optionOf(span))).toString()).toContain(
      'Ada,Sample0,p0@acme.example,Acme,Lausanne,Switzerland,Banking',
    ),
  'required=workEmail': asOption(2),
  'required=workEmail,phone': async (span) => {
    await asOption(2)(span);
    await call(span);
  },
  '"required": ["workEmail"]': async (span) => {
    const made = await send('POST', '/v1/exports', {
      filter: 'name=Ada',
      ...JSON.parse(`{${span}}`),
    });
    const { id } = (await made.json()) as BatchView;
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(caller, id)).toMatchObject({ rows: { matched: 12 } });
  },
  'hold=true': async () => {
    await held();
    await send('POST', '/v1/exports', { filter: 'name=Ada', hold: true });
    await pipeline.runUntilIdle();
  },
  'allow_unmapped=true': async (span) => {
    const view = await enrich({ hold: 'true', ...optionOf(span) }, 'A,B\nx,y\n');
    expect(view.state).toBe('ready');
  },
  'match=likely': asOption(2),
  'dedupe=true': asOption(1),
  'gzip=true': async (span) =>
    expect(gunzipSync(await resultsOf(`?${span}`)).toString()).toContain('p0@acme.example'),
  'header=true': asHeader,
  'header=false': asHeader,
  'header_row=1': asHeader,
  'header_row=0': asHeader,
  '--map name=Name': async () => {
    const options = { operation: 'companies.enrich', mapping: '{"name": "Name"}' };
    expect((await enrich(options, 'Name\nAcme\n')).rows?.matched).toBe(1);
  },
  '{"outcomes": ["no_match"], "hold": true}': asRerun,
  '{"outcomes": ["no_match", "error"]}': asRerun,
  '{"operation": "people.enrich", "rows": [{"email": "..."}], ...options}': async (span) => {
    const body = JSON.parse(span.replace(', ...options', '').replace('...', 'p0@acme.example'));
    await send('POST', '/v1/batches', body);
    await pipeline.runUntilIdle();
  },
  '{"max_credits": N}': async (span) => {
    const { id } = await held();
    await send('PATCH', `/v1/batches/${id}`, JSON.parse(span.replace('N', '5')));
  },
  '{"emails": [], "domains": [], "email_sha256": []}': (span) =>
    send('POST', '/v1/do-not-contact', { ...JSON.parse(span), domains: ['nowhere.example'] }),
  '{"enabled": true}': async (span) => {
    const schedule = { name: 'nightly', filter: 'name=Ada', cron: '30 2 * * *', enabled: false };
    const made = await send('POST', '/v1/schedules', schedule);
    const { id } = (await made.json()) as { id: string };
    const changed = await send('PATCH', `/v1/schedules/${id}`, JSON.parse(span));
    expect(await changed.json()).toMatchObject({ enabled: true });
  },
};

test('every example of a sentence is run, and no other is', () => {
  expect([...examples].sort()).toEqual([...Object.keys(runs), ...Object.keys(elsewhere)].sort());
});

test.each(Object.entries(runs))('%s does what its sentence says', async (span, run) => {
  await run(span);
});

test.each(Object.entries(elsewhere))('%s has a test of its own', (_span, [file, text]) => {
  expect(readFileSync(path.join(packageRoot, file), 'utf8')).toContain(text);
});
