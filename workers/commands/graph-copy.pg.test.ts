/** `graph copy`: build, status and drop, as JSON. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { deletePersons } from '../../src/core/graph/delete-persons.ts';
import { readGraphState } from '../../src/core/graph-copy/copy.sql.ts';
import { copyFolder, readManifestText } from '../../src/core/graph-copy/manifest.ts';
import { publishCopy } from '../../src/core/graph-copy/publish-copy.ts';
import { must } from '../../src/core/lib/assert.ts';
import { openS3Store } from '../../src/core/storage/s3-store.ts';
import {
  INSTALLATION_ID_LENGTH,
  INSTALLATION_KEY,
  markStore,
} from '../../src/jobs/batch/own-store.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { startS3Server } from '../../tests/support/s3-server.ts';
import { crowd } from '../../tests/support/small-graph.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, { persons: crowd(3) });
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-copies-'));
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs `graph copy WORD`; returns what it printed as JSON, and the exit code. */
async function run(word: string): Promise<{ exitCode: unknown; printed: unknown }> {
  process.exitCode = 0;
  const printed = JSON.parse(await printedBy(['graph', 'copy', word, '--json']));
  return { exitCode: process.exitCode, printed };
}

test('a copy is built, described and dropped', async () => {
  const none = {
    copy: null,
    changed: null,
    problem: 'there is no copy',
    published: null,
    processes: [],
  };
  expect(await run('status')).toEqual({ exitCode: 1, printed: none });
  const counts = { count: 3, identifiers: 3 };
  const built = await run('build');
  expect(built).toMatchObject({
    exitCode: 0,
    printed: { people: counts, companies: { count: 0 } },
  });
  expect(await run('status')).toMatchObject({
    exitCode: 0,
    printed: { copy: { people: counts }, changed: 0, problem: null },
  });
  expect(await run('drop')).toEqual({ exitCode: 0, printed: { dropped: true } });
  expect(await readdir(folder)).toEqual([]);
  expect(await run('status')).toEqual({ exitCode: 1, printed: none });
});

test('a copy that is published is described, and dropped with that of this machine, or neither is', async () => {
  const server = await startS3Server();
  for (const [name, value] of Object.entries(server.environment)) vi.stubEnv(name, value);
  const { sql } = database;
  const store = openS3Store(server.config);
  await markStore({ sql, store });
  expect(await run('build')).toMatchObject({ exitCode: 0 });
  const copies = copyFolder(folder);
  const text = must(await readManifestText(copies), 'a copy');
  const { number } = await readGraphState(sql);
  await publishCopy({ sql, store }, { folder: copies, text, wipedTo: number, replaces: null });
  const published = { number, reachable: true, withdrawn: false };
  expect(await run('status')).toMatchObject({ exitCode: 0, printed: { published } });
  await deletePersons(sql, [1001]);
  expect(await run('status')).toMatchObject({
    printed: { published: { number, withdrawn: true } },
  });
  const mark = await store.get(INSTALLATION_KEY, { from: 0, to: INSTALLATION_ID_LENGTH });
  await store.put(INSTALLATION_KEY, [Buffer.from(randomUUID())]);
  await expect(run('drop')).rejects.toMatchObject({ code: 'another_store' });
  expect(await readManifestText(copies)).not.toBeNull();
  await store.put(INSTALLATION_KEY, [mark]);
  expect(await run('drop')).toEqual({ exitCode: 0, printed: { dropped: true } });
  expect(await run('status')).toMatchObject({ exitCode: 1, printed: { published: null } });
  expect(await server.keys()).toEqual(['installation']);
  await server.close();
});
