/** Frequencies of names in memory: read once for each version of the graph, which an import changes. */
import type { Sql } from '../db/client.ts';
import { countryCode } from '../identifiers/country.ts';
import { remember } from '../lib/remember.ts';
import { staffKey } from '../match/hash-key.ts';
import { companyWordKey, familyKey, givenKey } from '../match/keys.ts';
import type { Frequencies } from '../match/levels.ts';
import { readNameCounts, readNameStatistics } from './likely.sql.ts';

export interface GraphNames extends Frequencies {
  /** Changes when frequencies do. */
  version: string;
  /** ISO 3166 alpha-2 code of a country's id; null for an unknown one. */
  countryOf(id: number): string | null;
}

/** The live and the test graph, and both of them while an import ends. */
const VERSIONS_MAX = 4;
const WORDS_KEPT = 10_000;
const loaded = new Map<string, Promise<GraphNames>>();

/** Returns the frequencies of the graph that `sql` sees. */
export async function readGraphNames(sql: Sql): Promise<GraphNames> {
  const statistics = await readNameStatistics(sql);
  const { version, people, companies } = statistics;
  const key = `${version} ${people} ${companies}`;
  const known = loaded.get(key);
  if (known !== undefined) return known;
  const loading = load(sql, statistics);
  loaded.set(key, loading);
  // A failed load is tried again by the next row.
  loading.catch(() => loaded.delete(key));
  for (const old of [...loaded.keys()].slice(0, -VERSIONS_MAX)) loaded.delete(old);
  return loading;
}

async function load(
  sql: Sql,
  { version, people, companies }: Awaited<ReturnType<typeof readNameStatistics>>,
): Promise<GraphNames> {
  const { counts, countries } = await readNameCounts(sql);
  const records = new Map<number, number>();
  for (const line of counts.split('\n')) {
    const space = line.indexOf(' ');
    if (space !== -1) records.set(Number(line.slice(0, space)), Number(line.slice(space + 1)));
  }
  const codes = new Map<number, string | null>();
  for (const line of countries.split('\n')) {
    const at = line.indexOf('=');
    if (at !== -1) codes.set(Number(line.slice(0, at)), countryCode(line.slice(at + 1)));
  }
  const count = (key: number) => records.get(key) ?? 1;
  const counted = (keyOf: (word: string) => number) =>
    remember((word) => count(keyOf(word)), WORDS_KEPT);
  return {
    version,
    people: Math.max(1, people),
    companies: Math.max(1, companies),
    familyOf: counted(familyKey),
    givenOf: counted(givenKey),
    peopleAt: (company) => count(staffKey(company)),
    companiesOf: counted(companyWordKey),
    countryOf: (id) => codes.get(id) ?? null,
  };
}
