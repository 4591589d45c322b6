import type { Sql } from '../db/client.ts';

/**
 * Records an opt-out and suppresses everybody who holds the identifier, in one statement. Returns how
 * many people hold it.
 */
export async function insertSuppression(
  sql: Sql,
  input: { hash: Buffer; value: string; codes: number[] },
): Promise<number> {
  const [row] = await sql<{ persons: number }[]>`
    with hash as (
      insert into suppressed_identifiers (value_sha256) values (${input.hash})
      on conflict do nothing),
    holder as (
      select distinct person_id from person_identifiers
      where value = ${input.value} and kind = any(${input.codes}::smallint[])),
    marked as (
      insert into suppressed_persons (person_id) select person_id from holder
      on conflict do nothing)
    select count(*)::int as persons from holder`;
  return row?.persons ?? 0;
}

/** Those of these people who opted out. */
export async function findSuppressed(sql: Sql, personIds: readonly number[]): Promise<number[]> {
  const rows = await sql<{ personId: number }[]>`
    select person_id from suppressed_persons
    where person_id = any(${[...personIds]}::bigint[])`;
  return rows.map((row) => row.personId);
}
