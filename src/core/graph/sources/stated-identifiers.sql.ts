/** Statements that read the records that sources have, or had, of people. */
import type { Sql } from '../../db/client.ts';
import { entityCodes } from '../source-entities.ts';

/** A record as it is, or as it was before an import; null for one that ended. */
export interface StatedRecord {
  id: number;
  source: string;
  key: string;
  record: string | null;
}

/** Query of `StatedRecord`: all states of the records of people that meet a condition on `r`. */
function statesOf(sql: Sql, condition: ReturnType<Sql>): ReturnType<Sql> {
  const isMeant: ReturnType<Sql> = sql`r.entity = ${entityCodes.person} and ${condition}`;
  return sql`
    select r.id, r.source, r.key, r.record from source_records r where ${isMeant}
    union all
    select r.id, r.source, r.key, v.before_record
    from source_record_versions v join source_records r using (number)
    where v.before_record is not null and ${isMeant}`;
}

/** Returns the records of these people as they are, and as they were before each import that changed or ended them. */
export async function listStatedRecords(sql: Sql, ids: readonly number[]): Promise<StatedRecord[]> {
  return sql<StatedRecord[]>`
    select * from (${statesOf(sql, sql`r.id = any(${[...ids]}::bigint[])`)}) s`;
}

/** Returns these records, by their numbers, as they are, and as they were. */
export async function listStatesOf(sql: Sql, numbers: readonly number[]): Promise<StatedRecord[]> {
  return sql<StatedRecord[]>`
    select * from (${statesOf(sql, sql`r.number = any(${[...numbers]}::bigint[])`)}) s`;
}

/** Returns the records of people who are not in the graph whose text or key contains this value. Reads all such records. */
export async function listMentions(sql: Sql, value: string): Promise<StatedRecord[]> {
  const isAbsent: ReturnType<Sql> = sql`not exists (select from persons p where p.id = r.id)`;
  return sql<StatedRecord[]>`
    select * from (${statesOf(sql, isAbsent)}) s
    where strpos(lower(concat_ws(' ', s.key, s.record)), lower(${value})) > 0`;
}
