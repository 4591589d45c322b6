/** The link of the demo, which signs in once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { inTransaction } from '../../core/db/client.ts';
import {
  changePassword,
  createSignInLink,
  deleteOldSessions,
  signIn,
} from '../../core/sessions/sessions.ts';
import { assertThisMachine } from '../http/session-cookie.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

let made = 0;
/** An account that people sign in to. */
async function accountWithPassword(): Promise<{ accountId: string }> {
  const email = `ada-${++made}@team.example`;
  const password = 'correct horse battery';
  return {
    accountId: await createAccount(pipeline.sql, { name: 'Team', email, password, credits: 0 }),
  };
}

describe('a link that signs in', () => {
  const expired = { status: 401, code: 'link_expired' };
  const use = (link: string, headers = {}) =>
    pipeline.call(null, '/console/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin', ...headers },
      body: JSON.stringify({ link }),
    });

  test('works once, for its account, in both modes', async () => {
    const { accountId } = await accountWithPassword();
    const link = await createSignInLink(pipeline.sql, accountId);
    const [first, second] = await Promise.all([use(link), use(link)]);
    const [signedIn, refused] = first.status === 201 ? [first, second] : [second, first];
    expect(await signedIn.json()).toMatchObject({
      account: { id: accountId },
      modes: ['live', 'test'],
    });
    await expectProblem(refused, expired);
    const stored = await pipeline.sql`select from sign_in_links where account_id = ${accountId}`;
    expect(stored).toHaveLength(0);
  });

  test('still works after a sign-in that was given up before its turn', async () => {
    const { accountId } = await accountWithPassword();
    const link = await createSignInLink(pipeline.sql, accountId);
    const gone = { network: '192.0.2.1', signal: AbortSignal.abort(new Error('gone')) };
    await expect(signIn(pipeline.context, { link }, gone)).rejects.toThrow('gone');
    expect((await use(link)).status).toBe(201);
  });

  test('works for ten minutes, and not after the password was changed', async () => {
    const { accountId } = await accountWithPassword();
    const late = await createSignInLink(pipeline.sql, accountId);
    await pipeline.sql`
      update sign_in_links set expires_at = expires_at - interval '10 minutes'
      where account_id = ${accountId}`;
    await expectProblem(await use(late), expired);
    const before = await createSignInLink(pipeline.sql, accountId);
    await changePassword(pipeline.sql, { accountId, password: 'another horse battery' });
    await expectProblem(await use(before), expired);
  });

  test('lasts no longer when the clock was set back, nor does its session', async () => {
    const { accountId } = await accountWithPassword();
    const { accountId: other } = await accountWithPassword();
    const { sql } = pipeline;
    const signInTo = async (id: string) => use(await createSignInLink(sql, id));
    expect([(await signInTo(accountId)).status, (await signInTo(other)).status]).toEqual([
      201, 201,
    ]);
    const links = [await createSignInLink(sql, accountId), await createSignInLink(sql, other)];
    // Made while the clock was an hour ahead.
    for (const table of ['sessions', 'sign_in_links']) {
      await sql`
        update ${sql(table)} set expires_at = expires_at + interval '1 hour'
        where account_id = ${accountId}`;
    }
    await deleteOldSessions(sql);
    const left = await sql`
      select account_id from sessions where account_id in (${accountId}, ${other})`;
    expect(left).toEqual([{ accountId: other }]);
    const [old, fresh] = await Promise.all(links.map((link) => use(link)));
    await expectProblem(old as Response, expired);
    expect(fresh?.status).toBe(201);
  });

  test('opens no session when the password is changed meanwhile', async () => {
    const { accountId } = await accountWithPassword();
    const link = await createSignInLink(pipeline.sql, accountId);
    const signingIn = await inTransaction(pipeline.sql, async (tx) => {
      await tx`select from accounts where id = ${accountId} for no key update`;
      const using = use(link);
      await expect
        .poll(() => pipeline.sql`select from sign_in_links where account_id = ${accountId}`)
        .toHaveLength(0);
      await tx`update accounts set password_hash = 'another' where id = ${accountId}`;
      return { using };
    });
    await expectProblem(await signingIn.using, { status: 401, code: 'invalid_sign_in' });
    const sessions = await pipeline.sql`select from sessions where account_id = ${accountId}`;
    expect(sessions).toHaveLength(0);
  });

  test('is kept for its person when it arrives from another machine, or through a proxy', async () => {
    const { accountId } = await accountWithPassword();
    const link = await createSignInLink(pipeline.sql, accountId);
    const forbidden = { status: 403, code: 'forbidden' };
    const host = new URL(pipeline.url).host;
    for (const headers of [
      { 'X-Forwarded-For': '127.0.0.1' },
      { Forwarded: 'for=127.0.0.1' },
      { Via: '1.1 proxy' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      await expectProblem(await use(link, headers), forbidden);
    }
    const socket = { remoteAddress: '127.0.0.1' };
    for (const request of [
      { headers: { host }, socket: { remoteAddress: '10.0.0.7' } },
      { headers: { host: 'service.example' }, socket },
      { headers: { host: '127.0.0.1.service.example' }, socket },
      { headers: {}, socket },
    ]) {
      expect(() => assertThisMachine(request as never)).toThrow(
        'on the machine that runs the service',
      );
    }
    expect((await use(link)).status).toBe(201);
  });
});
