/** A body of any shape has a short refusal, however much of it is wrong. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { accountScopes } from '../../core/keys/keys.ts';

const REFUSAL_CHARACTERS_MAX = 10_000;

let pipeline: Pipeline;
let caller: Caller;
let list: string;
beforeAll(async () => {
  pipeline = await openPipeline();
  const { accountId } = await pipeline.account(0);
  caller = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
  list = await pipeline.upload(caller, 'email\na@b.example\n', {
    operation: 'people.enrich',
    hold: 'true',
  });
  await pipeline.runUntilIdle();
});
afterAll(() => pipeline.close());

const send = (method: string, path: string, body: string, type = 'application/json') =>
  pipeline.call(caller, path, { method, headers: { 'Content-Type': type }, body });

const repeated = (count: number, text: string) => Array(count).fill(text).join();
const keys = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join();
const operation = '"operation":"people.enrich"';
const names = '"id",'.repeat(201).slice(0, -1);
const text = 'id,'.repeat(500_000).slice(0, -1);

test.each([
  ['outcomes', 'POST', '/v1/batches/0/rerun', `{"outcomes":[${repeated(49_000, '1')}]}`],
  ['outcomes', 'POST', '/v1/batches/0/rerun', `{"outcomes":[${repeated(900, '1')}]}`],
  ['scopes', 'POST', '/v1/keys', `{"mode":"live","scopes":[${repeated(49_000, '1')}]}`],
  ['body', 'POST', '/v1/keys', `{${keys(9_000, '1')}}`],
  ['k0', 'POST', '/v1/keys', `{"mode":"live",${keys(99, '1')}}`],
  ['k'.repeat(100), 'POST', '/v1/keys', `{"mode":"live","${'k'.repeat(50_000)}":1}`],
  ['domains', 'POST', '/v1/do-not-contact', `{"domains":[${repeated(2_000_000, '1')}]}`],
  ['domains.0', 'POST', '/v1/do-not-contact', `{"domains":[${repeated(10_000, '1')}]}`],
  ['0', 'POST', '/v1/do-not-contact', '['.repeat(1_000_000) + ']'.repeat(1_000_000)],
  ['x', 'POST', '/v1/batches', `{"upload_id":"0","x":${'['.repeat(9e5)}${']'.repeat(9e5)}}`],
  ['rows', 'POST', '/v1/batches', `{${operation},"rows":[${repeated(900_000, '1')}]}`],
  ['rows.0', 'POST', '/v1/batches', `{${operation},"rows":[{${keys(150_000, '[]')}}]}`],
  [
    'rows.0.k0',
    'POST',
    '/v1/batches',
    `{${operation},"rows":[${repeated(1000, `{${keys(100, '[]')}}`)}]}`,
  ],
  ['fields', 'POST', '/v1/batches', `{${operation},"rows":[{"email":"a"}],"fields":"${text}"}`],
  ['fields', 'POST', '/v1/batches', `{${operation},"rows":[{"email":"a"}],"fields":[${names}]}`],
  ['fields', 'PATCH', '/v1/batches/:list', `{"fields":[${names}]}`],
  ['fields', 'POST', '/v1/exports', `{"filter":"gender=1","fields":[${names}]}`],
  ['fields', 'POST', '/v1/schedules', `{"filter":"gender=1","cron":"@daily","fields":[${names}]}`],
  ['encoding', 'PATCH', '/v1/batches/:list', `{"encoding":"${'x'.repeat(50_000)}"}`],
  ['rows', 'POST', '/v1/batches?operation=people.enrich', '{}\n'.repeat(600_000)],
])('%s of %s %s: the refusal is short and names the parameter (%#)', async (...given) => {
  const [field, method, path, body] = given;
  const type = body.startsWith('{}\n') ? 'application/jsonl' : 'application/json';
  const response = await send(method, path.replace(':list', list), body, type);
  const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
  expect(problem.errors[0]?.field).toBe(field);
  expect(problem.errors.length).toBeLessThanOrEqual(20);
  expect(JSON.stringify(problem).length).toBeLessThan(REFUSAL_CHARACTERS_MAX);
});

test('a field that is named several times is stored once', async () => {
  const rows = '"rows":[{"email":"a@b.example"}],"hold":true';
  const fields = `"fields":"${'id,name,'.repeat(50)}id"`;
  const made = await send('POST', '/v1/batches', `{${operation},${rows},${fields}}`);
  expect(await made.json()).toMatchObject({ fields: ['id', 'name'] });
  const patched = await send('PATCH', `/v1/batches/${list}`, `{"fields":["id","id"]}`);
  expect(await patched.json()).toMatchObject({ fields: ['id'] });
});

test('a column named like a member of every object is empty where a row lacks it', async () => {
  const rows = '"rows":[{"email":"a@b.example"},{"email":"b@b.example","constructor":"c"}]';
  const made = await send('POST', '/v1/batches', `{${operation},${rows},"hold":true}`);
  const { id } = (await made.json()) as { id: string };
  const preview = await pipeline.call(caller, `/v1/batches/${id}/preview`);
  expect(await preview.json()).toMatchObject({
    rows: [{ cells: ['a@b.example', ''] }, { cells: ['b@b.example', 'c'] }],
  });
});
