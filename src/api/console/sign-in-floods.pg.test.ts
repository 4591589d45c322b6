/** Many sign-ins from many networks: the owner of an account gets through, guesses do not. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { must } from '../../core/lib/assert.ts';

const password = 'correct horse battery';
/** The header that a browser adds to a call of one of our pages. */
const fromOurPage = { 'Sec-Fetch-Site': 'same-origin' };

let behind: Pipeline;
beforeAll(async () => {
  behind = await openPipeline({ TRUST_PROXY: 'loopback' });
});
afterAll(() => behind.close());

const trySignIn = (credentials: object, from: string) =>
  behind.call(null, '/console/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': from, ...fromOurPage },
    body: JSON.stringify(credentials),
  });

/** Of a password that was checked, or that waited too long for its turn, as it may on a slow machine. */
const isNoEntry = (status: number) => status === 401 || status === 503;

test('a client that guesses shuts out no one else: neither the owner nor other callers', async () => {
  const email = 'bob@team.example';
  await createAccount(behind.sql, { name: 'Team', email, password, credits: 0 });
  const wrong = { email, password: 'wrong horse battery' };
  // What the guesser says of its way stands left of what the proxy says.
  let refused = 0;
  const guesses = Array.from({ length: 10 }, async (_, at) => {
    const { status } = await trySignIn(wrong, `198.51.100.${at}, 203.0.113.9`);
    if (status === 429) refused++;
    return status;
  });
  // At once: later the limit of a minute lets one more through.
  await expect.poll(() => refused).toBe(4);
  expect((await trySignIn({ email, password }, '203.0.113.9')).status).toBe(429);
  expect((await trySignIn({ email, password }, '192.0.2.7')).status).toBe(201);
  const others = (await Promise.all(guesses)).filter((status) => status !== 429);
  expect(others).toHaveLength(6);
  expect(others.every(isNoEntry)).toBe(true);
});

test('a flood from ever new addresses does not delay who has signed in from an address before', async () => {
  const email = 'ivy@team.example';
  await createAccount(behind.sql, { name: 'Team', email, password, credits: 0 });
  const owners = () => trySignIn({ email, password }, '192.0.2.44');
  expect((await owners()).status).toBe(201);
  let checked = 0;
  const flood = Array.from({ length: 30 }, async (_, at) => {
    const wrong = { email, password: 'wrong horse battery' };
    const { status } = await trySignIn(wrong, `2001:db8:${at}::1`);
    if (status === 401) checked++;
  });
  // All of them came before.
  await Promise.race(flood);
  expect((await owners()).status).toBe(201);
  expect(checked).toBeLessThan(15);
  await Promise.all(flood);
});

test('the addresses of one IPv6 network count as one', async () => {
  const wrong = { email: 'bob@team.example', password: 'wrong horse battery' };
  const guesses = Array.from({ length: 7 }, (_, at) => trySignIn(wrong, `2001:db8:a:b:${at}::1`));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
});

test('addresses that send many passwords at once leave the others a turn', async () => {
  const email = 'eve@team.example';
  await createAccount(behind.sql, { name: 'Team', email, password, credits: 0 });
  const wrong = 'wrong horse battery';
  let checked = 0;
  const flood = Array.from({ length: 24 }, async (_, at) => {
    const credentials = { email: `${at}@team.example`, password: wrong };
    const { status } = await trySignIn(credentials, `198.51.100.${at % 3}`);
    if (status === 401) checked++;
    return status;
  });
  // All of them came before.
  await Promise.race(flood);
  expect((await trySignIn({ email, password }, '192.0.2.8')).status).toBe(201);
  expect(checked).toBeLessThan(12);
  const refused = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      trySignIn({ email: `${at}@one.example`, password: wrong }, '198.51.100.99'),
    ),
  );
  const problem = await expectProblem(
    must(
      refused.find(({ status }) => status === 429),
      'a refusal',
    ),
    { status: 429, code: 'rate_limited' },
  );
  expect(problem.detail).toContain('8 for sign-ins of this network open at once');
  const statuses = await Promise.all(flood);
  expect(statuses.every(isNoEntry)).toBe(true);
});
