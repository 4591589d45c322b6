/**
 * Statements about the records that sources have of people who were erased. What is kept of each is a hash of its key, and that
 * it ended permanently: neither the same file nor an undone import brings the person back.
 */
import type { Sql } from '../db/client.ts';
import { entityCodes } from './source-entities.ts';

/**
 * An expression: the key that a record has once its person is erased; a record that has such a key keeps it. A key may be an
 * address, or a name.
 */
export function erasedKey(sql: Sql, key: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(case when ${key} ~ '^erased:[0-9a-f]{64}( [0-9]+)?$' then ${key}
    else 'erased:' || encode(sha256(convert_to(${key}, 'UTF8')), 'hex') end)`;
}

/** Query of `key`: the keys of a source that `erasedKey` has made. */
export function erasedKeysOf(sql: Sql, source: string | ReturnType<Sql>): ReturnType<Sql> {
  return sql`select key from source_records where source = ${source} and key >= 'erased:' and key < 'erased;'`;
}

/** An expression: the record of an office without the name and the birth of the person, whose `erasedKey` is `person`. */
export function namelessOffice(
  sql: Sql,
  record: ReturnType<Sql>,
  person: ReturnType<Sql>,
): ReturnType<Sql> {
  return sql`(${record}::jsonb - 'birthYear' - 'birthMonth' || jsonb_build_object(
    'name', hidden_officer_name(sha256(convert_to(${person}, 'UTF8'))), '_person', ${person}))::text`;
}

/** An office of a person, by the number of its record. */
export interface Office {
  number: number;
  /** The `erasedKey` of the person. */
  person: string;
}

/** Returns the number of the last import that was written. */
export async function readLastImport(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: number }[]>`select coalesce(max(id), 0) as id from imports`;
  return row?.id ?? 0;
}

/**
 * Returns the offices of these people in present and earlier records of sources, also those that are not built: those linked to
 * the person, and those without a link whose name and birth no one else in the graph has, as `suppress_people` hides them. Only
 * those that imports after `after` wrote. Reads all records of the sources, or of these imports.
 */
export async function listOffices(sql: Sql, ids: readonly number[], after = -1): Promise<Office[]> {
  const given = sql`any(${[...ids]}::bigint[])`;
  // Parsing the records of a register takes minutes. A key with a character that JSON escapes is not a part of the text.
  const isMentioned = (record: ReturnType<Sql>): ReturnType<Sql> => sql`(exists (
      select from person p where p.source = r.source
        and (strpos(${record}, p.key) > 0 or to_json(p.key)::text <> '"' || p.key || '"'))
    or exists (select from named n where strpos(${record}, n.birth_year::text) > 0))`;
  return sql<Office[]>`
    with person as materialized (
      select source, key, ${erasedKey(sql, sql`key`)} as erased from source_records
      where entity = ${entityCodes.person} and id = ${given}),
    named as materialized (
      select fold(p.name || ' ' || p.surname) as name, p.birth_year, extract(month from p.birth_date) as birth_month,
        ${erasedKey(sql, sql`p.id::text`)} as erased
      from persons p
      where p.id = ${given} and p.birth_year <> 0 and not exists (
        select from persons o
        where o.birth_year = p.birth_year and fold(o.name || ' ' || o.surname) = fold(p.name || ' ' || p.surname)
          and o.id <> all(${[...ids]}::bigint[])
          and (p.birth_date is null or o.birth_date is null
            or extract(month from o.birth_date) = extract(month from p.birth_date)))),
    stated as materialized (
      select r.source, r.number, r.record from source_records r
      where r.entity = ${entityCodes.officer} and r.import_id > ${after} and ${isMentioned(sql`r.record`)}
      union all
      select r.source, v.number, v.before_record from source_record_versions v join source_records r using (number)
      where r.entity = ${entityCodes.officer} and v.import_id > ${after} and ${isMentioned(sql`v.before_record`)}),
    parsed as materialized (select source, number, record::json as record from stated)
    select distinct s.number, p.erased as person from parsed s
    join person p on p.source = s.source and p.key = s.record ->> '_person'
    union
    -- Of an office whose import was undone only the key is left, which may contain name and birth. A number may also be a
    -- day of the key.
    select r.number, p.erased from source_records r
    join person p on p.source = r.source and strpos(p.key, ' ') > 0
      and strpos(r.key || '/', '/' || substr(p.key, strpos(p.key, ':') + 1) || '/') > 0
    where r.entity = ${entityCodes.officer} and r.record is null and r.import_id > ${after}
    union
    select s.number, n.erased from parsed s join named n
      on n.birth_year = (s.record ->> 'birthYear')::int
        and n.name = fold(regexp_replace(s.record ->> 'name', '^([^,]+), *(.+)$', '\\2 \\1'))
        and coalesce(n.birth_month = (s.record ->> 'birthMonth')::int, true)
    where not exists (
      select from source_records o where o.source = s.source and o.key = s.record ->> '_person'
        and o.entity = ${entityCodes.person} and o.record is not null)`;
}

/**
 * Returns the offices with a name, in companies that are left to build, of people who were erased while an import, or its
 * undoing, wrote them. Reads all offices of these companies when a source has erased people.
 */
export async function listOfficesToHide(sql: Sql): Promise<Office[]> {
  return sql<Office[]>`
    with erased as materialized (
      select i.source, e.key
      from (select distinct source from imports where state in ('running', 'undoing')) i
      cross join lateral (${erasedKeysOf(sql, sql`i.source`)}) e),
    stated as materialized (
      select r.number, r.source, r.record::json ->> '_person' as person
      from records_to_build q join source_records r on r.id = q.id and r.entity = ${entityCodes.officer}
      where q.entity = ${entityCodes.company} and r.source in (select source from erased))
    select s.number, e.key as person from stated s
    join erased e on e.source = s.source and e.key = ${erasedKey(sql, sql`s.person`)}
    where not starts_with(s.person, 'erased:')`;
}

/** Removes names and births from these offices: role and dates stay. */
export async function hideOffices(tx: Sql, offices: readonly Office[]): Promise<void> {
  const given = tx`unnest(${offices.map(({ number }) => number)}::bigint[],
    ${offices.map(({ person }) => person)}::text[]) given (number, person)`;
  await tx`
    update source_records r set key = ${freeErasedKey(tx)},
      record = ${namelessOffice(tx, tx`r.record`, tx`given.person`)}
    from ${given} where r.number = given.number`;
  await tx`
    update source_record_versions v
    set before_record = ${namelessOffice(tx, tx`v.before_record`, tx`given.person`)}
    from ${given} where v.number = given.number`;
}

/**
 * An expression: the `erasedKey` of a record `r`, with its number where another one has that: who had the address before, or what
 * the office was, may have been erased too.
 */
function freeErasedKey(sql: Sql): ReturnType<Sql> {
  const hashed = erasedKey(sql, sql`r.key`);
  return sql`(${hashed} || case when exists (
      select from source_records o where o.source = r.source and o.key = ${hashed} and o.number <> r.number)
    then ' ' || r.number else '' end)`;
}

/** An expression: the name in a record, as in a `heldKey`; '' for none. */
export function holderIn(sql: Sql, record: ReturnType<Sql>): ReturnType<Sql> {
  return sql`fold(concat_ws(' ', nullif(${record}::json ->> 'name', ''), ${record}::json ->> 'surname'))`;
}

/**
 * Removes what sources said about these people, and keeps only hashes of keys: of their records, of the records that these were a
 * part of, and of each key with the names that its record has or had. Where the key is an address, only the hash with a name
 * distinguishes the person from others at that address.
 */
export async function forgetSourceRecords(tx: Sql, ids: readonly number[]): Promise<void> {
  const isTheirs = tx`entity = ${entityCodes.person} and id = any(${[...ids]}::bigint[])`;
  const numbers = tx`select number from source_records where ${isTheirs}`;
  await tx`delete from former_identifiers where person_id = any(${[...ids]}::bigint[])`;
  // Waits for an import that writes them: what it adds is seen from here on.
  await tx`select from source_records where ${isTheirs} for update`;
  await tx`
    insert into source_records (source, key, entity, id, import_id, as_of, hash)
    select distinct on (t.source, k.key) t.source, k.key, t.entity, t.id, t.import_id, 'infinity'::date, ''::bytea
    from (
      select source, key, entity, id, import_id, record from source_records where ${isTheirs}
      union all
      select r.source, r.key, r.entity, r.id, r.import_id, v.before_record
      from source_records r join source_record_versions v using (number) where ${isTheirs}) t
    cross join lateral (
      select ${erasedKey(tx, tx`(t.key || ' ' || holder)`)} from ${holderIn(tx, tx`t.record`)} holder
      union all
      select ${erasedKey(tx, tx`substr(whole, length('key:' || t.source || '/') + 1)`)}
      from json_array_elements_text(t.record::json -> '_sameAs') whole
      where starts_with(whole, 'key:' || t.source || '/')) k (key)
    where t.record is not null and t.source <> 'own'
    on conflict (source, key) do nothing`;
  await tx`delete from source_keys where number in (${numbers})`;
  await tx`delete from source_record_versions where number in (${numbers})`;
  await tx`
    update source_records r set record = null, hash = '', as_of = 'infinity',
      key = case when source = 'own' then key else ${freeErasedKey(tx)} end
    where ${isTheirs}`;
}
