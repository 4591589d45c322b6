/** A copy is published to S3, fetched by machines without one, and never half or damaged. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { idsWithout, useMachines } from '../../../tests/support/machines.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { connect } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { readGraphState } from './copy.sql.ts';
import { openKeeper } from './copy-keeper.ts';
import { fetchCopy } from './fetch-copy.ts';
import { dropCopies, readManifestText } from './manifest.ts';
import { publishCopy } from './publish-copy.ts';
import { readNamed, readPublished } from './published.sql.ts';
import { PUBLISHED_PREFIX } from './published-objects.ts';
import { openSharing } from './share-copy.ts';

const machines = useMachines();

test('a copy is fetched by a machine without one, which answers the same and rolls it forward', async () => {
  const publisher = await machines.openPublisher();
  await machines.touch(3);
  await machines.roll(publisher);
  await machines.age(60);
  expect(await publisher.share()).toBe(true);
  await machines.touch(4, 5);
  const other = await machines.open();
  expect(await other.keep()).toBe(true);
  const fetched = { changed: 2, copy: { delta: { people: { count: 1 } } } };
  expect(other.copy.describe()).toMatchObject(fetched);
  expect(await machines.find(other)).toEqual(idsWithout());
  expect(await other.keep({ changedMax: 1 })).toBe(true);
  const rolled = { changed: 0, copy: { delta: { people: { count: 3 } } } };
  expect(other.copy.describe()).toMatchObject(rolled);
  expect(await machines.find(other)).toEqual(await machines.find(publisher));
  expect(await machines.find(other)).toEqual(idsWithout());
  expect([...publisher.said, ...other.said]).toEqual([]);
});

test('a copy is published once, and again after an hour when it has followed the graph', async () => {
  const publisher = await machines.openPublisher();
  const first = await machines.publishedKeys();
  expect(await publisher.share()).toBe(false);
  await machines.age(60);
  expect(await publisher.share()).toBe(false);
  await machines.touch(3);
  expect(await publisher.share()).toBe(false);
  await machines.roll(publisher);
  expect(await publisher.share()).toBe(true);
  // The build is the same: the delta alone is written.
  expect(await machines.publishedKeys()).toEqual(expect.arrayContaining(first));
  const { pieces, written } = await readNamed(machines.sql);
  expect(pieces.map((name) => PUBLISHED_PREFIX + name).sort()).toEqual(
    await machines.publishedKeys(),
  );
  expect(written).toEqual([]);
  await machines.age(59);
  await machines.touch(4);
  await machines.roll(publisher);
  expect(await publisher.share()).toBe(false);
});

test('none is published of a small graph, nor fetched where a copy is, nor where operators say no', async () => {
  const publisher = await machines.openBuilder();
  expect(await publisher.share({ recordsMin: 52 })).toBe(false);
  expect(await publisher.share()).toBe(true);
  expect(await publisher.keep()).toBe(false);
  const { folder, copy: localCopy } = await machines.open();
  const own = { sql: machines.sql, store: machines.store, localCopy, log: {} as Log };
  expect(await openKeeper(own, { mayBuild: true, mayFetch: false })()).toBe(false);
  expect(await openSharing(own, false)()).toBe(false);
  expect(await readdir(folder)).toEqual([]);
});

test('two machines at once publish one copy, and two processes of a machine fetch one', async () => {
  const two = [await machines.openBuilder(), await machines.openBuilder()];
  const published = await Promise.all(two.map((machine) => machine.share()));
  expect(published.sort()).toEqual([false, true]);
  const { pieces } = await readNamed(machines.sql);
  expect(await machines.publishedKeys()).toHaveLength(new Set(pieces).size);
  const third = await machines.open();
  const fetched = await Promise.all([third.keep(), third.keep()]);
  expect(fetched.sort()).toEqual([false, true]);
  expect(await machines.find(third)).toEqual(idsWithout());
  expect([...two, third].flatMap(({ said }) => said)).toEqual([]);
});

test('a copy that is rolled forward while it is published is published as it was', async () => {
  const publisher = await machines.openBuilder();
  await machines.touch(3);
  await machines.roll(publisher);
  expect(await machines.find(publisher)).toEqual(idsWithout());
  const { text, reached, copy } = publisher.copy.describe();
  const [begun, mayEnd] = [new Signal(), new Signal()];
  const slow: ObjectStore = {
    ...machines.store,
    async put(key, bytes) {
      begun.raise();
      await mayEnd.raised;
      return machines.store.put(key, bytes);
    },
  };
  const publishing = publishCopy(
    { sql: machines.sql, store: slow },
    {
      folder: publisher.folder,
      text: must(text, 'a copy'),
      wipedTo: must(reached, 'a state'),
      replaces: null,
    },
  );
  await begun.raised;
  await machines.touch(4);
  await machines.roll(publisher);
  mayEnd.raise();
  await publishing;
  const other = await machines.open();
  expect(await other.keep()).toBe(true);
  const { delta } = must(copy, 'a copy');
  expect(other.copy.describe()).toMatchObject({
    changed: 1,
    copy: { delta: { number: must(delta, 'a delta').number } },
  });
  expect(await machines.find(other)).toEqual(idsWithout());
});

describe('an object that is', () => {
  const harms: [string, (key: string, bytes: Buffer) => Promise<unknown>][] = [
    ['missing', (key) => machines.store.delete(key)],
    [
      'damaged',
      (key, bytes) => machines.store.put(key, [bytes.fill(bytes[9] === 1 ? 2 : 1, 9, 10)]),
    ],
    ['damaged: changed', (key, bytes) => machines.store.put(key, [bytes.subarray(0, -1)])],
    ['damaged: cut', (key, bytes) => machines.store.put(key, [bytes, Buffer.from('x')])],
  ];

  test.each(harms)('%s ends the published copy, and leaves no files', async (how, harm) => {
    const publisher = await machines.openPublisher();
    const [key = ''] = await machines.keysWith(7);
    await harm(key, await machines.store.get(key, { from: 0, to: 2 ** 24 }));
    const other = await machines.open();
    expect(await other.keep()).toBe(false);
    expect(other.said).toEqual([
      expect.stringContaining(`the object ${key} of the published copy is ${how.split(':')[0]}`),
    ]);
    expect(await readdir(other.folder)).toEqual([]);
    expect(await readPublished(machines.sql)).toBeNull();
    // Postgres answers, and the machine may build its own.
    expect(await machines.find(other)).toBeNull();
    other.copy.countRows(1000);
    expect(await other.keep()).toBe(true);
    // The next one is whole.
    expect(await publisher.share()).toBe(true);
    const third = await machines.open();
    expect(await third.keep()).toBe(true);
    expect(await machines.find(third)).toEqual(idsWithout());
    const { pieces } = await readNamed(machines.sql);
    expect(await machines.publishedKeys()).toHaveLength(new Set(pieces).size);
  });
});

test('a publication counts although objects that no longer do cannot be listed', async () => {
  const publisher = await machines.openPublisher();
  await machines.touch(3);
  await machines.roll(publisher);
  await machines.age(60);
  let puts = 0;
  machines.server.faults.answer = ({ method }) => {
    if (method === 'PUT') puts++;
    return method === 'GET' && puts > 0 ? 403 : undefined;
  };
  await publisher.share();
  delete machines.server.faults.answer;
  const { number } = must(await readPublished(machines.sql), 'a published copy');
  expect(number).toBe((await readGraphState(machines.sql)).number);
  const other = await machines.open();
  expect(await other.keep()).toBe(true);
  expect(await machines.find(other)).toEqual(idsWithout());
});

test('a copy that was fetched and dropped is not fetched again, but published anew', async () => {
  await machines.openPublisher();
  const { copy: localCopy, folder } = await machines.open();
  const log = { warn: () => {}, info: () => {} } as unknown as Log;
  const own = { sql: machines.sql, store: machines.store, localCopy, log };
  const keep = openKeeper(own, { mayBuild: true, mayFetch: true }, { recordsMin: 10 });
  expect(await keep()).toBe(true);
  await dropCopies(folder);
  expect(await keep()).toBe(false);
  expect(await readPublished(machines.sql)).toBeNull();
});

test('a copy of another version is replaced after an hour', async () => {
  const publisher = await machines.openPublisher();
  await machines.sql`update published_copies set manifest = 'of another version'`;
  const other = await machines.open();
  expect(await other.keep()).toBe(false);
  expect(other.said).toEqual([expect.stringContaining('cannot be fetched')]);
  expect(await publisher.share()).toBe(false);
  await machines.age(60);
  expect(await publisher.share()).toBe(true);
});

test('a publication and a fetch, also one that ends the published copy, need one connection', async () => {
  const sql = connect({ url: machines.url, connections: 1 });
  const { folder } = await machines.openBuilder();
  const text = must(await readManifestText(folder), 'a copy');
  const { number: wipedTo } = await readGraphState(sql);
  const context = { sql, store: machines.store };
  await publishCopy(context, { folder, text, wipedTo, replaces: null });
  const fetch = async () => {
    const { folder: to } = await machines.open();
    return fetchCopy(context, must(await readPublished(sql), 'a published copy'), { folder: to });
  };
  expect(await fetch()).toMatchObject({ people: { count: 50 } });
  await machines.store.delete((await machines.keysWith(7))[0] ?? '');
  await expect(fetch()).rejects.toThrow('is missing');
  expect(await readPublished(sql)).toBeNull();
  await sql.end();
});

test('a fetch onto a full disk, or from a storage that does not respond, is said in one line, and a build is tried', async () => {
  await machines.openPublisher();
  const full = await machines.open();
  const options = { freeBytes: async () => 1024 ** 3 + 1000 };
  expect(await full.keep(options)).toBe(false);
  expect(full.said).toEqual([
    expect.stringContaining('cannot be fetched, Postgres answers: Less than 1 GiB'),
  ]);
  expect(await readdir(full.folder)).toEqual([]);
  machines.server.faults.answer = ({ method }) => (method === 'GET' ? 403 : undefined);
  const away = await machines.open();
  away.copy.countRows(1000);
  expect(await away.keep()).toBe(true);
  expect(away.said).toEqual([
    expect.stringContaining('cannot be fetched, Postgres answers: The object store'),
  ]);
  expect(await machines.find(away)).toEqual(idsWithout());
  expect(await readPublished(machines.sql)).not.toBeNull();
});

test('what a killed fetch left is deleted, and the copy fetched again', async () => {
  const { copy } = await machines.openPublisher();
  const other = await machines.open();
  const half = path.join(other.folder, must(copy.describe().copy, 'a copy').folder);
  await mkdir(half);
  await writeFile(path.join(half, 'people.blocks'), 'half');
  expect(await other.keep()).toBe(true);
  expect(await readdir(other.folder)).toHaveLength(2);
  expect(await machines.find(other)).toEqual(idsWithout());
});

test('a fetch ends with its process, without files, and so does a publication', async () => {
  const publisher = await machines.openBuilder();
  expect(await publisher.share({ signal: AbortSignal.abort() })).toBe(false);
  expect([await machines.publishedKeys(), await readNamed(machines.sql)]).toEqual([
    [],
    { pieces: [], written: [] },
  ]);
  expect(await publisher.share()).toBe(true);
  const other = await machines.open();
  expect(await other.keep({ signal: AbortSignal.abort() })).toBe(false);
  expect(await readdir(other.folder)).toEqual([]);
  expect([...publisher.said, ...other.said]).toEqual([]);
});
