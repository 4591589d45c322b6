import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { expect, test, vi } from 'vitest';
import { Signal } from '../../../tests/support/signal.ts';
import { deleteLeftFiles, withFiles } from './run-files.ts';

const HOUR_MS = 60 * 60 * 1000;
const store = { getStream: (key: string) => Readable.from([Buffer.from(key)]) };
const { signal } = new AbortController();

test('a claim that is lost deletes its own files, not those of the claim after it', async () => {
  const id = uuidv7();
  const run = { id, files: [{ name: 'a.csv', key: 'a', bytes: 1 }] };
  const begun = new Signal();
  const lost = new Signal();
  const first = withFiles(store, run, signal, async () => {
    begun.raise();
    await lost.raised;
  });
  await begun.raised;
  await withFiles(store, run, signal, async ([file = '']) => {
    lost.raise();
    await first;
    expect(await readFile(file, 'utf8')).toBe('a');
  });
});

test('files that a dead worker left are deleted when they are a day old', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'left-'));
  await mkdir(path.join(folder, 'enrich-import-1', '3'), { recursive: true });
  await writeFile(path.join(folder, 'enrich-import-1', '3', 'people.csv'), 'Ada');
  await mkdir(path.join(folder, 'enrich-import-rejects-x'));
  await mkdir(path.join(folder, 'another program'));
  await deleteLeftFiles(folder, Date.now() + 23 * HOUR_MS);
  expect(await readdir(folder)).toHaveLength(3);
  await deleteLeftFiles(folder, Date.now() + 25 * HOUR_MS);
  expect(await readdir(folder)).toEqual(['another program']);
  await rm(folder, { recursive: true });
});

test('nothing stays on the disk when the work has ended', async () => {
  const run = { id: uuidv7(), files: [{ name: 'a.csv', key: 'a', bytes: 1 }] };
  const [file = ''] = await withFiles(store, run, signal, async (files) => files);
  await expect(access(path.join(path.dirname(file), '..'))).rejects.toThrow('ENOENT');
});

test('a folder that another user made for the run is neither used nor deleted', async () => {
  const temporary = await mkdtemp(path.join(tmpdir(), 'shared-'));
  vi.stubEnv('TMPDIR', temporary);
  const uid = vi.spyOn(process, 'getuid').mockReturnValue(4_000_000);
  try {
    const run = { id: uuidv7(), files: [{ name: 'a.csv', key: 'a', bytes: 1 }] };
    const names = [`enrich-import-${run.id}`, `enrich-import-${run.id}-123456`];
    for (const name of names) await mkdir(path.join(temporary, name));
    const [file = ''] = await withFiles(store, run, signal, async (files) => files);
    expect(names.some((name) => file.startsWith(path.join(temporary, name, path.sep)))).toBe(false);
    await deleteLeftFiles(temporary, Date.now() + 25 * HOUR_MS);
    expect((await readdir(temporary)).sort()).toEqual(names);
  } finally {
    uid.mockRestore();
    vi.unstubAllEnvs();
    await rm(temporary, { recursive: true });
  }
});
