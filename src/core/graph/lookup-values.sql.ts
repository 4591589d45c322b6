/**
 * Maintains the values of the lookups: names follow the reference tables, counts follow the people. Every
 * statement runs in the transaction of the change that it follows. Reading is in `core/lookups`.
 */
import type { Sql } from '../db/client.ts';
import { lookupCodes, lookupIdsFrom } from './lookup-ids.ts';

/**
 * Moves the people of a staged import batch from their current values to their new ones. Call it after the stage
 * was compared and before it is written: both sides are read.
 */
export async function recountStagedPeople(tx: Sql): Promise<void> {
  await tx`
    insert into lookup_values as v (kind, id, people)
    select held.kind, held.id, sum(held.step)
    from stage_changes c
    join stage_records s on s.id = c.id
    left join persons p on p.id = c.id
    cross join lateral (values
      (${lookupCodes.jobTitles}::smallint, s.position_id::bigint, 1),
      (${lookupCodes.locations}, s.city_id, 1),
      (${lookupCodes.locations}, nullif(s.region_id, 0) + ${lookupIdsFrom.region}::bigint, 1),
      (${lookupCodes.locations}, nullif(s.country_id, 0) + ${lookupIdsFrom.country}::bigint, 1),
      (${lookupCodes.industries}, s.industry_id, 1),
      (${lookupCodes.jobTitles}, p.position_id, -1),
      (${lookupCodes.locations}, p.city_id, -1),
      (${lookupCodes.locations}, nullif(p.region_id, 0) + ${lookupIdsFrom.region}::bigint, -1),
      (${lookupCodes.locations}, nullif(p.country_id, 0) + ${lookupIdsFrom.country}::bigint, -1),
      (${lookupCodes.industries}, p.industry_id, -1)) held (kind, id, step)
    where (c.is_new or c.is_changed) and held.id <> 0
    group by held.kind, held.id having sum(held.step) <> 0
    on conflict (kind, id) do update set people = v.people + excluded.people`;
}

/** The values `(kind, id)` of the person `p`, for `lateral`. */
const valuesOfPerson = (sql: Sql) => sql`(values
  (${lookupCodes.jobTitles}::smallint, p.position_id::bigint),
  (${lookupCodes.locations}, p.city_id),
  (${lookupCodes.locations}, nullif(p.region_id, 0) + ${lookupIdsFrom.region}::bigint),
  (${lookupCodes.locations}, nullif(p.country_id, 0) + ${lookupIdsFrom.country}::bigint),
  (${lookupCodes.industries}, p.industry_id))`;

/** Counts the people of an import batch that are all new, after they are written. */
export async function countNewPeople(tx: Sql): Promise<void> {
  // One by one: otherwise the planner might read all people to find these.
  await tx`
    insert into lookup_values as v (kind, id, people)
    select held.kind, held.id, count(*)
    from stage_changes c
    cross join lateral (
      select position_id, city_id, region_id, country_id, industry_id from persons where id = c.id offset 0) p
    cross join lateral ${valuesOfPerson(tx)} held (kind, id)
    where held.id <> 0
    group by held.kind, held.id
    on conflict (kind, id) do update set people = v.people + excluded.people`;
}

/** Removes these people from the counts. Call it before they are deleted. */
export async function decrementLookupCounts(tx: Sql, ids: readonly number[]): Promise<void> {
  await tx`
    update lookup_values v set people = v.people - gone.people
    from (
      select held.kind, held.id, count(*) as people
      from persons p
      cross join lateral ${valuesOfPerson(tx)} held (kind, id)
      where p.id = any(${[...ids]}::bigint[])
      group by held.kind, held.id) gone
    where v.kind = gone.kind and v.id = gone.id`;
}

/** Copies the names of these reference rows. */
export async function nameLookups(tx: Sql, kind: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx`select name_lookups(${kind}, ${[...ids]}::bigint[])`;
}

/** Counts the titles that people have in their own words; reads the titles of all people, so once an import. */
export async function refreshLookupTitles(tx: Sql): Promise<void> {
  await tx`select refresh_lookup_titles()`;
}

/** Rebuilds all names and counts, after people were written in bulk. */
export async function rebuildLookups(tx: Sql): Promise<void> {
  await tx`select rebuild_lookups()`;
}
