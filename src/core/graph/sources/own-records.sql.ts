/** Statements that write records with ids of one's own among those of sources. */
import type { Sql } from '../../db/client.ts';
import { entityCodes, factCodes } from '../source-entities.ts';

/** A record with an id of one's own, for `source_records`. */
export interface OwnRecord {
  id: number;
  record: string;
  keys: readonly string[];
  asOf: string;
}

/** An expression: what decides with which records a company is joined, who refers to it, and which industry these people have. */
function referred(sql: Sql, record: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(
    select r from json_to_record(${record}::json) as r (name text, domain text, professional_network text,
      "registryNumber" text, "registryCountry" text, industry text, "industryId" text, industries text, "sicCodes" text))`;
}

/**
 * Adds or replaces records with ids of one's own. Those that are new or changed are added to `touched`; so are those of which
 * other records are a part, because the import has written their own values over the built ones. Of companies that are as before
 * to those who refer to them, only the company is built again.
 */
export async function writeOwnRecords(
  tx: Sql,
  entity: number,
  records: readonly OwnRecord[],
): Promise<void> {
  const rows = JSON.stringify(records);
  const parts = entity === entityCodes.company ? [entity, ...factCodes] : [entity];
  await tx`
    with given as (
      select (g ->> 'id')::bigint as id, g ->> 'record' as record, (g ->> 'asOf')::date as as_of,
        ${entity}::int || ':' || (g ->> 'id') as key
      from json_array_elements(${rows}::text::json) g),
    stored as materialized (
      select r.key, r.hash, r.as_of, r.record
      from given g join source_records r on r.source = 'own' and r.key = g.key),
    written as (
      insert into source_records as r (source, key, entity, id, import_id, as_of, hash, record)
      select 'own', g.key, ${entity}, g.id, 0, g.as_of, decode(md5(g.record), 'hex'), g.record from given g
      on conflict (source, key) do update
        set record = excluded.record, hash = excluded.hash, as_of = excluded.as_of
      returning number, id, key, hash, as_of, record),
    changed as materialized (
      select w.number, w.id, ${entity} = ${entityCodes.company} and s.key is not null and case when w.hash = s.hash then true
        else ${referred(tx, tx`w.record`)} is not distinct from ${referred(tx, tx`s.record`)} end as is_as_before
      from written w left join stored s using (key)
      where w.hash is distinct from s.hash or w.as_of is distinct from s.as_of or exists (
        select from source_records o where o.id = w.id and o.number <> w.number and o.entity in ${tx(parts)})),
    queued as (
      insert into records_to_build (entity, id)
      select ${entity}, id from changed where is_as_before order by id
      on conflict do nothing)
    insert into touched select number, ${entity}, id from changed where not is_as_before`;
  // Records that refer to a value that a company has no longer are built again.
  const keys = tx`
    select r.number, v.value from json_array_elements(${rows}::text::json) g
    join source_records r on r.source = 'own' and r.key = ${entity}::int || ':' || (g ->> 'id')
    left join lateral json_array_elements_text(g -> 'keys') v (value) on true`;
  await tx`
    with keys as materialized (${keys}),
    ended as (
      delete from source_keys k where k.number in (select number from keys)
        and not exists (select from keys n where n.number = k.number and n.value = k.value)
      returning k.value, k.is_reference)
    insert into values_before select distinct value, is_reference from ended`;
  await tx`
    insert into source_keys (value, is_reference, number)
    select distinct value, false, number from (${keys}) k where value is not null
    on conflict do nothing`;
}
