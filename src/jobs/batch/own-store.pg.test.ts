/** A service knows its object store: another's is refused, before anything is read from it or written to it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { diagnose } from '../backup/doctor.ts';
import { assertOwnStore, INSTALLATION_KEY } from './own-store.ts';

let pipeline: Pipeline;
let other: Pipeline;
const logged: unknown[] = [];
const log = { error: (...line: unknown[]) => void logged.push(line) };
const check = (of: Pipeline, store = of.context.store) =>
  assertOwnStore({ sql: of.sql, store, log }, 'The bucket leads');
const refusal = (text: string) => ({
  code: 'another_store',
  message: expect.stringMatching(new RegExp(`^The bucket leads is .*${text}`)),
});
beforeAll(async () => {
  [pipeline, other] = await Promise.all([openPipeline(), openPipeline()]);
  // Databases of tests are copies of one, and so have one id.
  await other.sql`update installation set id = gen_random_uuid()`;
  await importGraph(pipeline.sql, { persons: crowd(2) });
});
afterAll(async () => {
  await Promise.all([pipeline.close(), other.close()]);
});

test('a new store is marked by the first process, and every later one finds its mark', async () => {
  const { store } = pipeline.context;
  await check(pipeline);
  const [row] = await pipeline.sql<{ id: string }[]>`select id from installation`;
  expect(String(await store.get(INSTALLATION_KEY, { from: 0, to: 100 }))).toBe(row?.id);
  await check(pipeline);
});

test('the store of another installation is refused, and stays as it is', async () => {
  const before = await pipeline.context.store.get(INSTALLATION_KEY, { from: 0, to: 100 });
  await expect(check(other, pipeline.context.store)).rejects.toMatchObject(
    refusal('another installation.*S3_PREFIX'),
  );
  expect(await pipeline.context.store.get(INSTALLATION_KEY, { from: 0, to: 100 })).toEqual(before);
});

test('a store without a mark is refused while the database has lists with files, until the doctor was there', async () => {
  const { context } = pipeline;
  const caller = await pipeline.account(10);
  await pipeline.enrich(caller, 'email\np1@list.example\n', { operation: 'people.enrich' });
  await context.store.delete(INSTALLATION_KEY);
  await expect(check(pipeline)).rejects.toMatchObject(
    refusal('no object `installation`.*doctor --fix --files-lost'),
  );
  expect(await context.store.head(INSTALLATION_KEY)).toBeNull();
  await diagnose(context, { fix: false, filesLost: true });
  expect(await context.store.head(INSTALLATION_KEY)).toBeNull();
  await diagnose(context, { fix: true, filesLost: true });
  await check(pipeline);
});

test('a store that does not respond is checked at the next start', async () => {
  const down = () => Promise.reject(new Error('down'));
  const { context } = other;
  await check(other, { ...context.store, head: down });
  expect(logged).toHaveLength(1);
  expect(await context.store.head(INSTALLATION_KEY)).toBeNull();
});

test('a new store that does not respond at the start is marked once it does, though lists were stored first', async () => {
  const fresh = await openPipeline();
  const { store } = fresh.context;
  let isDown = true;
  const head = (key: string) => (isDown ? Promise.reject(new Error('down')) : store.head(key));
  await check(fresh, { ...store, head });
  await importGraph(fresh.sql, { persons: crowd(2) });
  const caller = await fresh.account(10);
  await fresh.enrich(caller, 'email\np1@list.example\n', { operation: 'people.enrich' });
  isDown = false;
  await expect.poll(() => store.head(INSTALLATION_KEY), { timeout: 10_000 }).not.toBeNull();
  await check(fresh);
  await fresh.close();
});
