/**
 * Writes the keys of names (`core/match/keys.ts`) and their frequencies. The keys are computed here, not in the
 * database, so that those of a record and those of a row come from the same code.
 */
import type { Sql } from '../db/client.ts';
import { copyBigints } from '../db/copy-into.ts';
import { must } from '../lib/assert.ts';
import { parseCompanyName } from '../match/company-words.ts';
import { storedName } from '../match/compare-persons.ts';
import { KEYS_END, keyKinds, kindOfKey } from '../match/hash-key.ts';
import { addCompanyKeys, personKeys } from '../match/keys.ts';
import { readPersonName } from '../match/person-name.ts';
import { aliasesOfManySql, companyNamesSql } from './company-names.ts';
import { CELL_SEPARATOR } from './record.ts';
import type { RecordSelection } from './record-selection.ts';

/** One text for a record: its id, then its names. */
type NameRow = { names: string };

/** Records whose keys are in memory at once. */
const RECORDS_AT_ONCE = 20_000;

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
    return [...personKeys(name, [...new Set(companies.map(Number).filter((id) => id !== 0))])];
  });
}

/** Writes the keys of these companies, of all their names; only changed ones. */
export async function refreshCompanyKeys(sql: Sql, selection: RecordSelection): Promise<void> {
  const rows = await sql.unsafe<NameRow[]>(
    `select concat_ws(E'\\x1f', r.id, ${companyNamesSql}) as names
     from companies r ${aliasesOfManySql(selected(selection, 'i.company_id'))}
     where ${selected(selection)}`,
  );
  await replaceKeys(sql, 'company', rows, keysOfCompany);
}

/** Returns the keys of a company with these names, each once. */
export function keysOfCompany(names: readonly string[]): number[] {
  const keys = new Set<number>();
  for (const text of names) {
    const name = parseCompanyName(text);
    if (name !== null) addCompanyKeys(keys, name);
  }
  // Filled by place, it has its numbers in one piece: the thousands of a batch outlive many rounds of the collector.
  const list = new Array<number>(keys.size);
  let end = 0;
  for (const key of keys) list[end++] = key;
  return list;
}

/** Writes the keys of companies that have none yet. */
export async function insertCompanyKeys(sql: Sql, companies: readonly Keyed[]): Promise<void> {
  await insertKeys(sql, tables.company, companies);
}

/** Notes that the keys of the companies from one id to another are written later. */
export async function noteKeysToWrite(tx: Sql, firstId: number, lastId: number): Promise<void> {
  await tx`insert into company_keys_to_write (first_id, last_id) values (${firstId}, ${lastId})`;
}

export async function hasKeysToWrite(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from company_keys_to_write) as found`;
  return must(row, 'one row').found;
}

/** Takes what is noted, in the order of the ids. */
export async function takeKeysToWrite(tx: Sql): Promise<{ firstId: number; lastId: number }[]> {
  const rows = await tx<{ firstId: number; lastId: number }[]>`
    delete from company_keys_to_write returning first_id, last_id`;
  return rows.sort((a, b) => a.firstId - b.firstId);
}

/** Returns the companies from one id to another that have no keys, `<id>,...` in their order. */
export async function listWithoutKeys(tx: Sql, firstId: number, lastId: number): Promise<string> {
  const [row] = await tx<{ ids: string }[]>`
    select coalesce(string_agg(c.id::text, ',' order by c.id), '') as ids from companies c
    where c.id between ${firstId} and ${lastId}
      and not exists (select from keyed_companies k where k.id = c.id)`;
  return must(row, 'one row').ids;
}

function selected(selection: RecordSelection, id = 'r.id'): string {
  if ('idsIn' in selection) return `${id} in (select id from ${selection.idsIn})`;
  return `${id} between ${selection.fromId} and ${selection.toId}`;
}

/** Tables of the keys of one kind of record. */
const tables = {
  person: { found: 'person_name_keys', owner: 'person_id', keyed: 'keyed_persons' },
  company: { found: 'company_name_keys', owner: 'company_id', keyed: 'keyed_companies' },
} as const;
type Tables = (typeof tables)[keyof typeof tables];

/** The keys of one record. */
export interface Keyed {
  id: number;
  keys: readonly number[];
}

async function replaceKeys(
  sql: Sql,
  record: keyof typeof tables,
  rows: readonly NameRow[],
  keysOf: (cells: string[]) => number[],
): Promise<void> {
  const own = tables[record];
  for (let from = 0; from < rows.length; from += RECORDS_AT_ONCE) {
    const stated = new Map<number, Keyed>();
    for (const { names } of rows.slice(from, from + RECORDS_AT_ONCE)) {
      const [id = '', ...cells] = names.split(CELL_SEPARATOR);
      stated.set(Number(id), { id: Number(id), keys: keysOf(cells) });
    }
    const changed = await readChanged(sql, own, stated);
    await deleteKeys(
      sql,
      own,
      changed.map(({ id }) => id),
    );
    await insertKeys(sql, own, [...stated.values(), ...changed]);
  }
}

/** Removes from `stated` what is stored, and returns those that are stored with other keys. */
async function readChanged(
  sql: Sql,
  { keyed }: Tables,
  stated: Map<number, Keyed>,
): Promise<Keyed[]> {
  const stored = await sql<{ id: number; keys: string }[]>`
    select id, array_to_string(keys, ' ') as keys from ${sql(keyed)}
    where id = any(${[...stated.keys()]}::bigint[])`;
  const changed: Keyed[] = [];
  for (const { id, keys } of stored) {
    const one = stated.get(id);
    stated.delete(id);
    if (one !== undefined && keys !== one.keys.join(' ')) changed.push(one);
  }
  return changed;
}

/** Inserts the keys of records that have none, near to the order of the index. */
async function insertKeys(
  sql: Sql,
  { found, owner, keyed }: Tables,
  records: readonly Keyed[],
): Promise<void> {
  await copyBigints(sql, { table: found, columns: ['key', owner] }, lookedUp(records));
  const ids = Float64Array.from(records, ({ id }) => id);
  const lists = records.map(({ keys }) => keys);
  await copyBigints(sql, { table: keyed, columns: ['id', 'keys'] }, [ids, lists]);
}

/**
 * Returns the keys that rows look up and their records, ordered by the first bits of the keys in one pass: neighbours in
 * the index are written together, and comparing them to the last bit would take most of the time.
 */
function lookedUp(records: readonly Keyed[]): [keys: Float64Array, ids: Float64Array] {
  const ends = new Uint32Array(KEY_RANGES);
  for (const { keys } of records) {
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as number;
      if (!isCountedOnly(key)) ends[rangeOf(key)] = (ends[rangeOf(key)] as number) + 1;
    }
  }
  for (let range = 1; range < KEY_RANGES; range++) {
    ends[range] = (ends[range] as number) + (ends[range - 1] as number);
  }
  const count = ends[KEY_RANGES - 1] as number;
  const [keysInOrder, ids] = [new Float64Array(count), new Float64Array(count)];
  // From the end, so that those of one range keep their order.
  for (let place = records.length - 1; place >= 0; place--) {
    const { id, keys } = records[place] as Keyed;
    for (let at = keys.length - 1; at >= 0; at--) {
      const key = keys[at] as number;
      if (isCountedOnly(key)) continue;
      const end = (ends[rangeOf(key)] as number) - 1;
      ends[rangeOf(key)] = end;
      keysInOrder[end] = key;
      ids[end] = id;
    }
  }
  return [keysInOrder, ids];
}

function rangeOf(key: number): number {
  return Math.floor((key / KEYS_END) * KEY_RANGES);
}

/** True for kinds that no row looks up. */
function isCountedOnly(key: number): boolean {
  const kind = kindOfKey(key);
  return kind === keyKinds.given || kind === keyKinds.companyWord;
}

const KEY_RANGES = 65_536;

async function deleteKeys(
  sql: Sql,
  { found, owner, keyed }: Tables,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with gone as (
      delete from ${sql(keyed)} where id = any(${[...ids]}::bigint[]) returning id, keys)
    delete from ${sql(found)} k using (select id, unnest(keys) as key from gone) g
    where k.key = g.key and k.${sql(owner)} = g.id`;
}

/** Deletes the keys of people who are deleted. */
export async function deletePersonKeys(sql: Sql, ids: readonly number[]): Promise<void> {
  await deleteKeys(sql, tables.person, ids);
}

/** Deletes the keys of companies that are deleted. */
export async function deleteCompanyKeys(sql: Sql, ids: readonly number[]): Promise<void> {
  await deleteKeys(sql, tables.company, ids);
}

/** Counts the words of names again; see the function in the migrations. */
export async function refreshNameCounts(tx: Sql): Promise<void> {
  await tx`select refresh_name_counts()`;
}
