/** One account's writes take a few connections, even while its transactions wait for a lock. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import type { Sql } from '../../core/db/client.ts';

const IN_FLIGHT = 2;
const WAITING = 64;
const SCHEDULE = '/v1/schedules/00000000-0000-7000-8000-000000000000';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: [{ id: 1, name: 'Ada', email: 'ada@x.example' }] });
});
afterAll(() => pipeline.close());

let unlock = async () => {};
afterEach(() => unlock());

/** Holds a lock until the test lets go of it. */
async function holdLock(lock: (sql: Sql) => Promise<unknown>): Promise<void> {
  const session = await pipeline.sql.reserve();
  await session`begin`;
  await lock(session);
  unlock = async () => {
    unlock = async () => {};
    await session`rollback`;
    session.release();
  };
}

const holdAccount = ({ accountId }: Caller) =>
  holdLock((sql) => sql`select from accounts where id = ${accountId} for no key update`);

const times = <T>(count: number, each: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => each(index));

/** Another account reads, and is charged. */
async function expectOthersServed(): Promise<void> {
  const other = await pipeline.account(10);
  const matched = await pipeline.call(other, '/v1/people/enrich?email=ada@x.example');
  expect(matched.status).toBe(200);
  expect((await pipeline.call(other, SCHEDULE, { method: 'DELETE' })).status).toBe(404);
}

test('an account whose writes wait for each other is refused beyond its share, and others are served', async () => {
  const greedy = await pipeline.account(10);
  await holdAccount(greedy);
  const write = () => pipeline.call(greedy, SCHEDULE, { method: 'DELETE' });
  const writes = times(IN_FLIGHT + WAITING + 4, write);
  const refused = await Promise.race(writes);
  const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(problem.detail).toContain(`${IN_FLIGHT + WAITING} for transactions of the account`);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  await pipeline.untilBlocked(IN_FLIGHT);
  await expectOthersServed();
  expect((await pipeline.call(greedy, '/v1/me')).status).toBe(200);
  await unlock();
  const statuses = (await Promise.all(writes)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  // A slow machine lets some wait too long for a turn.
  expect(statuses.every((status) => [404, 429, 503].includes(status))).toBe(true);
  expect((await write()).status).toBe(404);
});

test('calls with an Idempotency-Key, which wait for their wallet, have the same share', async () => {
  const greedy = await pipeline.unmeteredAccount(100);
  const { accountId } = greedy;
  await holdLock((sql) => sql`select from wallets where account_id = ${accountId} for update`);
  const calls = times(20, (index) =>
    pipeline.call(greedy, '/v1/people/enrich?email=ada@x.example', {
      headers: { 'Idempotency-Key': `call-${index}` },
    }),
  );
  await pipeline.untilBlocked(IN_FLIGHT);
  await expectOthersServed();
  await unlock();
  for (const response of await Promise.all(calls)) expect(response.status).toBe(200);
  expect((await pipeline.wallet(greedy))?.balance).toBe(80);
});

test('repeated calls, which are sent their stored response, wait for no lock of their account', async () => {
  const greedy = await pipeline.account(10);
  const repeat = () =>
    pipeline.call(greedy, '/v1/searches', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'one' },
      body: JSON.stringify({ name: 'one', filter: 'gender=1' }),
    });
  const { status } = await repeat();
  expect(status).toBe(201);
  await holdAccount(greedy);
  const repeated = times(20, repeat);
  const replayed = Promise.all(repeated).then((all) => all.map((one) => one.status));
  expect(await Promise.race([replayed, pipeline.untilBlocked(8)])).toEqual(times(20, () => status));
  await expectOthersServed();
});

test.each(['POST', 'PATCH', 'DELETE'])(
  'changes of sessions (%s) that wait for a transaction of their account have a share',
  async (method) => {
    const sign = { email: `${method}@team.example`, password: 'correct horse battery' };
    const accountId = await createAccount(pipeline.sql, { name: 'Greedy', credits: 0, ...sign });
    const { key } = await pipeline.keyOf(accountId, 'live');
    const send = (way: string, body: object, cookie = '') =>
      pipeline.call(null, '/console/session', {
        method: way,
        headers: {
          'Content-Type': 'application/json',
          'Sec-Fetch-Site': 'same-origin',
          ...(cookie === '' ? {} : { Cookie: cookie }),
        },
        body: JSON.stringify(body),
      });
    const [cookie = ''] = (await send('POST', sign)).headers.getSetCookie()[0]?.split(';') ?? [];
    await holdLock(async (sql) => {
      await sql`select from accounts where id = ${accountId} for no key update`;
      await sql`select from sessions where account_id = ${accountId} for share`;
    });
    const changes = times(20, () =>
      method === 'POST' ? send('POST', { key }) : send(method, { mode: 'test' }, cookie),
    );
    await pipeline.untilBlocked(1);
    const others = expectOthersServed().then(() => 'served');
    expect(await Promise.race([others, pipeline.untilBlocked(8)])).toBe('served');
    await unlock();
    for (const { status } of await Promise.all(changes)) expect(status).toBeLessThan(300);
  },
);

test.each([
  ['a long ledger', 'ledger_entries', '/v1/usage'],
  ['many lists', 'batches', '/v1/batches?sort=name'],
  ['many exports', 'batches', '/v1/exports?search=zzz'],
  ['many deliveries', 'webhook_deliveries', '/v1/webhooks/:id/deliveries?state=failed'],
])(
  'reads of %s have the same share, and are cancelled when no caller waits',
  async (_what, table, path) => {
    const { accountId } = await pipeline.account(10);
    const greedy = await pipeline.keyOf(accountId, 'live', ['account', 'batches', 'exports']);
    const other = await pipeline.account(10);
    const [webhook] = await pipeline.sql`
    insert into webhooks (id, account_id, live, url, events, credits_low_threshold, enabled, secret)
    values (gen_random_uuid(), ${accountId}, true, 'https://x.example/', '{batch.failed}', 100, true, decode(repeat('00', 33), 'hex'))
    returning id`;
    const address = path.replace(':id', webhook?.id);
    await holdLock((sql) => sql`lock table ${sql(table)}`);
    const hangUp = new AbortController();
    const read = () => pipeline.call(greedy, address, { signal: hangUp.signal });
    const reads = times(20, () => read().catch(() => 'gone'));
    await pipeline.untilBlocked(IN_FLIGHT);
    const unmatched = await pipeline.call(other, '/v1/people/enrich?email=nobody@x.example');
    expect(unmatched.status).toBe(404);
    hangUp.abort();
    expect(await Promise.all(reads)).toEqual(times(20, () => 'gone'));
    const blocked = () => pipeline.sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
    await vi.waitUntil(async () => (await blocked()).length === 0, { timeout: 10_000 });
  },
);
