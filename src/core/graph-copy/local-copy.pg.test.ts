/** A copy that is not what a build made of this graph is found before it answers, said in one line, and deleted. */
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import { scrapeHere } from '../../../tests/support/scrape.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../db/client.ts';
import { enrichMany } from '../enrich/enrich-many.ts';
import { must } from '../lib/assert.ts';
import type { Log } from '../log.ts';
import { suppress } from '../suppression/suppress.ts';
import { buildCopy } from './build-copy.ts';
import { lockBuild, readGraphState } from './copy.sql.ts';
import { placeOf } from './copy-folder.ts';
import { readCopyStatus } from './copy-status.ts';
import { type LocalCopy, openLocalCopy } from './local-copy.ts';
import {
  type Entity,
  encodeManifest,
  entities,
  type FileKind,
  fileKinds,
  fileName,
  type Manifest,
  manifestFile,
  UnusableCopy,
} from './manifest.ts';
import { readInThread } from './read-in-thread.ts';
import { reportCopy, sayShare, watchCopy } from './report-copy.ts';

let database: TestDatabase;
let other: TestDatabase;
let folder: string;
beforeAll(async () => {
  [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  for (const { sql } of [database, other]) {
    await importGraph(sql, { persons: crowd(50), companies: [{ id: 99_999, name: 'Acme Ltd' }] });
  }
});
afterAll(() => Promise.all([database.drop(), other.drop()]));

let said: string[];
let copy: LocalCopy;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-copy-'));
  said = [];
  const warn = (_fields: object, line: string) => void said.push(line);
  copy = openLocalCopy(folder, { warn } as unknown as Log);
});
afterEach(async () => {
  copy.close();
  await rm(folder, { recursive: true, force: true });
});

const email = 'p7@list.example';

/** The id that the copy finds; null when it does not answer. */
function idByCopy(full = false): Promise<number | undefined | null> {
  const { sql } = database;
  return copy.read(sql, async (reader) => {
    const rows = [rowOf('people.enrich', { email })];
    const [outcome] = await enrichMany(sql, 'people.enrich', rows, { reader, brief: !full });
    reader.release();
    return outcome?.id;
  });
}

const build = () => buildCopy(database.sql, { folder });

async function fileOf(kind: FileKind, entity: Entity = 'people'): Promise<string> {
  const [built] = (await readdir(folder)).filter((entry) => entry.startsWith('build-'));
  return path.join(folder, must(built, 'a build'), fileName(entity, kind));
}

/** Changes one bit of a file: of the last byte of the last place that has the text. */
async function damage(file: string, text = email): Promise<void> {
  const bytes = await readFile(file);
  const at = bytes.lastIndexOf(text) + text.length - 1;
  bytes[at] = must(bytes[at], 'a byte') ^ 1;
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, 0);
  await handle.close();
}

async function changeManifest(change: Partial<Record<keyof Manifest, unknown>>): Promise<void> {
  const [json = ''] = (await readFile(manifestFile(folder), 'utf8')).split('\n');
  const changed = { ...(JSON.parse(json) as Manifest), ...change } as Manifest;
  await writeFile(manifestFile(folder), encodeManifest(changed));
}

test('a build is read at once, also in place of an earlier one, and its files are private', async () => {
  expect(await idByCopy()).toBeNull();
  await build();
  expect(await idByCopy()).toBe(1007);
  await build();
  expect(await idByCopy(true)).toBe(1007);
  expect((await readdir(folder)).length).toBe(2);
  expect((await stat(await fileOf('blocks'))).mode & 0o777).toBe(0o600);
  expect((await stat(manifestFile(folder))).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(await fileOf('blocks')))).mode & 0o777).toBe(0o700);
  expect(said).toEqual([]);
});

describe('is dropped, and Postgres answers:', () => {
  test.each<[string, string, () => Promise<void>]>([
    ...entities.flatMap((entity): [string, string, () => Promise<void>][] => [
      ...fileKinds.flatMap((kind): [string, string, () => Promise<void>][] => {
        const name = fileName(entity, kind);
        const file = () => fileOf(kind, entity);
        return [
          [`truncated ${name}`, `${name} is`, async () => truncate(await file(), 8)],
          [`missing ${name}`, `${name} is missing`, async () => rm(await file())],
        ];
      }),
      ...(['identifiers', 'index'] as const).map((kind): [string, string, () => Promise<void>] => {
        const name = fileName(entity, kind);
        return [
          `changed ${name}`,
          `${name} is damaged`,
          async () => damage(await fileOf(kind, entity), ''),
        ];
      }),
    ]),
    ['changed people', 'people.blocks is damaged', async () => damage(await fileOf('blocks'))],
    ['changed records', 'people.further is damaged', async () => damage(await fileOf('further'))],
    [
      'a changed manifest',
      'manifest is damaged',
      async () => damage(manifestFile(folder), '"people"'),
    ],
    ['an older format', 'its format is 2', () => changeManifest({ format: 2 })],
    ['another history', 'another history', () => changeManifest({ token: crypto.randomUUID() })],
    ['a state to come', 'another history', () => changeManifest({ number: 999 })],
  ])('%s', async (_name, why, change) => {
    await build();
    await change();
    expect(await idByCopy(true)).toBeNull();
    expect(said).toEqual([expect.stringContaining(why)]);
    expect(await readdir(folder).catch(() => [])).toEqual([]);
    expect(await idByCopy(true)).toBeNull();
    expect(said).toHaveLength(1);
    await build();
    expect(await idByCopy(true)).toBe(1007);
  });

  test('a copy of another database', async () => {
    // Both graphs have the same people and as many changes.
    await buildCopy(other.sql, { folder });
    expect(await idByCopy()).toBeNull();
    expect(said).toEqual([expect.stringContaining('another history')]);
  });

  test('a copy that changes while it is open', async () => {
    await build();
    expect(await idByCopy()).toBe(1007);
    await damage(await fileOf('blocks'));
    expect(await idByCopy()).toBeNull();
    expect(said).toEqual([expect.stringContaining('people.blocks is damaged')]);
  });

  test.each(['blocks', 'further'] as const)(
    'a copy whose file of people, %s, is damaged, read by id',
    async (name) => {
      await build();
      const read = () =>
        copy.read(database.sql, ({ people }) =>
          people.readInOrder([1006, 1007, 1008], { brief: false }),
        );
      expect(await read()).toHaveLength(3);
      await damage(await fileOf(name));
      expect(await read()).toBeNull();
      expect(said).toEqual([expect.stringContaining(`people.${name} is damaged`)]);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('a copy of a graph of which much has changed', async () => {
    await build();
    await database.sql`insert into company_records select id, 'x' from generate_series(1, 10001) id`;
    expect(await readCopyStatus(database.sql, folder)).toMatchObject({
      changed: null,
      problem: 'too much of the graph has changed since it was built',
    });
    expect(await idByCopy()).toBeNull();
    expect(said).toEqual([expect.stringContaining('too much of the graph has changed')]);
  });
});

test('a look-up fails when its thread ends', async () => {
  const reader = await readInThread(folder, await build());
  // So many that the thread cannot respond before it ends.
  const answer = reader.people.lookUp(Array.from({ length: 300_000 }, () => email));
  reader.close();
  await expect(answer).rejects.toThrow(new UnusableCopy('its thread ended'));
  await expect(reader.people.lookUp([email])).rejects.toThrow(new UnusableCopy('its thread ended'));
});

test('a copy that cannot be opened or looked for at the moment is not dropped', async () => {
  await build();
  const tooMany = () => Promise.reject(new Error('EMFILE: too many open files'));
  const full = openLocalCopy(
    folder,
    { warn: (_: object, line: string) => said.push(line) } as unknown as Log,
    tooMany,
  );
  expect(await full.read(database.sql, async () => 'read')).toBeNull();
  full.close();
  expect(said).toEqual([expect.stringContaining('cannot be opened')]);
  expect(await idByCopy()).toBe(1007);
  // Reading it fails, and not because there is none.
  await rename(manifestFile(folder), `${manifestFile(folder)}.away`);
  await mkdir(manifestFile(folder));
  expect(await idByCopy()).toBe(1007);
  await rm(manifestFile(folder), { recursive: true });
  expect(await idByCopy()).toBeNull();
});

test('an unusable copy that cannot be deleted is not tried again', async () => {
  await build();
  await damage(await fileOf('identifiers'), '');
  const text = await readFile(manifestFile(folder));
  expect(await idByCopy()).toBeNull();
  // As on a read-only disk.
  await writeFile(manifestFile(folder), text);
  expect(await idByCopy()).toBeNull();
  expect(said).toHaveLength(1);
});

test('the status counts the records that changed, and finds what a worker would find', async () => {
  expect((await readCopyStatus(database.sql, folder)).problem).toBe('there is no copy');
  await build();
  expect(await readCopyStatus(database.sql, folder)).toMatchObject({ changed: 0, problem: null });
  await suppress(database.sql, 'p9@list.example');
  expect(await readCopyStatus(database.sql, folder)).toMatchObject({ changed: 1, problem: null });
  await damage(await fileOf('identifiers'), '');
  const { problem } = await readCopyStatus(database.sql, folder);
  expect(problem).toBe('its file people.identifiers is damaged');
});

test('a report names a build that ended while it was made, and the state of the graph before it', async () => {
  const { number } = await readGraphState(database.sql);
  const building = {
    ...copy,
    isBuilding: true,
    async read() {
      await suppress(database.sql, 'p13@list.example');
      this.isBuilding = false;
      return null;
    },
  };
  expect(await reportCopy(database.sql, building, { copy: 0, postgres: 0 })).toMatchObject({
    building: true,
    graph_number: number,
  });
});

test('a report and the metrics say number, lag, size and share of rows', async () => {
  watchCopy(copy);
  const rows = { copy: 3, postgres: 1 };
  const { number } = await readGraphState(database.sql);
  expect(await reportCopy(database.sql, copy, rows)).toEqual({
    ...{ copy: null, reached: null, graph_number: number, building: false },
    rows,
  });
  const built = await build();
  await idByCopy();
  await suppress(database.sql, 'p11@list.example');
  await suppress(database.sql, 'p12@list.example');
  await idByCopy();
  const files = entities.flatMap((entity) => fileKinds.map((kind) => fileOf(kind, entity)));
  const sizes = await Promise.all(files.map(async (file) => (await stat(await file)).size));
  const bytes = sizes.reduce((sum, size) => sum + size);
  const report = await reportCopy(database.sql, copy, rows);
  expect(report).toMatchObject({
    copy: {
      ...{ number: built.number, people: 50, companies: built.companies.count },
      ...{ bytes, changed: 2 },
    },
    reached: built.number + 2,
  });
  expect(sayShare([report, report])).toBe('75 % of 8 rows from it');
  const scrape = await scrapeHere();
  const read = (name: string) => scrape.sum(`enrich_local_copy_${name}`);
  expect(['number', 'lag_changes', 'changed_records', 'bytes'].map(read)).toEqual([
    built.number,
    2,
    2,
    bytes,
  ]);
});

test('two builds at once make one copy', async () => {
  const [begun, mayEnd] = [new Signal(), new Signal()];
  const first = inTransaction(database.sql, async (tx) => {
    // The lock of a build, held as one that is slow holds it.
    expect(await lockBuild(tx, await placeOf(folder))).toBe(true);
    begun.raise();
    await mayEnd.raised;
  });
  await begun.raised;
  await expect(build()).rejects.toMatchObject({ code: 'copy_is_built', status: 409 });
  mayEnd.raise();
  await first;
  await build();
});

test('a build that fails leaves the earlier copy, and no files', async () => {
  await build();
  const before = await readdir(folder);
  const onProgress = () => {
    throw new Error('the disk is full');
  };
  await expect(buildCopy(database.sql, { folder, onProgress })).rejects.toThrow('the disk is full');
  expect(await readdir(folder)).toEqual(before);
  expect(await idByCopy()).toBe(1007);
});
