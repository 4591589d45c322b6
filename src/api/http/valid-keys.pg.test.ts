import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { VALID_KEYS_MAX } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
let admin: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  const { accountId } = await pipeline.account(0);
  admin = await pipeline.keyOf(accountId, 'live', ['account']);
});
afterAll(() => pipeline.close());

const send = (method: string, path: string, body?: object) =>
  pipeline.call(admin, path, {
    method,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
const make = () => send('POST', '/v1/keys', { mode: 'test' });
const refusal = { status: 409, code: 'too_many_keys' };

test('an account never exceeds its maximum of valid keys, however many are requested at once', async () => {
  // The account's first key and the administrator's are two of them.
  for (let made = 2; made < VALID_KEYS_MAX - 5; made++) expect((await make()).status).toBe(201);
  const answers = await Promise.all(Array.from({ length: 20 }, make));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  const problem = await expectProblem(await make(), refusal);
  expect(problem.detail).toContain('DELETE /v1/keys/:id');
  await expectProblem(await send('POST', `/v1/keys/${admin.keyId}/roll`, {}), refusal);
});

test('a key that was revoked, or ended, makes room for another', async () => {
  const page = (await (await send('GET', '/v1/keys?limit=2')).json()) as { data: { id: string }[] };
  const [first, second] = page.data;
  expect((await send('DELETE', `/v1/keys/${first?.id}`)).status).toBe(200);
  expect((await make()).status).toBe(201);
  await expectProblem(await make(), refusal);
  await pipeline.sql`update api_keys set expires_at = now() where id = ${second?.id ?? ''}`;
  expect((await make()).status).toBe(201);
  await expectProblem(await make(), refusal);
});
