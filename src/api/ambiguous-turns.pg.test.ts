/**
 * Candidates of ambiguous rows are compared with their rows anew for each page, for free, and reruns read whole lists: accounts
 * take turns.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { Signal } from '../../tests/support/signal.ts';
import { lookUpInTurn } from '../core/enrich/look-up-turns.ts';
import { holdMerge } from './http/open-responses.ts';
import { mergeInTurn } from './merge-turns.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const person = { name: 'Ilka', surname: 'Quast', companyId: 10 };
  await importGraph(pipeline.sql, {
    companies: [{ id: 10, name: 'Nordlicht Optik' }],
    persons: [
      { ...person, id: 1 },
      { ...person, id: 2 },
    ],
  });
});
afterAll(() => pipeline.close());

/** Two accounts, each with a list of an ambiguous row. */
let greedy: Caller;
let other: Caller;
let ofGreedy: string;
let ofOther: string;
beforeEach(async () => {
  [greedy, other] = [await pipeline.account(10), await pipeline.account(10)];
  const list = 'Name,Company\nIlka Quast,Nordlicht Optik\n';
  const options = { operation: 'people.enrich', match: 'likely' };
  ofGreedy = await pipeline.enrich(greedy, list, options);
  ofOther = await pipeline.enrich(other, list, options);
});

const page = (caller: Caller, id: string) => pipeline.call(caller, `/v1/batches/${id}/ambiguous`);
const rerun = (caller: Caller, id: string) =>
  pipeline.call(caller, `/v1/batches/${id}/rerun`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ outcomes: ['ambiguous'] }),
  });
const signal = () => new AbortController().signal;
/** A short list of the account. */
const listOf = ({ accountId }: Caller) => ({
  accountId,
  rerunOf: null,
  rowsTotal: 1,
  uploadBytes: 50,
});

test('a page of ambiguous rows takes one of the look-ups of its account', async () => {
  const ended = new Signal();
  const held = Array.from({ length: 65 }, () =>
    lookUpInTurn(greedy.accountId, signal(), () => ended.raised),
  );
  const problem = await expectProblem(await page(greedy, ofGreedy), {
    status: 429,
    code: 'rate_limited',
  });
  expect(problem.detail).toContain('65 for look-ups by name of the account');
  expect(await (await page(other, ofOther)).json()).toMatchObject({
    data: [{ row: 1, candidates: [{ id: 1 }, { id: 2 }] }],
  });
  ended.raise();
  await Promise.all(held);
  expect((await page(greedy, ofGreedy)).status).toBe(200);
});

test('a rerun and a page of ambiguous rows take turns of their account, and no place of an upload', async () => {
  const ended = new Signal();
  const held = Array.from({ length: 10 }, () =>
    mergeInTurn(listOf(greedy), signal(), () => ended.raised),
  );
  for (const call of [page, rerun]) {
    const refused = await call(greedy, ofGreedy);
    const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
    expect(problem.detail).toContain('10 for readers of lists with their reruns of the account');
  }
  expect((await page(other, ofOther)).status).toBe(200);
  expect((await rerun(other, ofOther)).status).toBe(202);
  ended.raise();
  await Promise.all(held);
  expect((await rerun(greedy, ofGreedy)).status).toBe(202);
  await pipeline.runUntilIdle();
});

test('readers of short lists do not wait for those of long ones', async () => {
  const ended = new Signal();
  const accounts = await Promise.all([1, 2, 3].map(() => pipeline.account(10)));
  const long = { ...listOf(greedy), rowsTotal: 600_000 };
  const held = accounts.flatMap(({ accountId }) =>
    [1, 2].map(() => mergeInTurn({ ...long, accountId }, signal(), () => ended.raised)),
  );
  expect((await page(other, ofOther)).status).toBe(200);
  expect((await rerun(other, ofOther)).status).toBe(202);
  ended.raise();
  await Promise.all(held);
  await pipeline.runUntilIdle();
});

test('downloads of reruns have fewer places than others, because they hold the numbers of their rows', async () => {
  const { id } = (await (await rerun(greedy, ofGreedy)).json()) as { id: string };
  await pipeline.runUntilIdle();
  const open = Array.from({ length: 8 }, () => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    holdMerge(greedy.accountId, response as never);
    return response;
  });
  const results = (of: string) => pipeline.call(greedy, `/v1/batches/${of}/results?format=jsonl`);
  await expectProblem(await results(id), { status: 429, code: 'rate_limited' });
  expect((await results(ofGreedy)).status).toBe(200);
  for (const response of open) response.emit('close');
  expect((await results(id)).status).toBe(200);
});
