/** A person is paid for once in `owned_days`, through lists, exports, searches and calls together. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { beforeFirstCommit, expectAgreement, spentOf } from '../../../tests/support/money.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { inTransaction } from '../../core/db/client.ts';
import { entityCodes } from '../../core/graph/source-entities.ts';
import { suppressPeople } from '../../core/suppression/suppress.ts';
import { redactAllResults } from '../result/redact-results.ts';

const PEOPLE = 24;
const everyone = 'email=*';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  const persons = crowd(PEOPLE).map((person) =>
    person.id === 1022 ? { ...person, mobile: '+441632960001' } : person,
  );
  await importGraph(pipeline.sql, { persons });
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.put;
  await expectAgreement(pipeline);
});

async function buyer(credits: number, days = 30): Promise<Caller> {
  const caller = await pipeline.unmeteredAccount(credits);
  await changeOwnedDays(pipeline.sql, caller.accountId, days);
  return caller;
}

/** A list of these people of the crowd, from 1. */
const list = (...people: number[]) =>
  `email\n${people.map((p) => `p${p}@list.example\n`).join('')}`;
const run = (by: Caller, people: number[], options: Record<string, string> = {}) =>
  pipeline.enrich(by, list(...people), { operation: 'people.enrich', fields: 'id', ...options });

async function creditsOfRows(by: Caller, id: string): Promise<string[]> {
  const [header = '', ...rows] = (await pipeline.results(by, id)).text.trim().split('\n');
  const at = header.split(',').indexOf('match.credits');
  return rows.map((row) => row.split(',')[at] ?? '');
}

async function callOne(by: Caller, person: number) {
  const response = await pipeline.call(by, `/v1/people/enrich?email=p${person}@list.example`);
  return { status: response.status, body: await response.json() };
}

test('by default each matched row is charged', async () => {
  const by = await buyer(100, 0);
  const id = await run(by, [1, 1, 2]);
  expect(await creditsOfRows(by, id)).toEqual(['1', '1', '1']);
  expect(await pipeline.batch(by, id)).toMatchObject({ owned: 0, credits: { charged: 3 } });
  expect(await spentOf(pipeline, by, 100)).toBe(3);
});

test('a list charges for each person once, and not for those that were paid before', async () => {
  const by = await buyer(100);
  expect(await callOne(by, 1)).toMatchObject({ body: { meta: { credits_charged: 1 } } });
  const id = await run(by, [1, 2, 3, 2, 4, 5, 2, 1]);
  expect(await creditsOfRows(by, id)).toEqual(['0', '1', '1', '0', '1', '1', '0', '0']);
  expect(await pipeline.batch(by, id)).toMatchObject({
    state: 'completed',
    rows: { matched: 8 },
    owned: 4,
    credits: { charged: 4 },
  });
  expect(await callOne(by, 3)).toMatchObject({ body: { meta: { credits_charged: 0 } } });
  expect(await spentOf(pipeline, by, 100)).toBe(5);
});

test('what was paid through one channel is free through each other one', async () => {
  const by = await buyer(100);
  const search = async () => {
    const response = await pipeline.call(by, `/v1/personsearch?${everyone}&limit=20`);
    const page = (await response.json()) as unknown[];
    return { people: page.length, credits: response.headers.get('x-credits-charged') };
  };
  expect(await search()).toEqual({ people: 20, credits: '20' });
  expect(await search()).toEqual({ people: 20, credits: '0' });
  const exported = await pipeline.makeExport(by, { name: 'all', filter: everyone });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(by, exported)).toMatchObject({
    state: 'completed',
    rows: { matched: PEOPLE, total: PEOPLE },
    owned: 20,
    credits: { charged: 4 },
  });
  await run(by, [1, 20, 23]);
  expect(await callOne(by, 22)).toMatchObject({ body: { meta: { credits_charged: 0 } } });
  expect(await spentOf(pipeline, by, 100)).toBe(PEOPLE);
});

test('a list of mobile numbers charges for people whose record is owned, and once', async () => {
  const by = await buyer(100);
  const enrich = (operation: string) => pipeline.enrich(by, list(22), { operation });
  await enrich('people.enrich');
  await enrich('people.mobile');
  await enrich('people.mobile');
  expect(await spentOf(pipeline, by, 100)).toBe(9);
});

test('each price before says how many are owned, and the run charges it', async () => {
  const by = await buyer(100);
  await run(by, [1, 2, 3]);
  const id = await run(by, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 4], { hold: 'true' });
  await pipeline.call(by, `/v1/batches/${id}/quote`, { method: 'POST' });
  await pipeline.runUntilIdle();
  const quote = { rows: { matched: 11 }, owned: 4, credits: 7, credits_is: 'exact' };
  expect(await pipeline.batch(by, id)).toMatchObject({ quote });
  await pipeline.call(by, `/v1/batches/${id}/start`, { method: 'POST' });
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(by, id)).toMatchObject({ credits: { charged: 7 }, owned: 4 });
  const preview = await pipeline.call(by, `/v1/personsearch/preview?${everyone}`);
  expect(await preview.json()).toMatchObject({ total: 20, owned: 10, estimated_credits: 10 });
  const exported = await pipeline.makeExport(by, { name: 'x', filter: everyone, hold: true });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(by, exported)).toMatchObject({
    rows: { total: 20 },
    estimated_owned: 10,
    estimated_credits: 10,
  });
  // Owned no longer, they cost no more than was told: about 20 are 24 at most.
  await pipeline.sql`update owned_people set paid_at = '2020-01-01' where account_id = ${by.accountId}`;
  await pipeline.call(by, `/v1/exports/${exported}/start`, { method: 'POST' });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(by, exported)).toMatchObject({ credits: { charged: 14 } });
});

test('a quote of few matches does not tell that two rows are one person', async () => {
  const by = await buyer(100);
  const id = await run(by, [1, 1], { hold: 'true' });
  await pipeline.call(by, `/v1/batches/${id}/quote`, { method: 'POST' });
  await pipeline.runUntilIdle();
  const quote = { rows: { invalid: 0 }, owned: 0, credits: 2, credits_is: 'at_most' };
  expect(await pipeline.batch(by, id)).toMatchObject({ quote });
});

test('a call between the pricing and the commit of a part pays, and the part is priced again', async () => {
  const by = await buyer(100);
  let calls = 0;
  pipeline.faults.put = async (key) => {
    if (!key.includes('/parts/') && !key.includes('part')) return;
    if (calls++ === 0) {
      expect(await callOne(by, 2)).toMatchObject({ body: { meta: { credits_charged: 1 } } });
    }
  };
  const id = await run(by, [1, 2, 3]);
  expect(calls).toBeGreaterThan(1);
  expect(await creditsOfRows(by, id)).toEqual(['1', '0', '1']);
  expect(await pipeline.batch(by, id)).toMatchObject({ owned: 1, credits: { charged: 2 } });
  expect(await spentOf(pipeline, by, 100)).toBe(3);
  const chunks = await pipeline.sql`select failures from chunks where batch_id = ${id}`;
  expect([...chunks]).toEqual([{ failures: 0 }]);
});

test('two people whom an import joins between the pricing and the commit of a part are priced again, as one', async () => {
  const by = await buyer(100);
  let puts = 0;
  pipeline.faults.put = async () => {
    if (puts++ > 0) return;
    await pipeline.sql`
      insert into merged_ids (entity, id, into_id, import_id) values (${entityCodes.person}, 1003, 1002, 0)`;
  };
  const id = await run(by, [1, 2, 3]);
  await pipeline.sql`delete from merged_ids where id = 1003`;
  expect(await creditsOfRows(by, id)).toEqual(['1', '1', '0']);
  expect(await pipeline.batch(by, id)).toMatchObject({ owned: 1, credits: { charged: 2 } });
});

test('an account that begins to pay once while a part runs pays once for the people of the part', async () => {
  const by = await buyer(100, 0);
  beforeFirstCommit(pipeline, async () => {
    await changeOwnedDays(pipeline.sql, by.accountId, 30);
    expect(await callOne(by, 2)).toMatchObject({ body: { meta: { credits_charged: 1 } } });
  });
  const id = await run(by, [1, 1, 2]);
  expect(await creditsOfRows(by, id)).toEqual(['1', '0', '0']);
  expect(await spentOf(pipeline, by, 100)).toBe(2);
});

test('an account that no longer pays once pays for each row of a part that was priced before', async () => {
  const by = await buyer(100);
  await callOne(by, 2);
  beforeFirstCommit(pipeline, () => changeOwnedDays(pipeline.sql, by.accountId, 0));
  const id = await run(by, [1, 1, 2]);
  expect(await creditsOfRows(by, id)).toEqual(['1', '1', '1']);
});

test('a call that waits for the wallet together with the commit of a part charges once with it', async () => {
  const by = await buyer(100);
  let holding: Promise<void> = Promise.resolve();
  let calling: Promise<unknown> = Promise.resolve();
  let puts = 0;
  pipeline.faults.put = async () => {
    if (puts++ > 0) return;
    await new Promise<void>((locked) => {
      holding = inTransaction(pipeline.sql, async (tx) => {
        await tx`select from wallets where account_id = ${by.accountId} for update`;
        calling = callOne(by, 2);
        await pipeline.untilBlocked(1);
        // The commit comes second.
        locked();
        await pipeline.untilBlocked(2);
      });
    });
  };
  const id = await run(by, [1, 2, 3]);
  await Promise.all([holding, calling]);
  expect(await pipeline.batch(by, id)).toMatchObject({ state: 'completed' });
  expect(await spentOf(pipeline, by, 100)).toBe(3);
});

test('owned rows need no credits of max_credits, and wait behind the match that cannot be paid', async () => {
  const by = await buyer(100);
  await run(by, [1, 4]);
  const id = await run(by, [1, 2, 3, 4], { max_credits: '1' });
  expect(await pipeline.batch(by, id)).toMatchObject({ state: 'paused', reason: 'max_credits' });
  expect(await creditsOfRows(by, id)).toEqual(['0', '1']);
  expect(await spentOf(pipeline, by, 100)).toBe(3);
});

test('without a credit, an export of owned people is told no more than of strangers', async () => {
  const by = await buyer(2);
  await run(by, [1, 2]);
  const views: unknown[] = [];
  for (const filter of ['id=1001-1002', 'id=1001-1003', 'id=9001']) {
    const id = await pipeline.makeExport(by, { name: 'x', filter, max_credits: 5 });
    await pipeline.runUntilIdle();
    const { state, reason, rows, credits, owned } = await pipeline.exportOf(by, id);
    views.push({ state, reason, rows, credits, owned });
  }
  expect(views[0]).toMatchObject({ state: 'paused', reason: 'insufficient_credits', owned: 0 });
  expect(views[1]).toEqual(views[0]);
  expect(views[2]).toEqual(views[0]);
});

test('an export that charges for no one tells its total only when it delivered all of them', async () => {
  const by = await buyer(100);
  await run(by, [2]);
  const limited = await pipeline.makeExport(by, { name: 'x', filter: everyone, max_credits: 0 });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(by, limited)).toMatchObject({
    state: 'completed',
    rows: { total: 20, matched: 0 },
    total_is: 'about',
  });
  const all = await pipeline.makeExport(by, { name: 'x', filter: 'id=1002' });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(by, all)).toMatchObject({
    state: 'completed',
    rows: { total: 1, matched: 1 },
    owned: 1,
    credits: { charged: 0 },
  });
});

test('a page of owned people does not tell the exact total', async () => {
  const by = await buyer(100);
  await run(by, [1]);
  const page = (limit: number) =>
    pipeline.call(by, `/v1/personsearch?${everyone}&limit=${limit}&count=true`);
  const free = await page(1);
  expect(free.headers.get('x-credits-charged')).toBe('0');
  expect(free.headers.get('x-total-is')).toBe('about');
  expect((await page(2)).headers.get('x-total-is')).toBe('exact');
});

test('a page of an owned person does not tell whether another one is stored', async () => {
  const by = await buyer(100);
  await run(by, [1]);
  const page = (email: string, more = '') =>
    pipeline.call(by, `/v1/personsearch?email=[p1@list.example|${email}]&limit=1${more}`);
  const [stored, unknown] = [await page('p2@list.example'), await page('no.one@list.example')];
  expect([stored, unknown].map(({ headers }) => headers.get('x-credits-charged'))).toEqual([
    '0',
    '0',
  ]);
  const next = (answer: typeof stored) => {
    return /<[^>]*email=[^&]*(&limit=1)&cursor=[^>]*>; rel="next"/.exec(
      decodeURIComponent(answer.headers.get('link') ?? ''),
    )?.[1];
  };
  expect([next(stored), next(unknown)]).toEqual(['&limit=1', '&limit=1']);
  // The next page charges for the person, or is the free end.
  const after = (answer: typeof stored) => {
    const [, address = ''] = /<([^>]*)>/.exec(answer.headers.get('link') ?? '') ?? [];
    return pipeline.call(by, address);
  };
  expect((await after(stored)).headers.get('x-credits-charged')).toBe('1');
  const end = await after(unknown);
  expect([end.status, await end.text(), end.headers.get('link')]).toEqual([200, '[]', null]);
});

test('a test key neither pays nor owns', async () => {
  const by = await buyer(100);
  const key = await pipeline.keyOf(by.accountId, 'test');
  await run(key, [1, 1]);
  const owned = await pipeline.sql`
    select from owned_people where account_id = ${by.accountId}`;
  expect(owned).toHaveLength(0);
});

test('the results of owned people are redacted like those of others', async () => {
  const by = await buyer(100);
  await run(by, [24]);
  const id = await run(by, [23, 24]);
  await suppressPeople(pipeline.sql, [1024], []);
  await redactAllResults(pipeline.context);
  expect((await pipeline.results(by, id)).text).toContain('suppressed');
});

const someone = fc.integer({ min: 1, max: 12 });
const range = fc
  .tuple(someone, fc.nat({ max: 8 }))
  .map(([from, more]) => Array.from({ length: more + 1 }, (_, at) => from + at));
const act = fc.oneof(
  fc.record({ list: fc.array(someone, { minLength: 1, maxLength: 10 }), dedupe: fc.boolean() }),
  fc.record({ export: range }),
  fc.record({ calls: fc.array(someone, { minLength: 1, maxLength: 6 }) }),
  fc.record({ search: range }),
);

test('lists, exports, searches and calls at once charge for each person once', async () => {
  const seen = { free: 0, repeated: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 2, maxLength: 6 }), async (acts) => {
      const by = await buyer(1000);
      const ids = (people: number[]) =>
        `id=${1000 + (people[0] ?? 0)}-${1000 + (people.at(-1) ?? 0)}`;
      const asked = new Set<number>();
      const wait = acts.map(async (one) => {
        if ('list' in one) {
          for (const p of one.list) asked.add(p);
          const options = { operation: 'people.enrich', fields: 'id', dedupe: String(one.dedupe) };
          await pipeline.upload(by, list(...one.list), options);
        } else if ('export' in one) {
          for (const p of one.export) asked.add(p);
          await pipeline.makeExport(by, { name: 'x', filter: ids(one.export) });
        } else if ('calls' in one) {
          for (const p of one.calls) asked.add(p);
          await Promise.all(one.calls.map((p) => callOne(by, p)));
        } else {
          for (const p of one.search) asked.add(p);
          await pipeline.call(by, `/v1/personsearch?${ids(one.search)}&limit=20`);
        }
      });
      await Promise.all([...wait, pipeline.runUntilIdle(3)]);
      await pipeline.runUntilIdle(3);
      await pipeline.passAnHour();
      // A second list of the account was refused while the first one was split: its wake-up is repeated by age.
      await pipeline.sql`
        update batches set created_at = created_at - interval '1 hour' where finished_at is null`;
      await pipeline.sweep();
      await pipeline.runUntilIdle(3);
      const open = await pipeline.sql`
        select kind, state, reason from batches
        where account_id = ${by.accountId} and finished_at is null`;
      expect([...open]).toEqual([]);
      expect(await spentOf(pipeline, by, 1000)).toBe(asked.size);
      const [owned] = await pipeline.sql<{ rows: number; repeated: number }[]>`
        select sum(b.owned)::int as rows, (
          select sum(c.epoch - c.parts)::int from chunks c join batches o on o.id = c.batch_id
          where o.account_id = ${by.accountId}) as repeated
        from batches b where account_id = ${by.accountId}`;
      seen.free += owned?.rows ?? 0;
      seen.repeated += owned?.repeated ?? 0;
    }),
    { numRuns: 25 },
  );
  expect(seen.free).toBeGreaterThan(20);
  expect(seen.repeated).toBeGreaterThan(0);
});

test('a search can leave out people whom the account owns, and pays for the others alone', async () => {
  const by = await buyer(100);
  await run(by, [1, 2, 3]);
  const search = async (query: string) => {
    const response = await pipeline.call(by, `/v1/personsearch?${everyone}&limit=100${query}`);
    const page = (await response.json()) as { id: number }[];
    return { ids: page.map(({ id }) => id), credits: response.headers.get('x-credits-charged') };
  };
  // Another account owns none of them.
  const stranger = await buyer(100);
  const all = await pipeline.call(stranger, `/v1/personsearch?${everyone}&not.owned=1&limit=100`);
  const ids = ((await all.json()) as { id: number }[]).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([1001, 1002, 1003]));
  const others = await search('&not.owned=1');
  expect(others).toEqual({
    ids: ids.filter((id) => id > 1003),
    credits: String(ids.length - 3),
  });
  // The same without a page: what was not owned is owned now.
  expect((await search('&not.owned=1')).ids).toEqual([]);
});
