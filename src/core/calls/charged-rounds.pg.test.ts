/** A call of a round that was charged is delivered, whatever becomes of the others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import { ada, smallGraph } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../db/client.ts';
import { revokeKeyById } from '../keys/account-keys.sql.ts';
import { lockKeysOf } from '../keys/keys.sql.ts';
import { type EnrichCall, enrichCalls } from './enrich-calls.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
});
afterAll(() => pipeline.close());

/** A call by a new account. */
async function callOf(operation: EnrichCall['operation'], credits: number): Promise<EnrichCall> {
  const { accountId, keyId } = await pipeline.account(credits);
  return {
    accountId,
    keyId,
    sessionSha256: null,
    isPlain: true,
    live: true,
    operation,
    row: rowOf(operation, { email: ada.email }),
    minProbability: null,
    required: null,
    reference: `call:${keyId}`,
  };
}

/** Runs calls in one round, in which the connection is lost from the statement with this text on, the `from`th of it. */
async function runUntil(calls: EnrichCall[], text: string, from: number) {
  let seen = 0;
  const sql = new Proxy(pipeline.context.sql, {
    apply(sql, self, given: [TemplateStringsArray, ...unknown[]]) {
      if (given[0].join('').includes(text) && ++seen >= from) {
        return Promise.reject(new Error('connection lost'));
      }
      return Reflect.apply(sql, self, given);
    },
  });
  return enrichCalls({ ...pipeline.context, sql }, calls);
}

test('when the session of another one has ended, and the database is lost before its error is known', async () => {
  const paid = await callOf('people.enrich', 1);
  const ended = { ...(await callOf('people.enrich', 1)), sessionSha256: Buffer.alloc(32) };
  const answers = await runUntil([paid, ended], 'select from sessions', 1);
  expect(answers).toMatchObject([
    { charged: 1, outcome: { status: 'matched' } },
    Error('connection lost'),
  ]);
});

test('when the key of another one has ended, while a transaction holds its account', async () => {
  const paid = await callOf('people.enrich', 1);
  const ended = await callOf('people.enrich', 1);
  await revokeKeyById(pipeline.sql, ended.keyId);
  await inTransaction(pipeline.sql, async (tx) => {
    await lockKeysOf(tx, ended.accountId);
    const answers = await Promise.race([
      enrichCalls(pipeline.context, [paid, ended]),
      pipeline.untilBlocked(1),
    ]);
    expect(answers).toMatchObject([{ charged: 1 }, { code: 'key_revoked' }]);
  });
});

test('when another one is tried alone, and the database is lost', async () => {
  const paid = await callOf('people.enrich', 1);
  const dear = await callOf('people.mobile', 1);
  const { accountId, keyId } = dear;
  const cheap = { ...(await callOf('people.enrich', 0)), accountId, keyId };
  const answers = await runUntil([paid, dear, cheap], 'with ordinality c (account_id', 2);
  expect(answers).toMatchObject([
    { charged: 1, outcome: { status: 'matched' } },
    { code: 'insufficient_credits' },
    Error('connection lost'),
  ]);
});
