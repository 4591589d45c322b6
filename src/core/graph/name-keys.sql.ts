/**
 * Writes the keys of names (`core/match/keys.ts`) and their frequencies. The keys are computed here, not in the
 * database, so that those of a record and those of a row come from the same code.
 */
import type { Sql } from '../db/client.ts';
import { readCompanyName } from '../match/company-words.ts';
import { storedName } from '../match/compare-persons.ts';
import { companyKeys, personKeys } from '../match/keys.ts';
import { readPersonName } from '../match/person-name.ts';
import { aliasesOfManySql, companyNamesSql } from './company-names.ts';
import { CELL_SEPARATOR } from './record.ts';
import type { RecordSelection } from './record-selection.ts';

/** One text for a record: its id, then its names. */
type NameRow = { names: string };

/** Records between two texts of keys: bounds the memory of a large import. */
const RECORDS_PER_TEXT = 5_000;

/** Writes the keys of these people; only changed ones. */
export async function refreshPersonKeys(sql: Sql, selection: RecordSelection): Promise<void> {
  const rows = await sql.unsafe<NameRow[]>(
    `select concat_ws(E'\\x1f', r.id, r.name, r.surname, r.company_id, coalesce(r.current_company_id, 0),
       coalesce(r.past_company_id, 0)) as names
     from persons r where ${selected(selection)}`,
  );
  await replaceKeys(sql, 'person', rows, (cells) => {
    const [given = '', family = '', ...companies] = cells;
    const name = storedName(readPersonName(given, true), readPersonName(family, true));
    return personKeys(name, [...new Set(companies.map(Number).filter((id) => id !== 0))]);
  });
}

/** Writes the keys of these companies, of all their names; only changed ones. */
export async function refreshCompanyKeys(sql: Sql, selection: RecordSelection): Promise<void> {
  const rows = await sql.unsafe<NameRow[]>(
    `select concat_ws(E'\\x1f', r.id, ${companyNamesSql}) as names
     from companies r ${aliasesOfManySql(selected(selection, 'i.company_id'))}
     where ${selected(selection)}`,
  );
  await replaceKeys(sql, 'company', rows, (names) => {
    const keys = new Set<number>();
    for (const text of names) {
      const name = readCompanyName(text);
      if (name !== null) for (const key of companyKeys(name)) keys.add(key);
    }
    return keys;
  });
}

function selected(selection: RecordSelection, id = 'r.id'): string {
  if ('idsIn' in selection) return `${id} in (select id from ${selection.idsIn})`;
  return `${id} between ${selection.fromId} and ${selection.toId}`;
}

async function replaceKeys(
  sql: Sql,
  record: 'person' | 'company',
  rows: readonly NameRow[],
  keysOf: (cells: string[]) => Set<number>,
): Promise<void> {
  const table = sql(`${record}_name_keys`);
  const owner = sql(`${record}_id`);
  for (let from = 0; from < rows.length; from += RECORDS_PER_TEXT) {
    const ids: number[] = [];
    const lines: string[] = [];
    for (const { names } of rows.slice(from, from + RECORDS_PER_TEXT)) {
      const [id = '', ...cells] = names.split(CELL_SEPARATOR);
      ids.push(Number(id));
      for (const key of keysOf(cells)) lines.push(`${key} ${id}`);
    }
    await sql`
      with stated as (
        select split_part(line, ' ', 1)::bigint as key, split_part(line, ' ', 2)::bigint as id
        from string_to_table(${lines.join('\n')}, E'\n') line where line <> ''),
      removed as (
        delete from ${table} k where k.${owner} = any(${ids}::bigint[])
          and not exists (select from stated s where s.key = k.key and s.id = k.${owner}))
      insert into ${table} (key, ${owner}) select key, id from stated order by key
      on conflict do nothing`;
  }
}

/** Counts the words of names again; see the function in the migrations. */
export async function refreshNameCounts(tx: Sql): Promise<void> {
  await tx`select refresh_name_counts()`;
}
