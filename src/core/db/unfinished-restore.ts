/**
 * The mark of a database that a restore fills: no other start is accepted until the restore is done. It is a schema, which
 * can be made before any migration; its comment is a random id, by which the restore knows the store that it began to fill.
 */
import { type AppError, conflict } from '../lib/errors.ts';
import type { Sql } from './client.ts';

/** Returns the id of the restore that has not finished; null without one. */
export async function readUnfinishedRestore(sql: Sql): Promise<string | null> {
  const [found] = await sql<{ id: string }[]>`
    select obj_description(oid, 'pg_namespace') as id from pg_namespace where nspname = 'restore_unfinished'`;
  return found?.id ?? null;
}

/** Marks the database, in the caller's transaction. */
export async function markUnfinishedRestore(tx: Sql): Promise<void> {
  await tx`create schema restore_unfinished`;
  await tx`do $$ begin
    execute format('comment on schema restore_unfinished is %L', gen_random_uuid());
  end $$`;
}

/** Removes the mark of a restore that is done. */
export async function unmarkUnfinishedRestore(sql: Sql): Promise<void> {
  await sql`drop schema if exists restore_unfinished`;
}

/** Throws `AppError` 409 `restore_unfinished` for a database whose restore did not end. */
export async function refuseUnfinishedRestore(sql: Sql): Promise<void> {
  if ((await readUnfinishedRestore(sql)) === null) return;
  const [row] = await sql<{ name: string }[]>`select current_database() as name`;
  throw unfinished(row?.name ?? '');
}

function unfinished(database: string): AppError {
  return conflict(
    'restore_unfinished',
    `A restore into the database ${database} has not finished. Unless it is still running, repeat it, or restore into ` +
      'another empty database (DATABASE_URL).',
  );
}
