/**
 * Finds and compares the candidates of rows: keys for all rows of a chunk, one statement for the companies, one for the
 * people, one for what they are compared by.
 */
import type { Sql } from '../db/client.ts';
import { relateCompanies } from '../match/compare-companies.ts';
import {
  type CompanyComparison,
  type CompanyRow,
  compareCompany,
} from '../match/compare-company.ts';
import {
  type CompanyCard,
  comparePerson,
  type PersonCard,
  type PersonComparison,
  type PersonRow,
} from '../match/compare-person.ts';
import { companyRowKeys, isPairKey, personRowKeys, wholeKey } from '../match/keys.ts';
import {
  companyLevelsOf,
  type Levels,
  personLevels,
  type StrongLevel,
  strongCompanyLevels,
} from '../match/levels.ts';
import {
  findCompaniesByKeys,
  findPeopleByKeys,
  KEY_RECORDS_MAX,
  readCompanyCards,
  readPersonCards,
} from './likely.sql.ts';
import { parseCompanyCards, parsePersonCards, type ReadPerson } from './likely-cards.ts';
import type { GraphNames } from './name-frequencies.ts';

/** A record that a row may mean. */
export interface Candidate<Comparison> {
  id: number;
  compared: Comparison;
  levels: Levels;
}

/** Candidates of one row. */
export interface Candidates<Comparison> {
  found: Candidate<Comparison>[];
  /** True when more records have the whole name than were read, and nothing else in the row finds one of them. */
  isCut: boolean;
}

/** Employers that a row's company may be: a parliament of one name exists in many countries. */
const EMPLOYERS_MAX = 48;
/** Rows whose candidates are read at once: bounds memory. */
const ROWS_AT_ONCE = 1_000;

/** Finds the candidates of rows about people, in the order of the rows. */
export async function findPeople(
  sql: Sql,
  names: GraphNames,
  rows: readonly PersonRow[],
): Promise<Candidates<PersonComparison>[]> {
  const all: Candidates<PersonComparison>[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    all.push(...(await findSomePeople(sql, names, rows.slice(from, from + ROWS_AT_ONCE))));
  }
  return all;
}

async function findSomePeople(
  sql: Sql,
  names: GraphNames,
  rows: readonly PersonRow[],
): Promise<Candidates<PersonComparison>[]> {
  const employers = await resolveEmployers(sql, names, rows);
  const keys = rows.map((row, index) =>
    personRowKeys(
      row.name,
      (employers[index] ?? []).map(({ id }) => id),
    ),
  );
  const found = await findByKeys(keys, isPairKey, (wanted) => findPeopleByKeys(sql, wanted));
  const ids = [...new Set(found.flatMap(({ ids: own }) => [...own]))];
  const people = new Map<number, ReadPerson>();
  for (const person of parsePersonCards(await readPersonCards(sql, ids), names)) {
    people.set(person.id, person);
  }
  return rows.map((row, index) => {
    const { ids: own, isCut } = found[index] ?? { ids: new Set<number>(), isCut: false };
    const known = new Map((employers[index] ?? []).map((card) => [card.id, card]));
    const compared: Candidate<PersonComparison>[] = [];
    for (const id of [...own].sort((a, b) => a - b)) {
      const person = people.get(id);
      if (person === undefined) continue;
      const comparison = comparePerson(row, withEmployers(person, known));
      compared.push({ id, compared: comparison, levels: personLevels(comparison, names) });
    }
    return { found: compared, isCut: isCut && row.company === null };
  });
}

/** The person with the other names of the employers that the row may mean. */
function withEmployers(person: ReadPerson, known: ReadonlyMap<number, CompanyCard>): PersonCard {
  const resolved = person.employers.flatMap((id) => known.get(id) ?? []);
  const others = person.named.filter(({ id }) => !known.has(id));
  return { ...person, companies: [...resolved, ...others] };
}

/** Finds the companies that the rows may mean as employers. */
async function resolveEmployers(
  sql: Sql,
  names: GraphNames,
  rows: readonly PersonRow[],
): Promise<CompanyCard[][]> {
  const byName = new Map<string, { row: CompanyRow; cards: CompanyCard[] }>();
  for (const { company } of rows) {
    if (company === null || byName.has(company.whole)) continue;
    byName.set(company.whole, { row: { name: company, city: '', country: null }, cards: [] });
  }
  const wanted = [...byName.values()];
  await fillCompanies(sql, names, wanted, ({ name }) => new Set([wholeKey(name)]));
  const rest = wanted.filter(({ cards }) => cards.length === 0);
  await fillCompanies(sql, names, rest, ({ name }) => companyRowKeys(name));
  return rows.map(({ company, country }) => {
    if (company === null) return [];
    const { cards } = byName.get(company.whole) ?? { cards: [] };
    const here =
      country === null
        ? cards
        : cards.filter((card) => card.country === null || card.country === country);
    return here.slice(0, EMPLOYERS_MAX);
  });
}

async function fillCompanies(
  sql: Sql,
  names: GraphNames,
  wanted: { row: CompanyRow; cards: CompanyCard[] }[],
  keysOf: (row: CompanyRow) => Set<number>,
): Promise<void> {
  if (wanted.length === 0) return;
  const found = await readCompanies(
    sql,
    names,
    wanted.map(({ row }) => keysOf(row)),
    wanted.map(({ row }) => wholeKey(row.name)),
  );
  for (const [index, one] of wanted.entries()) {
    for (const card of found[index]?.cards ?? []) {
      if (card.names.some((name) => isStrong(relateCompanies(one.row.name, name).level))) {
        one.cards.push(card);
      }
    }
  }
}

function isStrong(level: string): level is StrongLevel {
  return strongCompanyLevels.has(level as StrongLevel);
}

/** Finds the candidates of rows about companies, in the order of the rows. */
export async function findCompanies(
  sql: Sql,
  names: GraphNames,
  rows: readonly CompanyRow[],
): Promise<Candidates<CompanyComparison>[]> {
  const all: Candidates<CompanyComparison>[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const read = await readCompanies(
      sql,
      names,
      some.map(({ name }) => companyRowKeys(name)),
      some.map(({ name }) => wholeKey(name)),
    );
    for (const [index, row] of some.entries()) {
      const { cards = [], isCut = false } = read[index] ?? {};
      const found: Candidate<CompanyComparison>[] = [];
      for (const card of cards) {
        const compared = compareCompany(row, card);
        if (compared === null || compared.level === 'none') continue;
        found.push({ id: card.id, compared, levels: companyLevelsOf(compared, names) });
      }
      all.push({ found, isCut });
    }
  }
  return all;
}

async function readCompanies(
  sql: Sql,
  names: GraphNames,
  keys: readonly Set<number>[],
  wholeKeys: readonly number[],
): Promise<{ cards: CompanyCard[]; isCut: boolean }[]> {
  const found = await findByKeys(
    keys,
    (key, index) => key === wholeKeys[index],
    (wanted) => findCompaniesByKeys(sql, wanted),
  );
  const ids = [...new Set(found.flatMap(({ ids: own }) => [...own]))];
  const cards = new Map<number, CompanyCard>();
  if (ids.length > 0) {
    for (const card of parseCompanyCards(await readCompanyCards(sql, ids), names)) {
      cards.set(card.id, card);
    }
  }
  return found.map(({ ids: own, isCut }) => {
    const read = [...own].sort((a, b) => a - b).flatMap((id) => cards.get(id) ?? []);
    return { cards: read, isCut };
  });
}

/** Looks up the keys of all rows, each once. `isWhole` tells the keys of a whole name. */
async function findByKeys(
  keysOfRows: readonly Set<number>[],
  isWhole: (key: number, index: number) => boolean,
  find: (keys: readonly number[]) => Promise<string>,
): Promise<{ ids: Set<number>; isCut: boolean }[]> {
  const wanted = [...new Set(keysOfRows.flatMap((keys) => [...keys]))];
  const idsOf = new Map<number, number[]>();
  const text = wanted.length === 0 ? '' : await find(wanted);
  for (const line of text === '' ? [] : text.split('\n')) {
    const space = line.indexOf(' ');
    const key = wanted[Number(line.slice(0, space)) - 1];
    if (key !== undefined)
      idsOf.set(
        key,
        line
          .slice(space + 1)
          .split(',')
          .map(Number),
      );
  }
  return keysOfRows.map((keys, index) => {
    const ids = new Set<number>();
    let isCut = false;
    for (const key of keys) {
      const found = idsOf.get(key) ?? [];
      if (found.length > KEY_RECORDS_MAX) isCut ||= isWhole(key, index);
      else for (const id of found) ids.add(id);
    }
    return { ids, isCut };
  });
}
