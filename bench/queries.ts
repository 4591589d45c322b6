/** Statements of the measurements that are nobody else's. */
import type { Sql } from '../src/core/db/client.ts';

/** Settings that could make a figure unfair, as the server runs with them. */
const told = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_level',
  'shared_buffers',
  'work_mem',
  'jit',
  'max_parallel_workers_per_gather',
];

/** The server's version and the settings that a reader of the figures should know. */
export async function readServer(
  sql: Sql,
): Promise<{ version: string; settings: Record<string, string> }> {
  const rows = await sql<{ name: string; value: string }[]>`
    select name, current_setting(name) as value from pg_settings
    where name = any(${[...told, 'server_version']}) order by name`;
  const values = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const { server_version: version = 'unknown', ...settings } = values;
  return { version, settings };
}

/** How many people the graph holds. */
export async function countPersons(sql: Sql): Promise<number> {
  const [row] = await sql<{ persons: number }[]>`select count(*)::int as persons from persons`;
  return row?.persons ?? 0;
}

/**
 * Brings freshly filled tables into the state that they have in use, so that no measurement pays for
 * the first visit of a page.
 */
export async function settleGraph(sql: Sql): Promise<void> {
  await sql`vacuum (analyze) persons, person_identifiers, person_records, companies,
    company_identifiers, company_records`;
  await sql`checkpoint`;
}

/**
 * Throws away everything but the graphs: accounts, batches, the queue. A measurement then starts from
 * the same place each time, and from the tables of this version.
 */
export async function forgetService(sql: Sql): Promise<void> {
  const [found] = await sql<{ table: string | null }[]>`
    select to_regclass('public.migrations')::text as table`;
  if (!found?.table) return;
  await sql`create schema kept`;
  await sql`alter table public.migrations set schema kept`;
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await sql`alter table kept.migrations set schema public`;
  await sql`delete from public.migrations where name like 'public/%'`;
  await sql`drop schema kept`;
  await sql`drop schema if exists bullmq cascade`;
}
