/** Statements that take records of sources out of a person or company, and let them be joined again. */
import type { Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { FIRST_ID } from './identify.sql.ts';

export interface StoredSplit {
  id: number;
  entity: number;
  fromId: number;
  numbers: number[];
  madeAt: Date;
  undoneAt: Date | null;
}

/** Returns the numbers of the records of which a person or company is made. */
export async function listRecordsOf(sql: Sql, entity: number, id: number): Promise<number[]> {
  const rows = await sql<{ number: number }[]>`
    select number from source_records where id = ${id} and entity = ${entity} and record is not null
    order by number`;
  return rows.map(({ number }) => number);
}

export async function insertSplit(
  tx: Sql,
  split: Pick<StoredSplit, 'entity' | 'fromId' | 'numbers'>,
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into source_splits (entity, from_id, numbers)
    values (${split.entity}, ${split.fromId}, ${split.numbers}::bigint[]) returning id`;
  return must(row, 'split').id;
}

/** Returns splits before an id, the latest first. */
export async function listSplits(
  sql: Sql,
  limit: number,
  before: number | null,
): Promise<StoredSplit[]> {
  return sql<StoredSplit[]>`
    select id, entity, from_id, numbers, made_at, undone_at from source_splits
    ${before === null ? sql`` : sql`where id < ${before}`} order by id desc limit ${limit}`;
}

export async function findSplit(sql: Sql, id: number): Promise<StoredSplit | undefined> {
  const [row] = await sql<StoredSplit[]>`
    select id, entity, from_id, numbers, made_at, undone_at from source_splits where id = ${id}`;
  return row;
}

export async function markUndone(tx: Sql, id: number): Promise<void> {
  await tx`update source_splits set undone_at = now() where id = ${id} and undone_at is null`;
}

/** Gives these records the latest split that names them, and lists them and all of their people or companies in `touched`. */
export async function applySplits(tx: Sql, numbers: readonly number[]): Promise<void> {
  const given = tx`${[...numbers]}::bigint[]`;
  await tx`
    update source_records r set apart = coalesce((
      select max(s.id) from source_splits s where s.undone_at is null and r.number = any(s.numbers)), 0)
    where r.number = any(${given})`;
  await tx`
    insert into touched
    select o.number, o.entity, o.id from source_records r
    join source_records o on o.id = r.id and o.entity = r.entity
    where r.number = any(${given})`;
}

/** Returns the present ids of these records, each once. */
export async function listIdsOf(sql: Sql, numbers: readonly number[]): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select distinct id from source_records
    where number = any(${[...numbers]}::bigint[]) and record is not null order by id`;
  return rows.map(({ id }) => id);
}

/** Returns the number of the first opt-out under an id that one of these records had alone; null where there is none. */
export async function readFirstOptOut(tx: Sql, numbers: readonly number[]): Promise<number | null> {
  const [row] = await tx<{ number: number | null }[]>`
    select min(s.number) as number from source_records r
    join suppressed_persons s on s.person_id = case r.source when 'own' then r.id else ${FIRST_ID}::bigint + r.number end
    where r.number = any(${[...numbers]}::bigint[])`;
  return row?.number ?? null;
}
