/** `suppress` and `person` on a database: what they print and how they end. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { smallGraph } from '../../tests/support/small-graph.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-person-'));
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', folder);
  await importGraph(database.sql, smallGraph);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  process.exitCode = undefined;
});

const enrich = async (...words: string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await print(...words, '--json'));

const print = (...words: string[]): Promise<string> => printedBy(words);

test('a list of hashes suppresses', async () => {
  const file = path.join(folder, 'hashes.txt');
  const hash = createHash('sha256').update('bob@home.example').digest('hex');
  await writeFile(file, `${hash}\r\n\n`);
  expect(await enrich('suppress', '--sha256-file', file)).toEqual({ hashes: 1, persons: 1 });
  expect(await enrich('suppress', 'eve@home.example')).toEqual({ persons: 1 });
  await expect(enrich('suppress')).rejects.toMatchObject({ code: 'usage' });
});

test('a list of hashes that is something else is refused by its first line that is none', async () => {
  await expect(enrich('suppress', '--sha256-file', '/dev/zero')).rejects.toThrow(
    /^Line 1 of the file has more than 67108864 bytes/,
  );
  const file = path.join(folder, 'other.txt');
  await writeFile(file, `${'0'.repeat(64)}\n\n${Buffer.alloc(200_000).toString('latin1')}`);
  await expect(enrich('suppress', '--sha256-file', file)).rejects.toThrow(
    /^Line 3 is not a SHA-256 hash/,
  );
});

test('an opt-out that reaches no stored record says that it is kept', async () => {
  const words = ['suppress', 'later@home.example'];
  expect(await print(...words)).toBe(
    'No stored record has it. The opt-out is kept: records that arrive later are suppressed too.\n',
  );
  expect(await print('suppress', 'eve@home.example')).toMatch(/^Suppressed 1 stored record\. The/);
});

test('show, erase, and a proof that fails when something is left', async () => {
  expect(await enrich('person', 'show', '--id', '1')).toMatchObject({ people: [{ id: 1 }] });
  const erased = await enrich('person', 'erase', '--identifier', 'ada@home.example');
  expect(erased).toMatchObject({ erased: 1, swept: { objects: 0, bytes: 0 }, left: [] });
  expect(process.exitCode).toBeUndefined();
  await database.sql`update companies set summary = 'bob@acme.example' where id = 12`;
  const kept = await enrich('person', 'erase', '--id', '2');
  expect(kept).toMatchObject({ left: [{ where: 'graph.companies', found: ['email'] }] });
  expect(process.exitCode).toBe(1);
  await expect(enrich('person', 'erase')).rejects.toMatchObject({ code: 'usage' });
});
