/** Reading rows in the API, which costs the thread of the API and no credits, is shared between accounts. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { inReadingTurn } from '../jobs/list/reading-turns.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterEach(() => {
  delete pipeline.faults.get;
  delete pipeline.faults.putStream;
});
afterAll(() => pipeline.close());

/** Holds every list's first bytes until so many calls ask for them, so that they are read in one round of the event loop. */
function readTogether(calls: number): void {
  let waiting = 0;
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  pipeline.faults.get = async () => {
    waiting++;
    if (waiting === calls) letGo();
    await gate;
  };
}

async function heldList(caller: Caller): Promise<string> {
  const options = { operation: 'people.enrich', hold: 'true' };
  const id = await pipeline.upload(caller, 'email\na@list.example\n', options);
  await pipeline.runUntilIdle();
  return id;
}

const preview = (caller: Caller, id: string) => pipeline.call(caller, `/v1/batches/${id}/preview`);
const columns = (caller: Caller, id: string) =>
  pipeline.call(caller, `/v1/batches/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ mapping: { email: 1 } }),
  });

test('previews of one account do not make another account wait for all of them', async () => {
  const [many, one] = [await pipeline.account(0), await pipeline.account(0)];
  const [ofMany, ofOne] = [await heldList(many), await heldList(one)];
  // Two calls of an account are processed at a time.
  readTogether(3);
  const order: string[] = [];
  const told = async (name: string, response: Promise<Response>) => {
    expect((await response).status).toBe(200);
    order.push(name);
  };
  const flood = Array.from({ length: 20 }, () => told('many', preview(many, ofMany)));
  await Promise.all([...flood, told('one', preview(one, ofOne))]);
  expect(order.indexOf('one')).toBeLessThan(4);
});

test('an account has 65 changes of columns at once, and one more is told when to come again', async () => {
  const caller = await pipeline.account(0);
  const id = await heldList(caller);
  readTogether(100);
  const responses = await Promise.all(Array.from({ length: 100 }, () => columns(caller, id)));
  const refused = responses.filter(({ status }) => status !== 200);
  // Those that come first may end before the last ones are counted.
  expect(refused.length).toBeGreaterThan(0);
  for (const response of refused) {
    const problem = await expectProblem(response, { status: 429, code: 'rate_limited' });
    expect(problem.detail).toMatch(/65 for readings of rows/);
    expect(response.headers.get('retry-after')).toBe('10');
  }
});

test.each([
  '/v1/opt-outs?limit=10000',
  '/v1/mappings?limit=100',
  '/v1/searches?limit=100',
  '/v1/schedules?limit=100',
  '/v1/do-not-contact?limit=1000',
])('%s waits for a turn, and other calls of other accounts do not', async (path) => {
  const caller = await pipeline.account(0);
  const other = await pipeline.account(0);
  let endTurn = () => {};
  const turn = new Promise<void>((resolve) => {
    endTurn = resolve;
  });
  const reader = { accountId: 'another', signal: new AbortController().signal };
  const held = inReadingTurn(reader, () => turn);
  let ended = 0;
  const pages = Array.from({ length: 65 }, async () => {
    const { status } = await pipeline.call(caller, path);
    ended++;
    return status;
  });
  for (let call = 0; call < 10; call++) await pipeline.call(other, '/v1/keys');
  expect(ended).toBe(0);
  endTurn();
  await held;
  expect(new Set(await Promise.all(pages))).toEqual(new Set([200]));
});

test.each([
  ['/v1/schedules', { cron: '0 2 * * *', filter: 'positionList=[Nobody]', fields: ['id'] }, 201],
  ['/v1/exports', { filter: 'positionList=[Nobody]', hold: true }, 202],
] as const)(
  '%s waits for a turn to look up the values of its filter',
  async (path, body, status) => {
    const caller = await pipeline.account(0);
    let endTurn = () => {};
    const turn = new Promise<void>((resolve) => {
      endTurn = resolve;
    });
    const reader = { accountId: 'another', signal: new AbortController().signal };
    const held = inReadingTurn(reader, () => turn);
    let hasEnded = false;
    const making = pipeline
      .call(caller, path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      .finally(() => {
        hasEnded = true;
      });
    for (let call = 0; call < 20; call++) await pipeline.call(caller, '/v1/keys');
    expect(hasEnded).toBe(false);
    endTurn();
    await held;
    const made = await making;
    expect(made.status).toBe(status);
    expect(await made.json()).toMatchObject({ unknown_values: [{ value: 'Nobody' }] });
  },
);

test('a change of a schedule waits for a turn to look up its values, before it is made', async () => {
  const caller = await pipeline.account(0);
  const send = (path: string, method: string, body: object) =>
    pipeline.call(caller, path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const filter = 'positionList=[Nobody]';
  const made = await send('/v1/schedules', 'POST', { cron: '0 2 * * *', filter, fields: ['id'] });
  const path = `/v1/schedules/${((await made.json()) as { id: string }).id}`;
  let endTurn = () => {};
  const turn = new Promise<void>((resolve) => {
    endTurn = resolve;
  });
  const reader = { accountId: 'another', signal: new AbortController().signal };
  const held = inReadingTurn(reader, () => turn);
  const changes = Array.from({ length: 66 }, () => send(path, 'PATCH', { name: 'renamed' }));
  const refused = await Promise.race(changes);
  await expectProblem(refused, { status: 429, code: 'rate_limited' });
  const [row] = await pipeline.sql<{ name: string }[]>`select name from schedules`;
  expect(row?.name).not.toBe('renamed');
  endTurn();
  await held;
  const responses = await Promise.all(changes);
  const done = responses.filter(({ status }) => status === 200);
  expect(done).toHaveLength(65);
  expect(await done[0]?.json()).toMatchObject({
    name: 'renamed',
    unknown_values: [{ value: 'Nobody' }],
  });
});

test('long bodies with rows wait for a turn before they are read, and short ones do not', async () => {
  const caller = await pipeline.account(0);
  // Its last row is refused when the body is read: the list has no turn of its own.
  const send = (rows: number) =>
    pipeline.call(caller, '/v1/batches', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        operation: 'people.enrich',
        rows: [...Array.from({ length: rows }, () => ({ email: 'a'.repeat(100) })), { email: [] }],
      }),
    });
  let endTurn = () => {};
  const turn = new Promise<void>((resolve) => {
    endTurn = resolve;
  });
  const reader = { accountId: 'another', signal: new AbortController().signal };
  const held = inReadingTurn(reader, () => turn);
  const long = Array.from({ length: 66 }, () => send(600));
  const refused = await Promise.race(long);
  expect((await send(1)).status).toBe(400);
  endTurn();
  await held;
  const statuses = (await Promise.all(long)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 400)).toHaveLength(65);
  const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(problem.detail).toMatch(/65 for readings of rows/);
});

test('an account has two lists of rows stored at once, and 64 that wait for it', async () => {
  const caller = await pipeline.account(0);
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let storing = 0;
  let most = 0;
  pipeline.faults.putStream = async () => {
    most = Math.max(most, ++storing);
    await gate;
    storing--;
  };
  const lists = Array.from({ length: 67 }, () =>
    pipeline.call(caller, '/v1/batches', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"operation": "people.enrich", "hold": true, "rows": [{"email": "a@list.example"}]}',
    }),
  );
  const refused = await Promise.race(lists);
  letGo();
  const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(problem.detail).toMatch(/66 for lists of rows/);
  const statuses = (await Promise.all(lists)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(66);
  expect(most).toBe(2);
});
