import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillTestGraph } from '../../samples/test-graph/fill-test-graph.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { personFields } from '../core/graph/fields.ts';
import { recordToJson } from '../core/graph/record.ts';
import { must } from '../core/lib/assert.ts';
import {
  drawnFilter,
  drawnGraph,
  isAbsent,
  type Subject,
} from '../core/search/random-filters.test-suite.ts';
import { suppress } from '../core/suppression/suppress.ts';
import { audit } from '../jobs/audit/audit.ts';

let pipeline: Pipeline;
let rich: Caller;
let subjects: Subject[];
const PEOPLE = 30;

beforeAll(async () => {
  pipeline = await openPipeline();
  const graph = must(fc.sample(drawnGraph, { numRuns: 1, seed: 11 })[0], 'graph');
  const persons = graph.persons.slice(0, PEOPLE).map((person, index) => ({
    ...person,
    school: 'Everybody',
    workEmail: `p${index}@mail${index % 3}.example`,
  }));
  await importGraph(pipeline.sql, { ...graph, persons });
  rich = await caller(1_000_000);
  const rows = await pipeline.sql<
    { record: string; headCount: string | null; employees: number | null; stored: boolean }[]
  >`
    select r.record, c.head_count, c.employees, c.id is not null as stored
    from person_records r left join companies c on c.id = r.company_id order by r.id`;
  subjects = rows.map(({ record, stored, ...company }) => ({
    person: JSON.parse(recordToJson(personFields, record)),
    company: stored ? company : null,
  }));
});
afterAll(() => pipeline.close());

const caller = (credits: number) => pipeline.unmeteredAccount(credits);

type Person = { id: number; name: string } & Record<string, unknown>;

interface Answer {
  people: Person[];
  headers: Headers;
  /** The address of the next page. */
  next: string | null;
}

async function search(by: Caller, query: string, headers = {}): Promise<Answer> {
  return follow(by, `/personsearch/?${query}`, headers);
}

async function follow(by: Caller, path: string, headers = {}): Promise<Answer> {
  const response = await pipeline.call(by, path, { headers });
  const text = await response.text();
  expect(response.status, `${path} ${text}`).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  const next = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? null;
  return { people: JSON.parse(text) as Person[], headers: response.headers, next };
}

const everybody = 'school=everybody';
const idsOf = ({ people }: Answer) => people.map(({ id }) => id);
const allIds = () => subjects.map(({ person }) => person.id);
const tens = (count: number) => Math.round(count / 10) * 10;
const balance = async (of: Caller) => (await pipeline.wallet(of))?.balance;

describe('a search answers', () => {
  test('whole records, the fields in order, in the order of their ids', async () => {
    const { people } = await search(rich, everybody);
    expect(people).toEqual(subjects.map(({ person }) => person));
    expect(Object.keys(people[0] ?? {})).toEqual(personFields.map(({ name }) => name));
  });

  test('the people that each filter means, by a cursor, by skip, at once, and in an export', async () => {
    const agrees = async ({ query, matches }: { query: string; matches(s: Subject): boolean }) => {
      const expected = subjects.filter(matches).map(({ person }) => person.id);
      const whole = await search(rich, `${query}&limit=1000&count=true`);
      expect(idsOf(whole), query).toEqual(expected);
      const counted = ['x-total-count', 'x-total-is'].map((name) => whole.headers.get(name));
      if (expected.length > 0) expect(counted).toEqual([String(expected.length), 'exact']);
      const byCursor: unknown[] = [];
      for (let path: string | null = `/v1/personsearch?${query}&limit=4`; path !== null; ) {
        const page: Answer = await follow(rich, path);
        byCursor.push(...idsOf(page));
        path = page.next;
      }
      expect(byCursor).toEqual(expected);
      const bySkip: unknown[] = [];
      for (let skip = 0; skip <= expected.length; skip += 5) {
        bySkip.push(...idsOf(await search(rich, `${query}&skip=${skip}&limit=5`)));
      }
      expect(bySkip).toEqual(expected);
      const preview = await pipeline.call(rich, `/personsearch/preview?${query}`);
      const told = (await preview.json()) as { code?: string; total?: number };
      expect(told.code ?? told.total).toBe(
        preview.status === 400 ? 'identifying_filter' : Math.max(10, tens(expected.length)),
      );
      const id = await pipeline.makeExport(rich, { filter: query, fields: ['id'] });
      await pipeline.runUntilIdle();
      const { text } = await pipeline.people(rich, id);
      expect(text.split('\n').slice(1, -1).map(Number)).toEqual(expected);
    };
    await fc.assert(fc.asyncProperty(drawnFilter, agrees), { numRuns: 60, seed: 3 });
  });

  test('an honest empty page behind the last person, and beyond all numbers', async () => {
    for (const query of [`${everybody}&skip=30`, `${everybody}&skip=1000000000`, 'id=999999999']) {
      const empty = await search(rich, query);
      expect([empty.people, empty.next, empty.headers.get('x-credits-charged')]).toEqual([
        [],
        null,
        '0',
      ]);
    }
  });

  test('a skip that was not requested before, with and without a cached place near it', async () => {
    const cold = await search(rich, `${everybody}&birthYear=[null|1900-]&skip=17&limit=3`);
    expect(idsOf(cold)).toEqual(allIds().slice(17, 20));
    const near = await search(rich, `${everybody}&birthYear=[null|1900-]&skip=25&limit=3`);
    expect(idsOf(near)).toEqual(allIds().slice(25, 28));
  });

  test('the same by the bytes of UTF-8 that a caller did not encode', async () => {
    const response = await pipeline.call(rich, '/personsearch/?name=Zo%C3%AB&limit=1');
    const [zoe] = (await response.json()) as Person[];
    expect(must(zoe, 'person of that name').name).toBe('Zoë');
    const { next } = await search(rich, 'name=[Zo%C3%AB|ada|bob]&limit=1');
    expect(must(next, 'link')).toContain('name=[Zo%C3%AB|ada|bob]&limit=1&cursor=');
  });
});

describe('a search is refused', () => {
  test.each([
    ['', 'filter_required'],
    ['limit=5', 'filter_required'],
    ['nonsense=1', 'invalid_parameter'],
    ['name=%00', 'invalid_parameter'],
    ['name=%ff', 'invalid_parameter'],
    [`${everybody}&limit=0`, 'invalid_parameter'],
    [`${everybody}&limit=1001`, 'invalid_parameter'],
    [`${everybody}&limit=ten`, 'invalid_parameter'],
    [`${everybody}&skip=-1`, 'invalid_parameter'],
    [`${everybody}&skip=1e9`, 'invalid_parameter'],
    [`${everybody}&skip=99999999999999999999`, 'invalid_parameter'],
    [`${everybody}&cursor=x`, 'invalid_parameter'],
    [`${everybody}&cursor=`, 'invalid_parameter'],
    [`${everybody}&cursor=MS5h&skip=1`, 'invalid_parameter'],
    [`${everybody}&count=yes`, 'invalid_parameter'],
    [`${everybody}&partial=1`, 'invalid_parameter'],
  ])('%s', async (query, code) => {
    const response = await pipeline.call(rich, `/personsearch/?${query}`);
    const problem = await expectProblem(response, { status: 400, code });
    expect(response.headers.get('x-credits-charged')).toBe('0');
    if (code === 'filter_required') return;
    expect(problem.errors).toEqual([
      { field: expect.any(String), position: expect.any(Number), message: expect.any(String) },
    ]);
  });

  test('with the cursor of another search', async () => {
    const { next } = await search(rich, `${everybody}&limit=3`);
    const cursor = /cursor=(.*)$/.exec(next ?? '')?.[1];
    const response = await pipeline.call(rich, `/personsearch/?name=ada&cursor=${cursor}`);
    await expectProblem(response, { status: 400, code: 'invalid_parameter' });
  });

  test('above the limit of its key, as any metered call', async () => {
    const narrow = await pipeline.account(100);
    await pipeline.sql`update api_keys set requests_per_minute = 2 where id = ${narrow.keyId}`;
    await search(narrow, `${everybody}&limit=1`);
    await search(narrow, `${everybody}&limit=1`);
    const response = await pipeline.call(narrow, `/personsearch/?${everybody}&limit=1`);
    await expectProblem(response, { status: 429, code: 'rate_limited' });
    expect(await balance(narrow)).toBe(98);
  });
});

describe('a page costs a credit for each of its people', () => {
  test('with one line in the ledger, and none for an empty page or a preview', async () => {
    const buyer = await caller(100);
    const { headers } = await search(buyer, `${everybody}&limit=7`);
    expect(headers.get('x-credits-charged')).toBe('7');
    expect(headers.get('x-credits-remaining')).toBe('93');
    await search(buyer, 'name=nobody&limit=1');
    await pipeline.call(buyer, `/personsearch/preview?${everybody}`);
    expect(await pipeline.charges(buyer)).toEqual([
      { reference: `search:${headers.get('x-request-id')}`, amount: -7, units: 7 },
    ]);
    expect(await balance(buyer)).toBe(93);
  });

  test('or nothing at all where the wallet cannot pay it', async () => {
    const poor = await caller(6);
    const response = await pipeline.call(poor, `/personsearch/?${everybody}&limit=7`);
    const problem = await expectProblem(response, { status: 402, code: 'insufficient_credits' });
    expect(problem).toMatchObject({ needed: 7, available: 6 });
    expect(problem.detail).toContain('`partial=true` returns as many people as can be paid for');
    expect(await balance(poor)).toBe(6);
  });

  test('or a part of it, where the caller takes one, and the rest once it can be paid', async () => {
    const poor = await caller(6);
    const part = await search(poor, `${everybody}&limit=7&partial=true`);
    expect(idsOf(part)).toEqual(allIds().slice(0, 6));
    expect(part.headers.get('x-partial')).toBe('true');
    expect(await balance(poor)).toBe(0);
    const nothing = await pipeline.call(poor, must(part.next, 'next page'));
    await expectProblem(nothing, { status: 402, code: 'insufficient_credits' });
    await pipeline.grant(poor, 100, 'more');
    const rest = await follow(poor, must(part.next, 'next page'));
    expect(rest.headers.get('x-partial')).toBeNull();
    expect(idsOf(rest)).toEqual(allIds().slice(6, 13));
  });

  test('within the bound that a key has for its day', async () => {
    const bound = await caller(100);
    await pipeline.sql`insert into key_budgets (key_id, credits_per_day) values (${bound.keyId}, 5)`;
    const response = await pipeline.call(bound, `/personsearch/?${everybody}&limit=7`);
    await expectProblem(response, { status: 402, code: 'daily_credits_reached' });
    const part = await search(bound, `${everybody}&limit=7&partial=true`);
    expect(part.people).toHaveLength(5);
    expect(await balance(bound)).toBe(95);
  });

  test('exactly, however many ask at once', async () => {
    const buyer = await caller(100);
    /** Asks again after too long a wait for its turn, which a busy machine causes. */
    const ask = async (): Promise<Response> => {
      const response = await pipeline.call(buyer, `/personsearch/?${everybody}&limit=7`);
      return response.status === 503 ? ask() : response;
    };
    const answers = await Promise.all(Array.from({ length: 30 }, ask));
    const paid = answers.filter(({ status }) => status === 200);
    expect(paid).toHaveLength(14);
    for (const { status } of answers) expect([200, 402]).toContain(status);
    expect(await balance(buyer)).toBe(2);
    expect((await audit(pipeline.sql)).ok).toBe(true);
  });

  test('once for an Idempotency-Key, whose replay has the same people', async () => {
    const buyer = await caller(100);
    const headers = { 'Idempotency-Key': 'once' };
    const query = `${everybody}&limit=3&count=true`;
    const first = await search(buyer, query, headers);
    const second = await search(buyer, query, headers);
    expect(second.people).toEqual(first.people);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-credits-charged')).toBe('0');
    for (const name of ['link', 'x-total-count']) {
      expect(second.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(await balance(buyer)).toBe(97);
    const other = await pipeline.call(buyer, `/personsearch/?${everybody}`, { headers });
    await expectProblem(other, { status: 422, code: 'idempotency_key_reused' });
    await suppress(pipeline.sql, `p0@mail0.example`);
    const later = await search(buyer, query, headers);
    expect(idsOf(later)).toEqual(idsOf(first).slice(1));
    await pipeline.sql`delete from suppressed_persons`;
  });
});

describe('a preview tells', () => {
  test('about how many people have each field, whatever the filter', async () => {
    const response = await pipeline.call(rich, '/v1/personsearch/preview?gender=[male|null]');
    const asked = subjects.filter(({ person }) => person.gender !== 'female');
    const counts = personFields.map(({ name }) => {
      const there = asked.filter(({ person }) => !isAbsent(person[name]));
      return [name, tens(there.length)];
    });
    expect(await response.json()).toEqual({
      total: tens(asked.length),
      total_is: 'about',
      owned: 0,
      estimated_credits: tens(asked.length),
      fields: Object.fromEntries(counts),
      unknown_values: [],
    });
  });

  test('nothing for page parameters, which are none of a filter', async () => {
    const response = await pipeline.call(rich, `/personsearch/preview?${everybody}&limit=5`);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.detail).toContain('limit');
  });
});

test('test keys search their own graph and pay nothing', async () => {
  await fillTestGraph(pipeline.context.testSql);
  const tester = await pipeline.keyOf(rich.accountId, 'test');
  const before = await balance(rich);
  const { people, headers, next } = await search(tester, 'gender=female&limit=5');
  expect(people).toHaveLength(5);
  expect(headers.get('x-credits-charged')).toBe('0');
  expect((await follow(tester, must(next, 'next page'))).people).toHaveLength(5);
  expect((await search(tester, everybody)).people).toEqual([]);
  expect(await balance(rich)).toBe(before);
});

describe('the do-not-contact list', () => {
  const send = (by: Caller, method: string, body: unknown) =>
    pipeline.call(by, '/v1/do-not-contact', {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const found = async (by: Caller) => idsOf(await search(by, `${everybody}&limit=1000`));

  test('keeps people out of pages, counts and previews of its account alone', async () => {
    const careful = await caller(1000);
    const sha256 = createHash('sha256').update('p4@mail1.example').digest('hex');
    const list = {
      emails: [' P1@MAIL1.example', 'unknown@else.example'],
      domains: ['@mail2.EXAMPLE'],
      email_sha256: [sha256],
    };
    expect(await (await send(careful, 'POST', list)).json()).toEqual({ added: 4 });
    expect(await (await send(careful, 'POST', list)).json()).toEqual({ added: 0 });
    const left = allIds().filter((_, index) => index % 3 !== 2 && index !== 1 && index !== 4);
    expect(await found(careful)).toEqual(left);
    const before = await balance(careful);
    const page = await search(careful, `${everybody}&count=true&limit=2`);
    expect(page.headers.get('x-total-count')).toBe(String(left.length));
    expect(await balance(careful)).toBe((before ?? 0) - 2);
    const preview = await pipeline.call(careful, `/personsearch/preview?${everybody}`);
    expect(await preview.json()).toMatchObject({ total: tens(left.length) });
    expect(await found(rich)).toEqual(allIds());
  });

  test('is told in pages, newest first, and forgets what is taken off', async () => {
    const careful = await caller(1000);
    await send(careful, 'POST', { domains: ['mail0.example', 'mail1.example'] });
    const first = await pipeline.call(careful, '/v1/do-not-contact?limit=1');
    const page = (await first.json()) as { data: { domain: string }[]; next_cursor: string };
    expect(page.data).toMatchObject([{ domain: 'mail1.example', email_sha256: null }]);
    const rest = await pipeline.call(
      careful,
      `/v1/do-not-contact?limit=1&cursor=${page.next_cursor}`,
    );
    expect(await rest.json()).toMatchObject({
      data: [{ domain: 'mail0.example' }],
      next_cursor: null,
    });
    const removed = await send(careful, 'DELETE', { domains: ['mail0.example', 'x.example'] });
    expect(await removed.json()).toEqual({ removed: 1 });
    expect(await found(careful)).toEqual(allIds().filter((_, index) => index % 3 !== 1));
  });

  test('takes thousands at once and names what is no address', async () => {
    const careful = await caller(1000);
    const emails = Array.from({ length: 9_999 }, (_, index) => `p${index}@mail0.example`);
    expect(await (await send(careful, 'POST', { emails })).json()).toEqual({ added: 9_999 });
    expect(await found(careful)).toEqual(allIds().filter((_, index) => index % 3 !== 0));
    const bad = await send(careful, 'POST', { emails: ['a@b.example', 'none'], domains: ['a b'] });
    const problem = await expectProblem(bad, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors.map(({ field }) => field)).toEqual(['emails.1', 'domains.0']);
    await expectProblem(await send(careful, 'POST', {}), {
      status: 400,
      code: 'invalid_parameter',
    });
  });
});

test('a search that the database cannot end in time says what to do, and costs nothing', async () => {
  const hasty = await openPipeline({ SEARCH_TIMEOUT_MS: '30' });
  try {
    await importGraph(hasty.sql, { persons: [{ id: 1, name: 'Ada' }] });
    // This lock keeps all readers from the table.
    const lock = await hasty.sql.reserve();
    await lock`begin`;
    await lock`lock table person_search`;
    const by = await hasty.account(10);
    const paths = ['/personsearch/?name=ada&limit=1', '/personsearch/preview?name=*'];
    for (const path of paths) {
      const response = await hasty.call(by, path);
      await expectProblem(response, { status: 503, code: 'search_timeout' });
      expect(response.headers.get('retry-after')).not.toBeNull();
    }
    const deep = await hasty.call(by, '/personsearch/?name=ada&limit=1&skip=500');
    const problem = await expectProblem(deep, { status: 503, code: 'use_cursor' });
    expect(problem.detail).toContain('cursor');
    await lock`rollback`;
    lock.release();
    const second = await hasty.keyOf(by.accountId, 'live');
    expect((await hasty.call(second, '/personsearch/?name=ada&limit=1')).status).toBe(200);
    expect((await hasty.wallet(by))?.balance).toBe(9);
  } finally {
    await hasty.close();
  }
});
