/** An upload that is sent again with its Idempotency-Key makes one batch, whatever went wrong before. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { Signal } from '../../tests/support/signal.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { deleteOldKeys } from '../core/idempotency/idempotency.sql.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(3) });
});
afterAll(() => pipeline.close());

const list = 'email\np1@list.example\np2@list.example\n';
const inProgress = { status: 409, code: 'idempotency_in_progress' };
const reused = { status: 422, code: 'idempotency_key_reused' };

let keys = 0;
const newKey = () => `key ${++keys}`;

function post(key: string, body: string = list, query = 'operation=people.enrich') {
  return pipeline.call(caller, `/v1/batches?${query}`, {
    method: 'POST',
    headers: { 'Idempotency-Key': key, 'Content-Type': 'text/csv' },
    body,
  });
}

async function batches() {
  return pipeline.sql`select id from batches where account_id = ${caller.accountId}`;
}

async function uploadedObjects() {
  return (await pipeline.objects()).filter((name) => name.endsWith('/upload'));
}

beforeAll(async () => {
  caller = await pipeline.account(100);
});
afterEach(async () => {
  caller = await pipeline.account(100);
});

describe('an upload with an Idempotency-Key', () => {
  test('that is sent fifty times at once makes one batch, charged once', async () => {
    const key = newKey();
    const before = await uploadedObjects();
    const responses = await Promise.all(Array.from({ length: 50 }, () => post(key)));
    const accepted = responses.filter(({ status }) => status === 202);
    const ids = new Set<string>();
    for (const response of accepted) ids.add(((await response.json()) as BatchView).id);
    expect(ids.size).toBe(1);
    const fresh = accepted.filter(({ headers }) => !headers.has('idempotent-replayed'));
    expect(fresh).toHaveLength(1);
    for (const response of responses.filter(({ status }) => status !== 202)) {
      // On a busy machine more of them are open at once than an account may have.
      const expected = response.status === 429 ? { status: 429, code: 'rate_limited' } : inProgress;
      await expectProblem(response, expected);
    }
    expect(await batches()).toHaveLength(1);
    await pipeline.runUntilIdle();
    expect(await pipeline.charges(caller)).toHaveLength(1);
    expect(await uploadedObjects()).toHaveLength(before.length + 1);
  });

  test('is answered as the first time, and says so, also when the batch has moved on', async () => {
    const key = newKey();
    const first = await post(key);
    const body = (await first.json()) as BatchView;
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    await pipeline.runUntilIdle();
    const objects = await pipeline.objects();
    const again = await post(key);
    expect(again.status).toBe(202);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(`/v1/batches/${body.id}`);
    expect(again.headers.get('x-credits-charged')).toBe('0');
    expect(await again.json()).toEqual(body);
    expect(await pipeline.objects()).toEqual(objects);
  });

  test('is another request with another file, or other options', async () => {
    const key = newKey();
    expect((await post(key)).status).toBe(202);
    const objects = await pipeline.objects();
    await expectProblem(await post(key, `${list}p3@list.example\n`), reused);
    await expectProblem(await post(key, list, 'operation=people.mobile'), reused);
    await expectProblem(await post(key, list, 'operation=people.enrich&dedupe=true'), reused);
    expect(await batches()).toHaveLength(1);
    expect(await pipeline.objects()).toEqual(objects);
    // The same options in another order are the same request.
    const other = newKey();
    const query = 'operation=people.enrich&name=a';
    expect((await post(other, list, query)).status).toBe(202);
    const turned = await post(other, list, query.split('&').reverse().join('&'));
    expect(turned.headers.get('idempotent-replayed')).toBe('true');
  });

  test('belongs to its account, mode and path', async () => {
    const key = newKey();
    expect((await post(key)).status).toBe(202);
    const owner = caller;
    caller = await pipeline.keyOf(owner.accountId, 'test');
    expect((await post(key)).headers.get('idempotent-replayed')).toBeNull();
    caller = await pipeline.account(1);
    expect((await post(key)).headers.get('idempotent-replayed')).toBeNull();
    caller = await pipeline.keyOf(owner.accountId, 'live');
    expect((await post(key)).headers.get('idempotent-replayed')).toBe('true');
  });

  test('may be sent again at once when it was refused', async () => {
    const key = newKey();
    const unreadable = { status: 422, code: 'unreadable_csv' };
    await expectProblem(await post(key, '\n'), unreadable);
    await expectProblem(await post(key, list, 'operation=x'), {
      status: 400,
      code: 'invalid_parameter',
    });
    const response = await post(key);
    expect(response.status).toBe(202);
    expect(response.headers.get('idempotent-replayed')).toBeNull();
  });

  test.each([
    ['when the claim has run out', "now() - interval '1 second'"],
    ['after the clock was set back', "claimed_until + interval '2 hours'"],
  ])('whose process died before its commit is taken over %s', async (_, until) => {
    const key = newKey();
    const stuck = new Signal();
    const dead = new Signal();
    // The process stops between the claim and the commit: at the first look at the stored upload.
    pipeline.faults.get = () => {
      delete pipeline.faults.get;
      stuck.raise();
      return dead.raised;
    };
    const first = post(key);
    await stuck.raised;
    await expectProblem(await post(key), inProgress);
    await pipeline.sql`
      update idempotency_keys set claimed_until = ${pipeline.sql.unsafe(until)} where key = ${key}`;
    const second = await post(key);
    expect(second.status).toBe(202);
    const { id } = (await second.json()) as BatchView;
    // Should it only have slept, its work is refused and leaves nothing.
    dead.raise();
    await expectProblem(await first, inProgress);
    expect([...(await batches())]).toEqual([{ id }]);
    const uploads = (await pipeline.objects()).filter((name) => name.endsWith('/upload'));
    expect(uploads.filter((name) => name.includes(id))).toHaveLength(1);
    await pipeline.runUntilIdle();
    expect(await pipeline.charges(caller)).toHaveLength(1);
    // And a process that died after its commit has answered: the third attempt is a replay.
    const third = await post(key);
    expect(third.headers.get('idempotent-replayed')).toBe('true');
  });

  test('is forgotten after a day', async () => {
    const key = newKey();
    expect((await post(key)).status).toBe(202);
    await deleteOldKeys(pipeline.sql);
    expect((await post(key)).headers.get('idempotent-replayed')).toBe('true');
    await pipeline.sql`
      update idempotency_keys set created_at = created_at - interval '24 hours' where key = ${key}`;
    await deleteOldKeys(pipeline.sql);
    expect((await post(key)).headers.get('idempotent-replayed')).toBeNull();
    expect(await batches()).toHaveLength(2);
  });

  test.each(['', 'x'.repeat(256)])('is refused for a key of %#', async (key) => {
    // An empty header is none to fetch: it is sent as a space.
    const response = await post(key === '' ? ' ' : key);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors[0]?.field).toBe('Idempotency-Key');
    expect(await batches()).toEqual([]);
  });
});
