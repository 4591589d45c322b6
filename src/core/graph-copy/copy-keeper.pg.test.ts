/** The local copy builds itself where lists gain by it, renews itself, and never harms what it could not help. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../db/client.ts';
import type { Log } from '../log.ts';
import { openFileStore } from '../storage/file-store.ts';
import { suppress } from '../suppression/suppress.ts';
import { buildCopy } from './build-copy.ts';
import { lockBuild } from './copy.sql.ts';
import { placeOf } from './copy-folder.ts';
import { type KeepOptions, openKeeper } from './copy-keeper.ts';
import { type LocalCopy, openLocalCopy } from './local-copy.ts';
import { manifestFile } from './manifest.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, { persons: crowd(50) });
  await database.sql`analyze person_records`;
});
afterAll(() => database.drop());

let said: string[];
const warn = (_fields: object, line: string) => void said.push(line);
const log = { warn, info: () => {} } as unknown as Log;
let copy: LocalCopy;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-copy-'));
  said = [];
  copy = openLocalCopy(folder, log);
});
afterEach(async () => {
  copy.close();
  await rm(folder, { recursive: true, force: true });
});

function keeper(localCopy: LocalCopy, options: KeepOptions = {}, mayBuild = true) {
  const context = { sql: database.sql, localCopy, log, store: openFileStore(folder) };
  return openKeeper(context, { mayBuild, mayFetch: false }, { recordsMin: 10, ...options });
}

/** The folders of builds, whole or not. */
async function builds(): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('build-'));
}

test('a copy is built when lists have been worth it, and not again', async () => {
  const keep = keeper(copy);
  expect(await keep()).toBe(false);
  copy.countRows(199);
  expect(await keep()).toBe(false);
  copy.countRows(1);
  expect(await keep()).toBe(true);
  expect(await copy.read(database.sql, async () => 'answered')).toBe('answered');
  copy.countRows(1000);
  expect(await keep()).toBe(false);
  expect(await builds()).toHaveLength(1);
});

test('none is built of a small graph, nor where operators say no', async () => {
  copy.countRows(1_000_000);
  expect(await keeper(copy, { recordsMin: 51 })()).toBe(false);
  expect(await keeper(copy, {}, false)()).toBe(false);
  expect(await builds()).toEqual([]);
});

test('a copy is rolled forward when many people changed, whatever the lists, and built again when it is a share', async () => {
  const keep = keeper(copy, { changedMax: 1 });
  copy.countRows(200);
  expect(await keep()).toBe(true);
  const [built] = await builds();
  await suppress(database.sql, 'p1@list.example');
  expect(await keep()).toBe(false);
  await suppress(database.sql, 'p2@list.example');
  expect(await keep()).toBe(true);
  expect(copy.describe()).toMatchObject({
    changed: 0,
    copy: { delta: { people: { covered: 2 } } },
  });
  // Operators who build by hand have theirs rolled forward too, and not built.
  const all = () => database.sql`update person_briefs set brief = brief`;
  await all();
  expect(await keeper(copy, { changedMax: 1 }, false)()).toBe(true);
  expect(await builds()).toEqual(expect.arrayContaining([built]));
  await all();
  expect(await keep()).toBe(true);
  expect(copy.describe()).toMatchObject({ changed: 0, copy: { delta: null } });
  expect(await builds()).toEqual([expect.not.stringContaining(built ?? '')]);
});

test('a roll forward that fails is said in one line, and the copy goes on', async () => {
  await buildCopy(database.sql, { folder });
  await database.sql`update person_briefs set brief = brief`;
  const keep = keeper(copy, { changedMax: 1, freeBytes: async () => 1 });
  expect(await keep()).toBe(false);
  expect(await keep()).toBe(false);
  expect(said).toEqual([
    expect.stringContaining('cannot be rolled forward, Postgres answers: Less'),
  ]);
  expect(await builds()).toHaveLength(1);
  expect(await copy.read(database.sql, async () => 'answered')).toBe('answered');
});

test('two processes of a machine make one copy', async () => {
  const other = openLocalCopy(folder, log);
  for (const one of [copy, other]) one.countRows(200);
  const built = await Promise.all([keeper(copy)(), keeper(other)()]);
  expect(built.sort()).toEqual([false, true]);
  // One that decided before the other had built.
  const late = buildCopy(database.sql, { folder, replaces: null });
  await expect(late).rejects.toMatchObject({ code: 'copy_is_built' });
  expect(await builds()).toHaveLength(1);
  expect(said).toEqual([]);
  other.close();
});

test.each<[string, () => Promise<void>, KeepOptions]>([
  ['a full disk', async () => {}, { freeBytes: async () => 1024 ** 3 - 1 }],
  [
    'a folder that cannot be written',
    async () => {
      await rm(folder, { recursive: true });
      await writeFile(folder, 'a file');
    },
    {},
  ],
])(
  '%s is said in one line, leaves no files, and is tried again after an hour',
  async (_name, harm, options) => {
    await harm();
    let time = 0;
    const keep = keeper(copy, { ...options, now: () => time });
    copy.countRows(200);
    expect(await keep()).toBe(false);
    expect(said).toEqual([expect.stringMatching(/cannot be built, Postgres answers: (Less|E)/)]);
    expect(await builds()).toEqual([]);
    time += 3_599_999;
    expect(await keep()).toBe(false);
    expect(said).toHaveLength(1);
    time += 1;
    expect(await keep()).toBe(false);
    expect(said).toHaveLength(2);
  },
);

test('a build ends with its process, without files', async () => {
  copy.countRows(200);
  expect(await keeper(copy, { signal: AbortSignal.abort() })()).toBe(false);
  expect(await builds()).toEqual([]);
  expect(said).toEqual([]);
});

test('what a killed build left is deleted, but no build that runs', async () => {
  await buildCopy(database.sql, { folder });
  const whole = await builds();
  const left = path.join(folder, 'build-00000000-0000-0000-0000-000000000000');
  const [begun, mayEnd] = [new Signal(), new Signal()];
  const running = inTransaction(database.sql, async (tx) => {
    await lockBuild(tx, await placeOf(folder));
    begun.raise();
    await mayEnd.raised;
  });
  await begun.raised;
  await mkdir(left);
  await writeFile(`${manifestFile(folder)}.part`, 'half');
  const keep = keeper(copy);
  await keep();
  expect(await builds()).toHaveLength(2);
  mayEnd.raise();
  await running;
  await keep();
  expect(await builds()).toEqual(whole);
  expect(await readdir(folder)).toHaveLength(2);
  expect(await copy.read(database.sql, async () => 'answered')).toBe('answered');
});
