/** The locks that migrations take, as Postgres has them, and how `migrate` waits for them. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { packageRoot, readVersion } from '../lib/package-root.ts';
import { connect, type Sql } from './client.ts';
import { assertSchemaCurrent, migrate } from './migrate.ts';
import { planMigrations } from './migration-plan.ts';
import { lockModes, readSteps } from './migration-steps.ts';

let database: TestDatabase;
let busy: number;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-migrations-'));
  await cp(path.join(packageRoot, 'infra', 'migrations'), folder, { recursive: true });
  await database.sql`create table public.other (id int primary key)`;
  await database.sql`
    create table public.busy (id int primary key, n int not null default 0, o int, constraint old check (n >= 0))`;
  const [table] = await database.sql<[{ oid: number }]>`select 'busy'::regclass::oid as oid`;
  busy = table.oid;
  await database.sql`create unique index busy_n on busy (n)`;
  await database.sql`alter table busy add constraint late check (o > 0) not valid`;
  await database.sql`create function public.nothing() returns trigger language plpgsql as 'begin return new; end'`;
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

class Undone extends Error {}

/** The strongest lock on the table while the statement's transaction is open. */
async function lockTakenBy(statement: string): Promise<string | undefined> {
  let modes: string[] = [];
  await database.sql
    .begin(async (tx) => {
      await tx.unsafe(statement);
      const rows = await (tx as unknown as Sql)<{ mode: string }[]>`
        select mode from pg_locks where pid = pg_backend_pid() and relation = ${busy}::oid`;
      modes = rows.map(({ mode }) =>
        mode
          .replace(/Lock$/, '')
          .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
          .toUpperCase(),
      );
      throw new Undone();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  return lockModes.findLast((mode) => modes.includes(mode));
}

describe('the lock that is read from a statement is the one that Postgres takes', () => {
  test.each([
    'alter table busy add column a int default 1',
    'alter table busy add column a uuid default gen_random_uuid()',
    'alter table busy add constraint a check (n > 0) not valid',
    'alter table busy add constraint a check (n >= 0)',
    'alter table busy add constraint a foreign key (o) references other not valid',
    'alter table busy add constraint a unique using index busy_n',
    'alter table busy validate constraint late',
    'alter table busy drop constraint old',
    'alter table busy drop column o',
    'alter table busy rename column o to p',
    'alter table busy alter column o type bigint',
    'alter table busy alter column o set not null',
    'alter table busy alter column n set default 2',
    'alter table busy alter column n set statistics 500',
    'alter table busy set (fillfactor = 70)',
    'create index a on busy (o)',
    'create trigger a before insert on busy for each row execute function nothing()',
    'update busy set o = 1',
    'insert into busy values (1)',
    'drop table busy',
  ])('%s', async (statement) => {
    const [step] = readSteps(statement);
    expect(step).toMatchObject({ table: 'busy', lock: await lockTakenBy(statement) });
  });
});

describe('a migration', () => {
  test('is planned with its locks and the sizes of its tables, and nothing is done', async () => {
    await database.sql`create table public.big as select g as id from generate_series(1, 100000) g`;
    await database.sql`analyze public.big`;
    const text = `-- Runs with 0.1.0
      alter table big add column n int;
      create index big_id on big (id);
      create table small (id int);`;
    await write('0002-plan.sql', text);
    const [planned, ...others] = await planMigrations(database.sql, folder);
    await rm(path.join(folder, 'app', '0002-plan.sql'));
    expect(others).toEqual([]);
    expect(planned).toMatchObject({
      name: 'public/0002-plan.sql',
      runs_with: '0.1.0',
      in_transaction: true,
      steps: [
        {
          table: 'big',
          lock: 'ACCESS EXCLUSIVE',
          waits: 'readers and writers',
          rows: 100_000,
          seconds: 0,
        },
        {
          table: 'big',
          lock: 'SHARE',
          waits: 'writers',
          problem: expect.stringContaining('concurrently'),
        },
        { table: null, lock: null, waits: 'none', bytes: 0 },
      ],
    });
    const [, index] = planned?.steps ?? [];
    // 3.6 MB, at 180 MB a second.
    expect(index?.bytes).toBeGreaterThan(3_000_000);
    expect(index?.seconds).toBe(0.1);
    const [made] = await database.sql`select to_regclass('public.small') as small`;
    expect(made).toEqual({ small: null });
  });

  const write = (name: string, text: string) => writeFile(path.join(folder, 'app', name), text);

  test('that does not get its lock within a second lets others pass, and is applied when it does', async () => {
    await write(
      '0002-column.sql',
      '-- Runs with 0.1.0\nalter table busy add column late_column int;',
    );
    const migrating = connect({ url: database.url, connections: 1 });
    const isWaiting = async () => {
      const rows = await database.sql`
        select from pg_locks where relation = 'busy'::regclass and not granted`;
      return rows.length > 0;
    };
    let done: Promise<string[]> | undefined;
    await database.sql.begin(async (holder) => {
      await holder`select from busy`;
      done = migrate(migrating, folder);
      while (!(await isWaiting())) await new Promise((resolve) => setImmediate(resolve));
      // Whoever comes now waits behind the migration, until that gives up for a while.
      await database.sql`select from busy`;
      while (await isWaiting()) await new Promise((resolve) => setImmediate(resolve));
    });
    expect(await done).toEqual(['public/0002-column.sql']);
    await migrating.end();
  });

  test('that builds an index outside a transaction leaves no other setting behind', async () => {
    const text =
      '-- Outside a transaction\n-- Runs with 0.1.0\ncreate index concurrently if not exists busy_o on busy (o);';
    await write('0003-index.sql', text);
    const migrating = connect({ url: database.url, connections: 1 });
    const settings = () =>
      migrating`select current_setting('search_path') as path, current_setting('lock_timeout') as timeout`;
    const before = await settings();
    // Several processes may migrate at once; one of them builds it.
    const others = [1, 2].map(() => connect({ url: database.url, connections: 1 }));
    const done = await Promise.all([migrating, ...others].map((sql) => migrate(sql, folder)));
    expect(done.flat()).toEqual(['public/0003-index.sql']);
    expect(await settings()).toEqual(before);
    // As after a build that failed.
    await database.sql`update pg_index set indisvalid = false where indexrelid = 'busy_o'::regclass`;
    await database.sql`delete from migrations where name = 'public/0003-index.sql'`;
    await migrate(migrating, folder);
    await Promise.all([migrating, ...others].map((sql) => sql.end()));
    const rows =
      await database.sql`select indisvalid from pg_index where indexrelid = 'busy_o'::regclass`;
    expect(rows).toEqual([{ indisvalid: true }]);
  });

  test('of a newer version lets processes of the version start that it runs with, and of no older one', async () => {
    // Of these two, this version has no files.
    await assertSchemaCurrent(database.sql);
    expect(await migrate(database.sql)).toEqual([]);
    await write('0004-next.sql', '-- Runs with 999.0.0\ncreate table next_version (id int);');
    await migrate(database.sql, folder);
    const refusal = {
      code: 'schema_newer',
      message: expect.stringMatching(/\(public\/0004-next.sql\)/),
    };
    await expect(assertSchemaCurrent(database.sql)).rejects.toMatchObject(refusal);
    await database.sql`update migrations set runs_with = ${readVersion()} where name like '%0004%'`;
    await assertSchemaCurrent(database.sql);
    await database.sql`update migrations set runs_with = null where name like '%0004%'`;
    await expect(assertSchemaCurrent(database.sql)).rejects.toMatchObject(refusal);
  });
});
