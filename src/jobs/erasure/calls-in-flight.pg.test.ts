/** The erasure of a person whom a call or a list has matched, and not been charged for yet. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { inTransaction } from '../../core/db/client.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { erasePerson } from './erase-person.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(2) });
});
afterAll(() => pipeline.close());

test('clears the response that the call stores meanwhile', async () => {
  const { sql, context } = pipeline;
  const caller = await pipeline.account(10);
  const email = 'p1@list.example';
  await pipeline.enrich(caller, `email\n${email}\n`, { operation: 'people.enrich' });
  const charge = new Signal();
  const wallet = inTransaction(sql, async (tx) => {
    await tx`select from wallets where account_id = ${caller.accountId} for update`;
    await charge.raised;
  });
  const call = pipeline.call(caller, `/v1/people/enrich?email=${email}`, {
    headers: { 'Idempotency-Key': 'k' },
  });
  await pipeline.untilBlocked(1);
  pipeline.faults.get = async () => {
    delete pipeline.faults.get;
    charge.raise();
    await Promise.all([wallet, call]);
  };
  const erasure = await erasePerson(context, { identifier: email });
  expect((await call).status).toBe(200);
  expect(erasure).toMatchObject({ erased: 1, answers_cleared: 1, left: [] });
  const stored = await sql`select from idempotency_keys where body::text like ${`%${email}%`}`;
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
