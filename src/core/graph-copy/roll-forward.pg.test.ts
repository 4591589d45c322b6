/** A copy follows the graph without a new build: a delta beside it, and people who withdrew overwritten in its files. */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../db/client.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { must } from '../lib/assert.ts';
import type { Log } from '../log.ts';
import { suppress } from '../suppression/suppress.ts';
import { buildCopy, rollForward } from './build-copy.ts';
import { lockBuild, readGraphState } from './copy.sql.ts';
import { placeOf } from './copy-folder.ts';
import { readCopyStatus } from './copy-status.ts';
import { type LocalCopy, openLocalCopy } from './local-copy.ts';
import {
  type Entity,
  encodeManifest,
  type FileKind,
  fileKinds,
  fileName,
  type Manifest,
  manifestFile,
  parseManifest,
  readManifestText,
} from './manifest.ts';

let database: TestDatabase;
let folder: string;
let said: string[];
let copy: LocalCopy;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, { companies: [{ id: 10, name: 'Acme Ltd' }] });
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.sql`truncate persons, person_identifiers, person_records, person_briefs, person_search,
    person_name_keys, keyed_persons, suppressed_identifiers, suppressed_persons`;
  await importGraph(database.sql, { persons: crowd(50) });
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-copy-'));
  said = [];
  copy = open();
});
afterEach(async () => {
  copy.close();
  await rm(folder, { recursive: true, force: true });
});

function open(): LocalCopy {
  const warn = (_fields: object, line: string) => void said.push(line);
  return openLocalCopy(folder, { warn } as unknown as Log);
}

const emailOf = (person: number) => `p${person}@list.example`;
const idOf = (person: number) => 1000 + person;

async function text(): Promise<string> {
  return must(await readManifestText(folder), 'a manifest');
}

async function manifest(): Promise<Manifest> {
  return parseManifest(await text());
}

const build = () => buildCopy(database.sql, { folder });

async function roll(change: Partial<Parameters<typeof rollForward>[1]> = {}): Promise<Manifest> {
  return rollForward(database.sql, { folder, replaces: await text(), shareMax: 100, ...change });
}

/** Writes people anew, so that a delta has them. */
async function touch(...people: number[]): Promise<void> {
  const ids = people.map(idOf);
  await database.sql`update person_briefs set brief = brief where id = any(${ids}::bigint[])`;
}

/** The ids that a copy finds for these people's addresses, 0 for none; null when it does not answer. */
function find(people: readonly number[], by = copy): Promise<number[] | null> {
  return by.read(database.sql, async ({ people: reader, release }) => {
    const found = people.map(() => 0);
    const hits = await reader.lookUp(people.map(emailOf));
    for (const line of people.keys()) {
      hits.forEach(line, (_, id) => {
        found[line] = id;
      });
    }
    // All texts, also those of their neighbours.
    const ids = found.filter((id) => id > 0);
    for (const brief of [false, true]) await reader.readInOrder(ids, { brief });
    release();
    return found;
  });
}

const everyone = Array.from({ length: 50 }, (_, index) => index + 1);
const idsWithout = (...gone: number[]) =>
  everyone.map((one) => (gone.includes(one) ? 0 : idOf(one)));

/** The layers whose files have the address of a person. */
async function layersWith(person: number): Promise<string[]> {
  const { folder: built, delta } = await manifest();
  const found: string[] = [];
  for (const [name, layer] of [
    ['build', built],
    ['delta', delta?.folder],
  ] as const) {
    for (const kind of layer === undefined ? [] : fileKinds) {
      const bytes = await readFile(path.join(folder, layer ?? '', fileName('people', kind)));
      if (bytes.includes(emailOf(person))) found.push(`${name} ${kind}`);
    }
  }
  return found;
}

const everywhere = ['build blocks', 'build further'];

describe('a roll forward', () => {
  test('has the people who changed, in place of an earlier one, for readers of before and after', async () => {
    const built = await build();
    expect(await find(everyone)).toEqual(idsWithout());
    await touch(3, 4);
    const first = await roll();
    const { number } = await readGraphState(database.sql);
    expect(first).toEqual({ ...built, delta: first.delta });
    expect(first.delta).toMatchObject({ number, people: { count: 2, covered: 2 } });
    expect(await find(everyone)).toEqual(idsWithout());
    expect(copy.describe()).toMatchObject({ changed: 0, reached: number });
    await touch(5);
    await database.sql`update company_records set record = record`;
    const second = await roll();
    expect(second.delta?.people.covered).toBe(3);
    expect(second.delta?.companies).toMatchObject({ count: 1, covered: 1 });
    expect(await find(everyone)).toEqual(idsWithout());
    expect(await readdir(folder)).toHaveLength(3);
    expect(await readCopyStatus(database.sql, folder)).toMatchObject({ changed: 0, problem: null });
    expect(said).toEqual([]);
  });

  test('of a large share of the graph is a build', async () => {
    const built = await build();
    await touch(...everyone.slice(0, 25));
    expect((await roll({ shareMax: 0.5 })).folder).toBe(built.folder);
    await touch(26);
    const again = await roll({ shareMax: 0.5 });
    expect(again).toMatchObject({ delta: null, people: { count: 50 } });
    expect(again.folder).not.toBe(built.folder);
    expect(await readdir(folder)).toHaveLength(2);
    expect(await find(everyone)).toEqual(idsWithout());
  });

  test('that ends in the middle leaves the copy in its state, and no files', async () => {
    await build();
    await touch(1);
    await roll();
    const before = [await text(), ...(await readdir(folder)).sort()];
    await touch(2);
    const onProgress = () => {
      throw new Error('killed');
    };
    await expect(roll({ onProgress })).rejects.toThrow('killed');
    await expect(roll({ freeBytes: async () => 1 })).rejects.toMatchObject({ code: 'disk_full' });
    expect([await text(), ...(await readdir(folder)).sort()]).toEqual(before);
    expect(await find(everyone)).toEqual(idsWithout());
  });

  test('of two processes at once makes one delta', async () => {
    await build();
    await touch(1);
    const replaces = await text();
    const both = await Promise.allSettled([roll({ replaces }), roll({ replaces })]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(roll({ replaces })).rejects.toMatchObject({ code: 'copy_is_built' });
    expect(await readdir(folder)).toHaveLength(3);
  });

  test('is needed when more people changed than a process remembers: until then Postgres answers', async () => {
    await build();
    for (let part = 0; part < 3; part++) {
      const from = 100_000 + part * 7_000;
      await database.sql`insert into person_briefs select id, '' from generate_series(${from}::int, ${from + 6_999}::int) id`;
    }
    expect(await find(everyone)).toBeNull();
    expect(copy.describe()).toMatchObject({ isBehind: true });
    const { problem } = await readCopyStatus(database.sql, folder);
    expect(problem).toContain('more than 20000 records changed');
    await roll({ shareMax: 1000 });
    expect(await find(everyone)).toEqual(idsWithout());
    expect(copy.describe()).toMatchObject({ isBehind: false });
    expect(said).toEqual([]);
  });
});

describe('a delta', () => {
  const inDelta = async (kind: FileKind, entity: Entity = 'people') =>
    path.join(folder, must((await manifest()).delta, 'a delta').folder, fileName(entity, kind));
  const change = async (file: string, length: (bytes: Buffer) => Buffer | null) => {
    const bytes = length(await readFile(file));
    await (bytes === null ? rm(file) : writeFile(file, bytes));
  };
  const cut = (bytes: Buffer) => bytes.subarray(0, -1);
  const flip = (bytes: Buffer) => {
    const at = bytes.length - 1 - [...bytes].reverse().findIndex((byte) => byte !== 0);
    bytes[at] = must(bytes[at], 'a byte') ^ 1;
    return bytes;
  };
  const cases = fileKinds.flatMap((kind): [string, string, () => Promise<void>][] => {
    const name = `${fileName('people', kind)} of the delta`;
    return [
      [`cut ${kind}`, `${name} is`, async () => change(await inDelta(kind), cut)],
      [
        `missing ${kind}`,
        `${name} is missing`,
        async () => change(await inDelta(kind), () => null),
      ],
      [`changed ${kind}`, `${name} is damaged`, async () => change(await inDelta(kind), flip)],
    ];
  });

  test.each(cases)('with %s is found, and the copy dropped', async (_name, why, harm) => {
    await build();
    await touch(...everyone);
    await roll();
    await harm();
    expect(await find(everyone)).toBeNull();
    expect(said).toEqual([expect.stringContaining(why)]);
    expect(await readdir(folder)).toEqual([]);
    await build();
    expect(await find(everyone)).toEqual(idsWithout());
  });

  test('of another history is dropped with its copy', async () => {
    await build();
    await touch(1);
    const rolled = await roll();
    const delta = { ...must(rolled.delta, 'a delta'), token: crypto.randomUUID() };
    await writeFile(manifestFile(folder), encodeManifest({ ...rolled, delta }));
    expect(await find(everyone)).toBeNull();
    expect(said).toEqual([expect.stringContaining('another history')]);
  });
});

describe('a person who withdrew', () => {
  // Of one who opted out a new delta has the identifiers: they stay ambiguous if another person has them.
  const withdrawals: [string, (person: number) => Promise<unknown>, string[]][] = [
    ['was deleted', (person) => deletePersons(database.sql, [idOf(person)]), []],
    ['opted out', (person) => suppress(database.sql, emailOf(person)), ['delta blocks']],
  ];

  test.each(withdrawals)(
    'and %s is overwritten in build and delta, under open readers',
    async (_, withdraw, left) => {
      await build();
      await touch(8);
      await roll();
      const other = open();
      expect(await find(everyone, other)).toEqual(idsWithout());
      expect(await find(everyone)).toEqual(idsWithout());
      expect([await layersWith(7), await layersWith(8)]).toEqual([
        everywhere,
        [...everywhere, 'delta blocks', 'delta further'],
      ]);
      for (const person of [7, 8]) await withdraw(person);
      const expected = await find(everyone);
      expect(
        must(expected, 'an answer').filter((id, index) => id !== idOf(index + 1)).length,
      ).toBeLessThanOrEqual(2);
      expect([await layersWith(7), await layersWith(8)]).toEqual([[], []]);
      const { number } = await readGraphState(database.sql);
      expect(copy.describe()).toMatchObject({ reached: number });
      // Readers that had the files open, and one that opens them now.
      expect(await find(everyone, other)).toEqual(expected);
      const late = open();
      expect(await find(everyone, late)).toEqual(expected);
      await roll();
      expect(await find(everyone)).toEqual(expected);
      expect([await layersWith(7), await layersWith(8)]).toEqual([left, left]);
      for (const one of [other, late]) one.close();
      expect(said).toEqual([]);
    },
  );

  test.each([
    ['by a reader', () => find(everyone)],
    ['by a roll forward', () => roll()],
  ])('is overwritten %s in a company that changed before', async (_by, overwrite) => {
    const director = { companyId: 10, name: 'LARKOVNA, Ada', personId: idOf(7) };
    await importGraph(database.sql, { officers: [{ ...director, role: 'director' }] });
    const built = path.join(folder, (await build()).folder);
    const read = (kind: FileKind) => readFile(path.join(built, fileName('companies', kind)));
    const isNamed = async () => {
      const files = await Promise.all([read('blocks'), read('further')]);
      return files.some((bytes) => bytes.includes(director.name));
    };
    expect(await isNamed()).toBe(true);
    await database.sql`delete from officers`;
    await deletePersons(database.sql, [idOf(7)]);
    await overwrite();
    expect(await isNamed()).toBe(false);
  });

  test('is overwritten without a second look at the companies that changed', async () => {
    const blocks = path.join(folder, (await build()).folder, fileName('companies', 'blocks'));
    await database.sql`update company_records set record = record`;
    for (const person of [7, 8]) {
      await deletePersons(database.sql, [idOf(person)]);
      expect(await find([person])).toEqual([0]);
      await writeFile(blocks, '');
    }
  });

  test('is overwritten by a roll forward that no reader came before', async () => {
    await build();
    await deletePersons(database.sql, [idOf(7)]);
    await roll();
    expect(await layersWith(7)).toEqual([]);
    expect(await find(everyone)).toEqual(idsWithout(7));
  });

  test('is overwritten again after a process that was killed meanwhile', async () => {
    await build();
    await deletePersons(database.sql, [idOf(7)]);
    // It had overwritten the record, and not yet the block.
    const further = path.join(folder, (await manifest()).folder, fileName('people', 'further'));
    const bytes = await readFile(further);
    await writeFile(further, bytes.fill(0, bytes.indexOf(emailOf(7)), bytes.indexOf(emailOf(8))));
    expect(await layersWith(7)).toEqual(['build blocks']);
    expect(await find(everyone.slice(0, 7))).toEqual([...idsWithout(7)].slice(0, 7));
    expect(await layersWith(7)).toEqual([]);
  });

  test.each<[string, (file: string) => Promise<void>, string]>([
    [
      'half of whose block is overwritten',
      async (file) => {
        const bytes = await readFile(file);
        const at = bytes.indexOf(emailOf(7));
        await writeFile(file, bytes.fill(0, at, at + 8));
      },
      'people.blocks is damaged',
    ],
    [
      'whose file cannot be written',
      async (file) => {
        await rename(file, `${file}.gone`);
        await mkdir(file);
      },
      'people cannot be removed from it: EISDIR',
    ],
  ])('%s ends the copy', async (_name, harm, why) => {
    await build();
    expect(await find([1])).toEqual([1001]);
    await harm(path.join(folder, (await manifest()).folder, fileName('people', 'blocks')));
    await deletePersons(database.sql, [idOf(7)]);
    expect(await find([1])).toBeNull();
    expect(said).toEqual([expect.stringContaining(why)]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('stays as long as another process writes to the folder, which is not said to have followed', async () => {
    const { number } = await build();
    const [begun, mayEnd] = [new Signal(), new Signal()];
    const writing = inTransaction(database.sql, async (tx) => {
      await lockBuild(tx, await placeOf(folder));
      begun.raise();
      await mayEnd.raised;
    });
    await begun.raised;
    await deletePersons(database.sql, [idOf(7)]);
    expect(await find([6, 7])).toEqual([1006, 0]);
    expect(copy.describe()).toMatchObject({ reached: number });
    mayEnd.raise();
    await writing;
    expect(await find([6, 7])).toEqual([1006, 0]);
    expect(copy.describe()).toMatchObject({ reached: number + 1 });
    expect(await layersWith(7)).toEqual([]);
  });

  test('and is overwritten while a reader looks does not end the copy: its answer counts for nothing', async () => {
    await build();
    const other = open();
    const found = await copy.read(database.sql, async ({ people: reader }) => {
      await reader.lookUp([emailOf(7)]);
      await deletePersons(database.sql, [idOf(7)]);
      expect(await find([7], other)).toEqual([0]);
      // Its record is no longer what the block said.
      return reader.read([idOf(7)], { brief: false, keep: (texts) => texts });
    });
    expect(found).toBeNull();
    expect(said).toEqual([]);
    expect(await find(everyone)).toEqual(idsWithout(7));
    other.close();
  });
});
