/**
 * Attacks over HTTP that try to learn about a person without paying. A caller who knows an identifier, or where a
 * person works, calls every free endpoint; all must respond as if no person were stored.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { ada, crowd, smallGraph } from '../../tests/support/small-graph.ts';
import { suppress } from '../core/suppression/suppress.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, {
    persons: [
      ...crowd(42).map((person, index) => ({
        ...person,
        companyId: 12,
        gender: index < 20 ? 'female' : 'male',
        ...(index < 12 ? { mobile: `+4479111230${10 + index}` } : {}),
      })),
      { ...grinder, mobile: '+447911123999', workEmail: 'grinder@acme.example' },
    ],
  });
  await suppress(pipeline.sql, 'out@home.example');
});
afterAll(() => pipeline.close());

/** Known from outside: there is one Chief Lens Grinder at Acme. */
const grinder = {
  id: 7001,
  companyId: 10,
  position: 'Chief Lens Grinder',
  name: 'Greta',
  gender: 'female',
  birthYear: 1977,
  workEmailStatus: 'valid',
};

const account = (credits: number) => pipeline.unmeteredAccount(credits);

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** One caller's responses, without the parts that differ from call to call. */
class Observer {
  readonly seen: string[] = [];
  readonly #caller: Caller;
  readonly #own: readonly string[];

  /** `own` are the texts that the caller has sent. */
  constructor(caller: Caller, own: readonly string[]) {
    this.#caller = caller;
    this.#own = own;
  }

  async read(path: string, init: RequestInit = {}): Promise<{ id: string }> {
    const response = await pipeline.call(this.#caller, path, init);
    const text = await response.text();
    const names = ['x-total-count', 'x-total-is', 'link', 'x-credits-charged', 'x-result-complete'];
    const headers = names.map((name) => response.headers.get(name));
    this.seen.push(
      this.#plain(`${init.method ?? 'GET'} ${path} ${response.status} ${headers} ${text}`),
    );
    const isObject = /^application\/json(;|$)/.test(response.headers.get('content-type') ?? '');
    return isObject ? (JSON.parse(text) as { id: string }) : { id: '' };
  }

  async readStorage(): Promise<void> {
    const response = await pipeline.call(this.#caller, '/v1/me');
    const { storage } = (await response.json()) as { storage: object };
    this.seen.push(JSON.stringify(storage));
  }

  async run(): Promise<void> {
    await pipeline.runUntilIdle();
  }

  /** Everything that is told of a list or an export. */
  async readAll(path: string): Promise<void> {
    await this.read(path);
    for (const part of ['report', 'results', 'results?format=jsonl&gzip=false']) {
      await this.read(`${path}/${part}`);
    }
  }

  #plain(text: string): string {
    const plain = this.#own.reduce((left, own) => left.replaceAll(own, 'OWN'), text);
    return plain
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, 'TIME')
      .replace(/"(rows_per_second|eta_seconds)":\w+/g, '"$1":N')
      .replace(/in \d+ s\./g, 'in N s.');
  }
}

/** A search, asked in every way that charges nothing. */
async function searchForFree(filter: string): Promise<string[]> {
  const rich = await account(50);
  const asked = new Observer(rich, [filter, ...filter.split('&')]);
  const broke = new Observer(await account(0), [filter, ...filter.split('&')]);
  await asked.read(`/personsearch/preview?${filter}`);
  await asked.read(`/v1/personsearch/breakdown?${filter}`);
  await asked.read(`/personsearch/?${filter}&skip=9&count=true`);
  await broke.read(`/personsearch/?${filter}&limit=1000&count=true`);
  await broke.read(`/personsearch/?${filter}&limit=1000&partial=true`);

  const held = await asked.read('/v1/exports', json({ filter, hold: true }));
  await asked.run();
  await asked.readAll(`/v1/exports/${held.id}`);
  await asked.readStorage();
  await asked.read(`/v1/exports/${held.id}/cancel`, { method: 'POST' });
  await asked.run();
  await asked.readAll(`/v1/exports/${held.id}`);

  const unpaid = await asked.read('/v1/exports', json({ filter, max_credits: 0 }));
  await asked.run();
  await asked.readAll(`/v1/exports/${unpaid.id}`);
  await asked.readStorage();
  const waiting = await broke.read('/v1/exports', json({ filter }));
  await broke.run();
  await broke.readAll(`/v1/exports/${waiting.id}`);
  await broke.read(`/v1/exports/${waiting.id}/cancel`, { method: 'POST' });
  await broke.run();
  await broke.readAll(`/v1/exports/${waiting.id}`);
  expect((await pipeline.wallet(rich))?.balance).toBe(50);
  return [...asked.seen, ...broke.seen];
}

/** A row of a list by an email address, asked in every way that charges nothing. */
async function listForFree(address: string, operation: string): Promise<string[]> {
  const rich = await account(50);
  const asked = new Observer(rich, [address]);
  const broke = new Observer(await account(0), [address]);
  const rows = ['none@list.example,A', `${address},Someone Else`, 'void@list.example,B'];
  const list = `email,person name\n${rows.join('\n')}\n`;
  const path = (options: Record<string, string>) =>
    `/v1/batches?${new URLSearchParams({ operation, mapping: '{"email":1,"person_name":2}', ...options })}`;
  const upload = { method: 'POST', headers: { 'Content-Type': 'text/csv' }, body: list };

  const held = await asked.read(path({ hold: 'true' }), upload);
  await asked.run();
  for (const max_credits of [null, 0, 1, 8]) {
    const change = { ...json({ max_credits }), method: 'PATCH' };
    await asked.read(`/v1/batches/${held.id}`, change);
    await asked.read(`/v1/batches/${held.id}/quote`, { method: 'POST' });
    await asked.run();
    await asked.read(`/v1/batches/${held.id}`);
  }
  const strict = await asked.read(path({ require_agreement: 'true', dedupe: 'true' }), upload);
  await asked.run();
  await asked.readAll(`/v1/batches/${strict.id}`);
  const unpaid = await asked.read(path({ max_credits: '0' }), upload);
  await asked.run();
  await asked.readAll(`/v1/batches/${unpaid.id}`);
  await asked.read(`/v1/batches/${unpaid.id}`, { ...json({ max_credits: 0 }), method: 'PATCH' });
  await asked.read(`/v1/batches/${unpaid.id}/resume`, { method: 'POST' });
  await asked.run();
  await asked.readAll(`/v1/batches/${unpaid.id}`);
  await asked.read(`/v1/batches/${unpaid.id}/cancel`, { method: 'POST' });
  await asked.run();
  await asked.readAll(`/v1/batches/${unpaid.id}`);

  const quoted = await broke.read(path({ hold: 'true' }), upload);
  await broke.run();
  await broke.read(`/v1/batches/${quoted.id}/quote`, { method: 'POST' });
  await broke.run();
  await broke.read(`/v1/batches/${quoted.id}`);
  const waiting = await broke.read(path({}), upload);
  await broke.run();
  await broke.readAll(`/v1/batches/${waiting.id}`);
  expect((await pipeline.wallet(rich))?.balance).toBe(50);
  return [...asked.seen, ...broke.seen];
}

describe('a caller who knows an identifier learns nothing for free', () => {
  test.each([
    ['email=ada%40home.example', 'email=ida%40home.example'],
    ['workEmail=ada%40acme.example', 'workEmail=ida%40acme.example'],
    ['phone=%2B441632960001', 'phone=%2B441632960002'],
    ['twitter=ada', 'twitter=ida'],
    ['professional_network=ada-lovely', 'professional_network=ida-lovely'],
    ['id=1', 'id=999999'],
    ['name=Ada&surname=Lovely', 'name=Ida&surname=Lovely'],
    // Two people.
    ['name=Bob&surname=Brown', 'name=Rob&surname=Brown'],
    ['name=Ada&companyId=10&gender=2', 'name=Ada&companyId=10&gender=1'],
    ['email=ada%40home.example&mobile=*', 'email=ada%40home.example&mobile=null'],
  ])('a search for %s is that for %s', async (stored, unknown) => {
    expect(await searchForFree(stored)).toEqual(await searchForFree(unknown));
  });

  test('a crowd of known addresses around an unknown one is not counted, however large', async () => {
    const asker = await account(50);
    const crowded = Array.from({ length: 20 }, (_, n) => `p${n + 1}@list.example`).join('|');
    const filter = `email=[${crowded}|ada@home.example]`;
    const preview = await pipeline.call(asker, `/personsearch/preview?${filter}`);
    const problem = await expectProblem(preview, { status: 400, code: 'identifying_filter' });
    expect(problem.errors).toMatchObject([{ field: 'email' }]);
    const page = await pipeline.call(asker, `/personsearch/?${filter}&skip=30&limit=1&count=true`);
    expect([page.status, page.headers.get('x-total-count')]).toEqual([200, null]);
    const id = await pipeline.makeExport(asker, { filter, hold: true });
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(asker, id)).toMatchObject({
      state: 'ready',
      total_is: null,
      estimated_credits: null,
      rows: { total: null },
    });
    expect((await pipeline.wallet(asker))?.balance).toBe(50);
  });

  test('a page of several addresses on one credit is refused alike, however many are stored', async () => {
    const asker = await account(1);
    for (const addresses of ['ada@home.example|eve@home.example', 'ada@home.example|x@y.example']) {
      const path = `/personsearch/?email=[${addresses}]&limit=2`;
      const refused = { status: 402, code: 'insufficient_credits' };
      const problem = await expectProblem(await pipeline.call(asker, path), refused);
      expect(problem).toMatchObject({ needed: 2, available: 1 });
    }
    expect((await pipeline.wallet(asker))?.balance).toBe(1);
  });

  test.each(['people.enrich', 'people.mobile', 'people.email-verify'])(
    'a row of a list for %s is that of an unknown person',
    async (operation) => {
      const nobody = await listForFree('nobody@list.example', operation);
      expect(await listForFree(ada.workEmail, operation)).toEqual(nobody);
      // Opted out; stored without a mobile number.
      expect(await listForFree('out@home.example', operation)).toEqual(nobody);
      expect(await listForFree('bob@acme.example', operation)).toEqual(nobody);
    },
  );
});

describe('a caller who knows where a person works', () => {
  test('cannot rebuild the person by questions: each has one response, whatever the truth', async () => {
    const known = 'companyId=10&position=Chief%20Lens%20Grinder';
    const questions = [
      ...['gender=1', 'gender=2', 'mobile=*', 'mobile=null', 'workEmailStatus=valid'],
      ...['workEmailStatus=invalid', 'birthYear=1900-1976', 'birthYear=1977-', 'phoneTypeId=1'],
      ...['createdAt=2000-01-01..2020-01-01', 'school=*', 'isX=1', 'emailTypeId=1', 'isFB=1'],
    ];
    const responses = new Set<string>();
    for (const question of questions) {
      responses.add(JSON.stringify(await searchForFree(`${known}&${question}`)));
    }
    expect(responses.size).toBe(1);
  });

  test('sees a group and the same group with that person alike', async () => {
    const asker = await account(0);
    const preview = async (filter: string) =>
      (await pipeline.call(asker, `/personsearch/preview?${filter}`)).json() as Promise<object>;
    // With the person and without: 43 and 42.
    const without = await preview('companyId=12');
    const withPerson = await preview('companyId=[12|10]&position=[null|Chief Lens Grinder]');
    expect(withPerson).toMatchObject({ total: 40, total_is: 'about' });
    const unknown = [{ parameter: 'position', value: 'Chief Lens Grinder' }];
    expect(withPerson).toEqual({ ...without, unknown_values: unknown });
  });

  test('hears of the person’s title as of one that no one has', async () => {
    const asker = await account(0);
    const preview = async (title: string) => {
      const query = new URLSearchParams({ position: title });
      const response = await pipeline.call(asker, `/personsearch/preview?${query}`);
      return (await response.text()).replaceAll(title, 'title');
    };
    expect(await preview('Chief Lens Grinder')).toBe(await preview('Chief Lens Painter'));
  });
});

describe('a list made to find out who is stored', () => {
  test('by wrong names gets no count of them, until it pays for four times as many', async () => {
    const asker = await account(100);
    const members = Array.from({ length: 12 }, (_, n) => `m${n}@agree.example`);
    await importGraph(pipeline.sql, {
      persons: members.map((email, n) => ({ id: 8001 + n, email, name: 'Mia', surname: 'Member' })),
    });
    const wrong = members.map((email) => `${email},Otto Other`);
    const reportOf = async (rows: string[]) => {
      const id = await pipeline.enrich(asker, `email,name\n${rows.join('\n')}\n`, {
        operation: 'people.enrich',
        require_agreement: 'true',
        mapping: '{"email":1,"person_name":2}',
      });
      const report = await pipeline.call(asker, `/v1/batches/${id}/report`);
      const { text } = await pipeline.results(asker, id);
      const told = text.split('\n').filter((line) => line.includes('agree.example'));
      for (const row of told) expect(row).toMatch(/Otto Other,no_match,[a-z_ ]*,not_found,,0,/);
      return ((await report.json()) as { agrees: Record<string, number> }).agrees;
    };
    expect(await reportOf(wrong)).toEqual({});
    expect((await pipeline.wallet(asker))?.balance).toBe(100);
    const crowded = Array.from({ length: 48 }, (_, n) => `p${(n % 42) + 1}@list.example,`);
    expect(await reportOf([...crowded.slice(1), ...wrong])).toEqual({ unknown: 47 });
    expect(await reportOf([...crowded, ...wrong])).toEqual({ unknown: 48, no: 12 });
  });
});

test('exports and quotes count against the key, as previews do', async () => {
  const asker = await pipeline.account(10);
  await pipeline.sql`update api_keys set requests_per_day = 3 where id = ${asker.keyId}`;
  const held = json({ filter: 'companyId=12', hold: true });
  expect((await pipeline.call(asker, '/v1/exports', held)).status).toBe(202);
  expect((await pipeline.call(asker, '/personsearch/preview?companyId=12')).status).toBe(200);
  const id = await pipeline.enrich(asker, 'email\np1@list.example\n', {
    operation: 'people.enrich',
    hold: 'true',
  });
  const quote = () => pipeline.call(asker, `/v1/batches/${id}/quote`, { method: 'POST' });
  expect((await quote()).status).toBe(202);
  const tooMany = { status: 429, code: 'rate_limited' };
  await expectProblem(await quote(), tooMany);
  await expectProblem(await pipeline.call(asker, '/v1/exports', held), tooMany);
});

describe('honest use stays free', () => {
  test('a search is counted, exactly for a caller who takes a person of it', async () => {
    const asker = await account(5);
    const preview = await pipeline.call(asker, '/personsearch/preview?companyId=12');
    expect(await preview.json()).toMatchObject({
      total: 40,
      total_is: 'about',
      estimated_credits: 40,
      fields: { id: 40, email: 40, mobile: 10, twitter: 0 },
    });
    expect((await pipeline.wallet(asker))?.balance).toBe(5);
    const page = await pipeline.call(asker, '/personsearch/?companyId=12&limit=1&count=true');
    expect([page.headers.get('x-total-count'), page.headers.get('x-total-is')]).toEqual([
      '42',
      'exact',
    ]);
  });

  test('a held export says about what it costs, and exactly once it delivers', async () => {
    const asker = await account(50);
    const id = await pipeline.makeExport(asker, { filter: 'companyId=12&mobile=*', hold: true });
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(asker, id)).toMatchObject({
      state: 'ready',
      total_is: 'about',
      estimated_credits: 10,
      rows: { total: 10 },
    });
    await pipeline.call(asker, `/v1/exports/${id}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(asker, id)).toMatchObject({
      total_is: 'exact',
      estimated_credits: 12,
      rows: { total: 12, processed: 12, matched: 12 },
      credits: { charged: 12 },
    });
  });

  test('a list is quoted exactly from ten matches on, and says why each row is no match', async () => {
    const asker = await account(50);
    const rows = Array.from({ length: 14 }, (_, n) => `p${n + 1}@list.example`);
    const id = await pipeline.enrich(asker, `email\n${rows.join('\n')}\nx@y.example\nnone\n`, {
      operation: 'people.enrich',
      hold: 'true',
      max_credits: '12',
    });
    await pipeline.call(asker, `/v1/batches/${id}/quote`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(asker, id)).toMatchObject({
      quote: {
        rows: { matched: 14, no_match: 1, invalid: 1 },
        credits: 14,
        credits_is: 'exact',
        affordable: true,
      },
      credits: { max: 12 },
    });
    expect((await pipeline.wallet(asker))?.balance).toBe(50);
  });
});
