import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { packageRoot } from '../lib/package-root.ts';
import {
  assertSchemaCurrent,
  assertSchemaUsable,
  assertServiceDatabase,
  listPending,
  migrate,
} from './migrate.ts';

let database: TestDatabase;
let applied: { name: string; sha256: string }[];
beforeAll(async () => {
  database = await createTestDatabase();
  applied = await database.sql`select name, sha256 from public.migrations`;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.sql`delete from public.migrations`;
  await database.sql`insert into public.migrations ${database.sql(applied)}`;
});

async function storedHash(name: string): Promise<string | null> {
  const [row] = await database.sql<{ sha256: string | null }[]>`
    select sha256 from public.migrations where name = ${name}`;
  return row?.sha256 ?? null;
}

describe('the hash of a migration', () => {
  it('is the hash of its file, for every migration and in both graphs', async () => {
    const rows = await database.sql<{ name: string; sha256: string }[]>`
      select name, sha256 from public.migrations`;
    const [graph, app] = await Promise.all(
      ['graph', 'app'].map((folder) => readdir(path.join(packageRoot, 'infra/migrations', folder))),
    );
    const named = (schema: string, files: string[] = []) =>
      files.map((file) => `${schema}/${file}`);
    const all = [...named('graph', graph), ...named('graph_test', graph), ...named('public', app)];
    expect(rows.map(({ name }) => name).sort()).toEqual(all.sort());
    expect(all).toContain('graph_test/0001-baseline.sql');
    for (const { name, sha256 } of rows) {
      const [schema, file = ''] = name.split('/');
      const folder = schema === 'public' ? 'app' : 'graph';
      const text = await readFile(path.join(packageRoot, 'infra/migrations', folder, file));
      expect(sha256, name).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  it.each(['public/0001-baseline.sql', 'graph_test/0001-baseline.sql'])(
    'refuses %s when its file is no longer the one that was applied, and changes nothing',
    async (name) => {
      await database.sql`
      update public.migrations set sha256 = ${'0'.repeat(64)} where name = ${name}`;
      const refusal = { code: 'migration_changed', message: expect.stringContaining(`: ${name}.`) };
      await expect(migrate(database.sql)).rejects.toMatchObject(refusal);
      await expect(assertSchemaCurrent(database.sql)).rejects.toMatchObject(refusal);
      expect(await storedHash(name)).toBe('0'.repeat(64));
      // A running process goes on.
      await assertSchemaUsable(database.sql);
    },
  );
});

it('a database that lacks a migration is refused with what to do', async () => {
  await database.sql`delete from public.migrations where name = 'public/0001-baseline.sql'`;
  await expect(assertSchemaCurrent(database.sql)).rejects.toMatchObject({ code: 'schema_older' });
  await expect(assertSchemaUsable(database.sql)).rejects.toMatchObject({ code: 'schema_older' });
});

it('a database of a newer version is refused with the names of the unknown migrations', async () => {
  await database.sql`insert into public.migrations (name, sha256) values ('public/9999-later.sql', '')`;
  const refusal = { code: 'schema_newer', message: expect.stringContaining('9999-later.sql') };
  await expect(migrate(database.sql)).rejects.toMatchObject(refusal);
  await expect(assertSchemaCurrent(database.sql)).rejects.toMatchObject(refusal);
});

it('a database with the tables of something else is refused with their names, and stays as it is', async () => {
  const other = await createTestDatabase();
  await other.sql`drop schema public cascade`;
  await other.sql`create schema public`;
  await other.sql`create table public.orders (id int)`;
  const checks = [assertSchemaCurrent, assertSchemaUsable, assertServiceDatabase];
  for (const work of [listPending, migrate, ...checks]) {
    await expect(work(other.sql)).rejects.toMatchObject({
      code: 'foreign_database',
      message: expect.stringMatching(/\(orders\).*DATABASE_URL/),
    });
  }
  const tables = await other.sql`select tablename from pg_tables where schemaname = 'public'`;
  expect(tables).toEqual([{ tablename: 'orders' }]);
  await other.sql`drop table public.orders`;
  for (const check of checks) {
    await expect(check(other.sql)).rejects.toMatchObject({
      code: 'schema_older',
      message: expect.stringMatching(/ is empty\. Correct DATABASE_URL.*enrich migrate/),
    });
  }
  await other.drop();
});
