import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';

let folder: string;
let cache: string;
let original: PostgresBinaries;

/** Only the layout is imitated: copying does not read the files. */
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'postgres-binaries-'));
  cache = path.join(folder, 'cache');
  const native = path.join(folder, 'native');
  original = { folder: native, initdb: `${native}/bin/initdb`, postgres: `${native}/bin/postgres` };
  await mkdir(path.join(native, 'bin'), { recursive: true, mode: 0o700 });
  await mkdir(path.join(native, 'lib'), { mode: 0o700 });
  await writeFile(original.postgres, 'server', { mode: 0o700 });
  await writeFile(path.join(native, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 });
  await symlink('libpq.so.5.18', path.join(native, 'lib/libpq.so.5'));
});
afterEach(() => rm(folder, { recursive: true }));

it('makes a copy that all users can read and run, and only the owner can write', async () => {
  const copy = await copyPostgresBinaries(original, cache);
  expect(await readFile(copy.postgres, 'utf8')).toBe('server');
  expect(await readlink(path.join(copy.folder, 'lib/libpq.so.5'))).toBe('libpq.so.5.18');
  const modes = [copy.folder, copy.postgres, path.join(copy.folder, 'lib/libpq.so.5.18')];
  const found = await Promise.all(modes.map(async (file) => (await stat(file)).mode & 0o777));
  expect(found).toEqual([0o755, 0o755, 0o644]);
});

it('keeps an intact copy, and replaces a changed one', async () => {
  const first = await copyPostgresBinaries(original, cache);
  const { ino } = await stat(first.postgres);
  expect((await stat((await copyPostgresBinaries(original, cache)).postgres)).ino).toBe(ino);
  await writeFile(first.postgres, 'changed');
  const again = await copyPostgresBinaries(original, cache);
  expect(again.folder).toBe(first.folder);
  expect(await readFile(again.postgres, 'utf8')).toBe('server');
});

it('makes a separate copy for each version', async () => {
  const first = await copyPostgresBinaries(original, cache);
  await writeFile(original.postgres, 'newer server');
  const second = await copyPostgresBinaries(original, cache);
  expect(second.folder).not.toBe(first.folder);
  expect(await readFile(second.postgres, 'utf8')).toBe('newer server');
});

it('survives several starts that copy concurrently', async () => {
  const copies = await Promise.all([1, 2, 3, 4].map(() => copyPostgresBinaries(original, cache)));
  for (const copy of copies) expect(await readFile(copy.postgres, 'utf8')).toBe('server');
});

it('refuses a cache folder that others may write', async () => {
  await mkdir(cache);
  await chmod(cache, 0o777);
  await expect(copyPostgresBinaries(original, cache)).rejects.toMatchObject({
    code: 'embedded_postgres_forbidden',
  });
});
