/** A read that waits for its turn is not answered when its key or session ends meanwhile. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { inTransaction } from '../../core/db/client.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { displayPrefix } from '../../core/keys/key-format.ts';
import { consoleKeyOf } from '../../core/keys/keys.ts';
import { deleteSession, insertSession } from '../../core/sessions/sessions.sql.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());
afterEach(() => vi.restoreAllMocks());

/** Sends reads that wait for a lock, the last one of them for its turn; `end` is called meanwhile, and time passes. */
async function readWhile(
  headers: Record<string, string>,
  end: () => Promise<unknown>,
): Promise<Response[]> {
  let reads: Promise<Response>[] = [];
  await inTransaction(pipeline.sql, async (tx) => {
    await tx`lock table batches in access exclusive mode`;
    reads = [1, 2, 3].map(() => fetch(`${pipeline.url}/v1/batches`, { headers }));
    await pipeline.untilBlocked(2);
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
  for (const read of await readWhile(own(caller), end)) {
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
  const headers = { Cookie: `enrich_session=${token}`, 'Sec-Fetch-Site': 'same-origin' };
  const end = () => deleteSession(pipeline.sql, tokenSha256);
  for (const read of await readWhile(headers, end)) {
    await expectProblem(read, { status: 401, code: 'session_expired' });
  }
});

test('but one whose key is valid is answered, however long it waited', async () => {
  const caller = await pipeline.account(0);
  for (const read of await readWhile(own(caller), async () => {})) {
    expect(read.status).toBe(200);
  }
});
