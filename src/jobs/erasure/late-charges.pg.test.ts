/** The erasure of a person while a charge, begun before it, waits for its wallet: the charge records the person after all. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { inTransaction } from '../../core/db/client.ts';
import { saveHint } from '../../core/search/search.sql.ts';
import { erasePerson } from './erase-person.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const people = crowd(9).map((person) => ({
    ...person,
    surname: `Late${person.id}`,
    gender: 'female',
  }));
  await importGraph(pipeline.sql, { persons: people });
});
afterEach(() => delete pipeline.faults.put);
afterAll(() => pipeline.close());

async function buyer(ownedDays: number): Promise<Caller> {
  const caller = await pipeline.account(10);
  await changeOwnedDays(pipeline.sql, caller.accountId, ownedDays);
  return caller;
}

/** Holds the account's wallet until the returned function is called. */
function holdWallet({ accountId }: Caller): () => Promise<void> {
  const end = new Signal();
  const held = inTransaction(pipeline.sql, async (tx) => {
    await tx`select from wallets where account_id = ${accountId} for update`;
    await end.raised;
  });
  return async () => {
    end.raise();
    await held;
  };
}

/** Begins to erase a person; resolves when the erasure waits for those who write. */
async function beginErasure(id: number) {
  const { sql } = pipeline;
  const [now] = await sql<[{ at: string }]>`select clock_timestamp()::text as at`;
  const erasure = erasePerson(pipeline.context, { id });
  const waits = () => sql`
    select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and query like '%virtualtransaction%' and query_start > ${now.at}::text::timestamptz`;
  while ((await waits()).length === 0);
  return { erasure };
}

/** Rows about the person that an erasure promises to delete. */
async function usesOf(id: number): Promise<number> {
  const [row] = await pipeline.sql<[{ rows: number }]>`
    select (select count(*) from owned_people where person_id = ${id})::int
      + (select count(*) from batch_records where record_id = ${id})::int
      + (select count(*) from idempotency_keys where body::text ilike ${`%late${id}%`})::int
      + (select count(*) from page_hints where last_id = ${id})::int as rows`;
  return row.rows;
}

/** Runs a list with `dedupe`, and holds the wallet from the moment when its part is stored. */
async function beginList(caller: Caller, person: number) {
  const stored = new Signal();
  let release = async () => {};
  pipeline.faults.put = async (key) => {
    if (!key.includes('/parts/')) return;
    delete pipeline.faults.put;
    release = holdWallet(caller);
    stored.raise();
  };
  const running = pipeline.enrich(caller, `email\np${person}@list.example\n`, {
    operation: 'people.enrich',
    dedupe: 'true',
    fields: 'id',
  });
  await stored.raised;
  return { running, release };
}

test('waits for a list with `dedupe` that began before', async () => {
  const { running, release } = await beginList(await buyer(0), 1);
  await pipeline.untilBlocked(1);
  const { erasure } = await beginErasure(1001);
  await release();
  expect(await erasure).toMatchObject({ erased: 1, left: [] });
  await running;
  expect(await usesOf(1001)).toBe(0);
});

test('reports a list that does not end, and a repeated erasure deletes what it recorded', async () => {
  const { running, release } = await beginList(await buyer(0), 3);
  await pipeline.untilBlocked(1);
  const { left } = await erasePerson(pipeline.context, { id: 1003 }, 10);
  expect(left).toContainEqual({ where: 'public.batch_records', found: [] });
  await release();
  await running;
  expect(await usesOf(1003)).toBe(1);
  expect(await erasePerson(pipeline.context, { id: 1003 })).toMatchObject({ left: [] });
  expect(await usesOf(1003)).toBe(0);
});

test('waits for a call of an account that pays for each person once', async () => {
  const caller = await buyer(30);
  const release = holdWallet(caller);
  const called = pipeline.call(caller, '/v1/people/enrich?email=p4@list.example');
  await pipeline.untilBlocked(1);
  const { erasure } = await beginErasure(1004);
  await release();
  expect(await erasure).toMatchObject({ left: [] });
  expect((await called).status).toBe(200);
  expect(await usesOf(1004)).toBe(0);
});

test.each([[0], [30]])(
  'a page that was read before sends no one, with %i owned days',
  async (days) => {
    const id = days === 0 ? 1005 : 1006;
    const caller = await buyer(days);
    const release = holdWallet(caller);
    const path = `/personsearch/?gender=2&id=${id}-1007&limit=1&sort=surname`;
    const called = pipeline.call(caller, path, { headers: { 'Idempotency-Key': 'a' } });
    await pipeline.untilBlocked(1);
    await erasePerson(pipeline.context, { id }, 10);
    await release();
    await expectProblem(await called, { status: 503, code: 'result_changing' });
    expect(await pipeline.charges(caller)).toEqual([]);
    expect(await usesOf(id)).toBe(0);
  },
);

test('the place of a page that was read before is not saved', async () => {
  const { accountId } = await buyer(0);
  await erasePerson(pipeline.context, { id: 1008 });
  const owner = { accountId, live: true };
  const hint = { position: 1, last: { id: 1008, key: 'late1008' } };
  await saveHint(pipeline.sql, { owner, sha256: Buffer.alloc(32), hint });
  expect(await usesOf(1008)).toBe(0);
  await saveHint(pipeline.sql, {
    owner,
    sha256: Buffer.alloc(32),
    hint: { ...hint, last: { id: 1009, key: 'late1009' } },
  });
  expect(await usesOf(1009)).toBe(1);
});
