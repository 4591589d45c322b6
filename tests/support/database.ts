/** A separate migrated database for a test file: a clone of the template, in some 50 ms. */
import { inject } from 'vitest';
import { connect, type Database } from '../../src/core/db/client.ts';
import { TEMPLATE_DATABASE, withDatabase } from './database-names.ts';

export interface TestDatabase {
  url: string;
  sql: Database;
  drop(): Promise<void>;
}

/** Creates one on the server of the run, or on another server with the template; `template` is another one of its databases. */
export async function createTestDatabase(
  serverUrl = inject('serverUrl'),
  template = TEMPLATE_DATABASE,
): Promise<TestDatabase> {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  const admin = connect({ url: serverUrl, connections: 1 });
  await admin`create database ${admin(name)} template ${admin(template)} strategy wal_log`;
  const url = withDatabase(serverUrl, name);
  const sql = connect({ url, connections: 4 });
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 5 });
      await admin`drop database ${admin(name)} with (force)`;
      await admin.end();
    },
  };
}

/** A database with what all tests of a file begin with. */
export interface FilledTemplate {
  /** Creates a copy of it. */
  copy(): Promise<TestDatabase>;
  drop(): Promise<void>;
}

/** Fills a database once; a copy of it takes a fifth of the time of an import. */
export async function createFilledTemplate(
  fill: (sql: Database) => Promise<void>,
): Promise<FilledTemplate> {
  const { url, sql, drop } = await createTestDatabase();
  await fill(sql);
  // A database that someone is connected to cannot be copied.
  await sql.end({ timeout: 5 });
  return { drop, copy: () => createTestDatabase(undefined, new URL(url).pathname.slice(1)) };
}
