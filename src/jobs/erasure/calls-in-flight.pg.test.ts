/** The erasure of a person whom a call or a list has matched, and not been charged for yet. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { ada, crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { inTransaction } from '../../core/db/client.ts';
import { buildCopy } from '../../core/graph-copy/build-copy.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { erasePerson } from './erase-person.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(2) });
});
afterAll(() => pipeline.close());

/** The contents of all objects. */
async function storedTexts(): Promise<string> {
  const { store } = pipeline.context;
  const texts = (await pipeline.objects()).map(async (key) => {
    const size = (await store.head(key)) ?? 0;
    return (await store.get(key, { from: 0, to: size })).toString();
  });
  return (await Promise.all(texts)).join();
}

test('stores no response with the person, and charges for none', async () => {
  const { sql, context } = pipeline;
  const caller = await pipeline.account(10);
  const get = (path: string) =>
    pipeline.call(caller, path, { headers: { 'Idempotency-Key': 'k' } });
  const charge = new Signal();
  const wallet = inTransaction(sql, async (tx) => {
    await tx`select from wallets where account_id = ${caller.accountId} for update`;
    await charge.raised;
  });
  const person = get(`/v1/people/enrich?email=${ada.email}`);
  const company = get('/v1/companies/enrich?registry_number=01234567');
  await pipeline.untilBlocked(2);
  const erasure = await erasePerson(context, { identifier: ada.email });
  expect(erasure).toMatchObject({ erased: 1, left: [] });
  charge.raise();
  await wallet;
  await expectProblem(await person, { status: 404, code: 'no_match' });
  await expectProblem(await company, { status: 503, code: 'result_changing' });
  expect(await pipeline.charges(caller)).toEqual([]);
  const again = await get('/v1/companies/enrich?registry_number=01234567');
  expect(again.status).toBe(200);
  const stored =
    await sql`select from idempotency_keys where body::text ~ 'ada@home|ada@acme|ada-lovely|LOVELY'`;
  expect(stored).toEqual([]);
});

test('forgets that a list has paid for the person meanwhile', async () => {
  const { sql, context } = pipeline;
  const caller = await pipeline.account(10);
  await changeOwnedDays(sql, caller.accountId, 30);
  const email = 'p2@list.example';
  const [matched, erased] = [new Signal(), new Signal()];
  pipeline.faults.put = async () => {
    delete pipeline.faults.put;
    matched.raise();
    await erased.raised;
  };
  const running = pipeline.enrich(caller, `email\n${email}\n`, {
    operation: 'people.enrich',
    dedupe: 'true',
  });
  await matched.raised;
  // Objects are listed after the record is deleted.
  const store = Object.assign(Object.create(context.store) as ObjectStore, {
    async *list() {
      erased.raise();
      await running;
      yield* context.store.list();
    },
  });
  await erasePerson({ ...context, store }, { identifier: email });
  expect(await pipeline.wallet(caller)).toEqual({ balance: 9, reserved: 0 });
  expect(await sql`select from owned_people where person_id = 1002`).toHaveLength(0);
  expect(await sql`select from batch_records where record_id = 1002`).toHaveLength(0);
});

test('keeps no part with the person that was matched from a local copy, and stored after the erasure', async () => {
  const { sql, context, faults } = pipeline;
  const person = { id: 3001, email: 'late@list.example', surname: 'Latecomer' };
  await importGraph(sql, { persons: [person] });
  await buildCopy(sql, { folder: context.localCopy.folder });
  const caller = await pipeline.account(10);
  faults.put = async () => {
    delete faults.put;
    const { left } = await erasePerson(context, { identifier: person.email });
    expect(left).toEqual([]);
  };
  const id = await pipeline.enrich(caller, `email\n${person.email}\n`, {
    operation: 'people.enrich',
  });
  expect((await pipeline.results(caller, id)).text).toContain('no_match');
  expect(await storedTexts()).not.toContain(person.surname);
});

test('keeps no part with the person whose person index could not be stored after the erasure', async () => {
  const { sql, context, faults } = pipeline;
  const person = { id: 3003, email: 'half@list.example', surname: 'Halfstored' };
  await importGraph(sql, { persons: [person] });
  const caller = await pipeline.account(10);
  const erased = new Signal();
  faults.put = async (key) => {
    if (key.endsWith('.ids')) {
      await erased.raised;
      delete faults.put;
      throw new Error('the store is full');
    }
    const { left } = await erasePerson(context, { identifier: person.email });
    expect(left).toEqual([]);
    erased.raise();
  };
  const id = await pipeline.upload(caller, `email\n${person.email}\n`, {
    operation: 'people.enrich',
  });
  await pipeline.runUntilIdle();
  expect(faults.put).toBeUndefined();
  expect(await storedTexts()).not.toContain(person.surname);
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect((await pipeline.results(caller, id)).text).toContain('no_match');
});

test('records of no one who was erased meanwhile that a list has paid for them', async () => {
  const { sql, context, faults } = pipeline;
  const person = { id: 3002, email: 'paid@list.example', surname: 'Paidfor' };
  await importGraph(sql, { persons: [person] });
  const caller = await pipeline.account(10);
  await changeOwnedDays(sql, caller.accountId, 30);
  faults.put = async () => {
    delete faults.put;
    expect(await erasePerson(context, { identifier: person.email })).toMatchObject({ left: [] });
  };
  await pipeline.enrich(caller, `email\n${person.email}\n`, {
    operation: 'people.enrich',
    dedupe: 'true',
  });
  expect(await sql`select from owned_people where person_id = ${person.id}`).toHaveLength(0);
  expect(await sql`select from batch_records where record_id = ${person.id}`).toHaveLength(0);
});
