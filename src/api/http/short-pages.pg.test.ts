/** Pages of lists and exports, and rows that outlive their files, hold no long texts. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { accountScopes } from '../../core/keys/keys.ts';
import { parseFilter } from '../../core/search/parse.ts';
import type { BatchView, ExportView } from '../../jobs/batch/batch-view.ts';

vi.mock('../../core/search/parse.ts', { spy: true });

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  const { accountId } = await pipeline.account(0);
  caller = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
});
afterAll(() => pipeline.close());

const read = async <Body>(path: string): Promise<Body> =>
  (await (await pipeline.call(caller, path)).json()) as Body;

const longFilter = `id=[${Array.from({ length: 3000 }, (_, id) => id + 1).join('|')}]`;
/** Random letters, which no compression makes short. */
const random = (length: number) =>
  Array.from({ length }, () => String.fromCharCode(97 + Math.random() * 26)).join('');

async function longList(): Promise<string> {
  const header = ['email', random(30_000), random(30_000)].join();
  return pipeline.upload(caller, `${header}\na@b.example,,\n`, {
    operation: 'people.enrich',
    mapping: '{"email":[1],"phone":[2,3]}',
    hold: 'true',
  });
}

test('a page has neither long filters nor long headers; a single list or export has them', async () => {
  const id = await pipeline.makeExport(caller, { filter: longFilter, hold: true });
  const short = await pipeline.makeExport(caller, { filter: 'gender=1', hold: true });
  const { data } = await read<{ data: ExportView[] }>('/v1/exports');
  expect(data.map(({ filter }) => filter)).toEqual(['gender=1', null]);
  expect(await read(`/v1/exports/${id}`)).toMatchObject({ filter: longFilter });
  const list = await longList();
  const page = await read<{ data: BatchView[] }>('/v1/batches');
  expect(page.data[0]).toMatchObject({ id: list, mapping: {}, dialect: { header: null } });
  expect(JSON.stringify(page).length).toBeLessThan(5000);
  const whole = await read<BatchView>(`/v1/batches/${list}`);
  expect(whole.dialect.header).toHaveLength(3);
  expect(Object.keys(whole.mapping)).toEqual(['email', 'phone']);
  for (const one of [id, short]) {
    await pipeline.call(caller, `/v1/exports/${one}/cancel`, { method: 'POST' });
  }
});

test('a long response that is stored for its Idempotency-Key counts as many calls', async () => {
  const { accountId } = await pipeline.account(0);
  const owner = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
  const save = async (name: string, filter: string) => {
    const saved = await pipeline.call(owner, '/v1/searches', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name },
      body: JSON.stringify({ name, filter }),
    });
    expect(saved.status).toBe(201);
  };
  const bucket = { owner: accountId, name: 'other calls', perMinute: 600 };
  const hasLeft = async (cost: number) =>
    (await pipeline.context.limiter.takeTokens({ ...bucket, cost })).admitted;
  // Each counts as 15 calls of 4 KiB.
  for (let n = 0; n < 12; n++) await save(`long ${n}`, `skills=[${'a'.repeat(60_000)}]`);
  expect(await hasLeft(580)).toBe(false);
});

test('no view of an export parses its filter, and one that names people has no free total', async () => {
  const named = await pipeline.makeExport(caller, { filter: 'name=Ada', hold: true });
  const group = await pipeline.makeExport(caller, { filter: 'gender=1', hold: true });
  await pipeline.runUntilIdle();
  expect(parseFilter).toHaveBeenCalled();
  vi.mocked(parseFilter).mockClear();
  expect(await read(`/v1/exports/${named}`)).toMatchObject({ total_is: null });
  expect(await read(`/v1/exports/${group}`)).toMatchObject({ total_is: 'below' });
  await read('/v1/exports');
  expect(parseFilter).not.toHaveBeenCalled();
});

test('the row of a list or an export is small when its files are deleted', async () => {
  const list = await longList();
  const made = await pipeline.makeExport(caller, { filter: longFilter, hold: true });
  await pipeline.runUntilIdle();
  for (const path of [`/v1/batches/${list}`, `/v1/exports/${made}`]) {
    const deleted = await pipeline.call(caller, path, { method: 'DELETE' });
    expect(deleted.status).toBe(204);
    expect((await pipeline.call(caller, path)).status).toBe(200);
  }
  const sizes = await pipeline.sql<{ bytes: number }[]>`
    select pg_column_size(b.*) as bytes from batches b where files_deleted_at is not null`;
  expect(sizes).toHaveLength(2);
  for (const { bytes } of sizes) expect(Number(bytes)).toBeLessThan(3000);
});

test('a page ends before a mebibyte, and the next one goes on', async () => {
  for (let n = 0; n < 30; n++) {
    const saved = await pipeline.call(caller, '/v1/searches', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: `s${n}`, filter: `skills=[${'a'.repeat(60_000)}]` }),
    });
    expect(saved.status).toBe(201);
  }
  const names: string[] = [];
  let cursor = '';
  let pages = 0;
  while (cursor !== null && pages < 10) {
    const response = await pipeline.call(caller, `/v1/searches?limit=100${cursor}`);
    const text = await response.text();
    expect(text.length).toBeLessThan(1_100_000);
    const page = JSON.parse(text) as { data: { name: string }[]; next_cursor: string | null };
    names.push(...page.data.map(({ name }) => name));
    pages++;
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(pages).toBe(2);
  expect(names).toEqual(Array.from({ length: 30 }, (_, n) => `s${29 - n}`));
});
