/**
 * A call that waits for its turn, and charges nothing, is not answered when its key or session ends meanwhile; one that waits for
 * its charge is not when its person opts out.
 */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { lockWallet } from '../../core/credits/credits.sql.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { displayPrefix } from '../../core/keys/key-format.ts';
import { consoleKeyOf, createKey } from '../../core/keys/keys.ts';
import { must } from '../../core/lib/assert.ts';
import { deleteSession, insertSession } from '../../core/sessions/sessions.sql.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../../jobs/audit/audit.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const twins = [1, 2].map((id) => ({ id, name: 'Ilka', surname: 'Quast' }));
  await importGraph(pipeline.sql, { persons: twins, companies: [{ id: 10, name: 'Nordlicht' }] });
});
afterAll(() => pipeline.close());
afterEach(() => vi.restoreAllMocks());

/** An account has two such reads processed at a time, and calls by name in one statement. */
const lists = { table: 'batches', path: '/v1/batches', calls: 2 };
const names = {
  table: 'graph.person_name_keys',
  path: '/v1/people/enrich?match=likely&name=Ilka+Quast',
  calls: 1,
};
const emptyPage = {
  table: 'graph.person_search',
  path: '/v1/personsearch?gender=2&count=true',
  calls: 1,
};

/** Sends calls that wait for a lock, each with a key that was found before; `end` is called meanwhile, and time passes. */
async function callWhile(
  headers: Record<string, string>,
  end: () => Promise<unknown>,
  { table, path, calls } = lists,
): Promise<Response[]> {
  const lock = (tx: Sql) => tx`lock table ${tx(table)} in access exclusive mode`;
  return callWhileLocked(headers, end, { lock, path, calls });
}

async function callWhileLocked(
  headers: Record<string, string>,
  end: () => Promise<unknown>,
  { lock, path, calls }: { lock: (tx: Sql) => PromiseLike<unknown>; path: string; calls: number },
): Promise<Response[]> {
  let reads: Promise<Response>[] = [];
  await inTransaction(pipeline.sql, async (tx) => {
    await lock(tx);
    reads = Array.from({ length: calls }, () => fetch(pipeline.url + path, { headers }));
    await pipeline.untilBlocked(calls);
    await end();
    const now = performance.now;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 1_000);
  });
  return Promise.all(reads);
}

const own = ({ key }: Caller) => ({ Authorization: `Bearer ${key}` });

test('whose key is revoked', async () => {
  const caller = await pipeline.account(0);
  const end = () => revokeKey(pipeline.sql, displayPrefix(caller.key));
  for (const read of await callWhile(own(caller), end)) {
    await expectProblem(read, { status: 403, code: 'key_revoked' });
  }
});

test('that names people, and whose key is revoked', async () => {
  const caller = await pipeline.account(10);
  const ambiguous = await pipeline.call(caller, names.path);
  await expectProblem(ambiguous, { status: 409, code: 'ambiguous_match' });
  const end = () => revokeKey(pipeline.sql, displayPrefix(caller.key));
  for (const read of await callWhile(own(caller), end, names)) {
    await expectProblem(read, { status: 403, code: 'key_revoked' });
  }
});

test('that names people, with an Idempotency-Key, and whose key is revoked', async () => {
  const caller = await pipeline.account(10);
  const end = () => revokeKey(pipeline.sql, displayPrefix(caller.key));
  const headers = { ...own(caller), 'Idempotency-Key': 'late' };
  for (const read of await callWhile(headers, end, names)) {
    await expectProblem(read, { status: 403, code: 'key_revoked' });
  }
});

test('that is a search without people, and whose key is revoked', async () => {
  const caller = await pipeline.account(10);
  expect((await pipeline.call(caller, emptyPage.path)).headers.get('X-Total-Count')).toBe('10');
  const end = () => revokeKey(pipeline.sql, displayPrefix(caller.key));
  for (const read of await callWhile(own(caller), end, emptyPage)) {
    await expectProblem(read, { status: 403, code: 'key_revoked' });
  }
});

test.each([
  ['a page', 'graph.person_records', '/personsearch/?surname=Quast&limit=5'],
  ['a call', 'graph.suppressed_persons', names.path],
])('that is the replay of %s, and whose key is revoked', async (_what, table, path) => {
  const caller = await pipeline.account(10);
  const headers = { ...own(caller), 'Idempotency-Key': 'again' };
  const first = await pipeline.call(caller, path, { headers });
  const replay = await pipeline.call(caller, path, { headers });
  expect(replay.headers.get('Idempotent-Replayed')).toBe('true');
  expect(await replay.text()).toBe(await first.text());
  const end = () => revokeKey(pipeline.sql, displayPrefix(caller.key));
  for (const read of await callWhile(headers, end, { table, path, calls: 1 })) {
    await expectProblem(read, { status: 403, code: 'key_revoked' });
  }
});

test('that is the preview of a company, and whose key is revoked', async () => {
  const { accountId } = await pipeline.account(0);
  const { key } = await createKey(pipeline.sql, { accountId, mode: 'live', scopes: ['reconcile'] });
  const path = `/v1/reconcile/${key}/preview?id=company-10`;
  expect(await (await pipeline.call(null, path)).text()).toContain('Company 10');
  const end = () => revokeKey(pipeline.sql, displayPrefix(key));
  for (const read of await callWhile({}, end, { table: 'graph.companies', path, calls: 1 })) {
    await expectProblem(read, { status: 403, code: 'key_revoked' });
  }
});

test('whose session ends', async () => {
  const { accountId } = await pipeline.account(0);
  const token = randomBytes(32).toString('base64url');
  const tokenSha256 = createHash('sha256').update(token).digest();
  const keyId = await consoleKeyOf(pipeline.sql, accountId, 'live');
  const session = { tokenSha256, accountId, keyId };
  await insertSession(pipeline.sql, session, { seconds: 600, passwordHash: null });
  const headers = {
    Cookie: `enrich_session=${token}`,
    'Sec-Fetch-Site': 'same-origin',
    'Enrich-Account': accountId,
  };
  const end = () => deleteSession(pipeline.sql, tokenSha256);
  for (const read of await callWhile(headers, end)) {
    await expectProblem(read, { status: 401, code: 'session_expired' });
  }
});

test('but one whose key is valid is answered, however long it waited', async () => {
  const caller = await pipeline.account(0);
  for (const read of await callWhile(own(caller), async () => {})) {
    expect(read.status).toBe(200);
  }
});

const directed = { id: 31, name: 'Stahl Ltd', registryNumber: '09000031', registryCountry: 'GB' };

test.each([
  ['whose person', 30, '/v1/people/enrich?email=p30%40home.example', 404, 'no_match'],
  ['whose director', 32, '/v1/companies/enrich?registry_number=09000031', 503, 'result_changing'],
])(
  '%s opts out while it waits for its charge: it is refunded',
  async (_who, id, path, status, code) => {
    const caller = await pipeline.boundedAccount(5, 5);
    const email = `p${id}@home.example`;
    await importGraph(pipeline.sql, {
      persons: [{ id, email }],
      companies: [directed],
      officers: [{ companyId: 31, name: `STAHL, ${id}`, role: 'director', personId: id }],
    });
    const lock = (tx: Sql) => lockWallet(tx, caller.accountId);
    const optOut = () => suppress(pipeline.sql, email);
    const [response] = await callWhileLocked(own(caller), optOut, { lock, path, calls: 1 });
    await expectProblem(must(response, 'response'), { status, code });
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 5 });
    const lines = await pipeline.sql`
      select kind, amount from ledger_entries where account_id = ${caller.accountId} order by id`;
    expect(lines).toMatchObject([{ kind: 'grant' }, { amount: -1 }, { kind: 'refund', amount: 1 }]);
    const me = await (await pipeline.call(caller, '/v1/me')).json();
    expect(me).toMatchObject({ rate_limits: { credits_today: { remaining: 5 } } });
    expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  },
);
