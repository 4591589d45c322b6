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
  type PersonComparison,
  type PersonRow,
} from '../match/compare-person.ts';
import { companyRowKeys, isPairKey, personRowKeys, wholeKey } from '../match/keys.ts';
import { type StrongLevel, strongCompanyLevels } from '../match/levels.ts';
import {
  findCompaniesByKeys,
  findPeopleByKeys,
  KEY_RECORDS_MAX,
  readCompanyCards,
  readPersonCards,
} from './likely.sql.ts';
import {
  employersIn,
  parseCompanyCards,
  parsePersonCard,
  splitPersonCards,
} from './likely-cards.ts';
import type { GraphNames } from './name-frequencies.ts';

/** A record that a row may mean. */
export interface Candidate<Comparison> {
  id: number;
  compared: Comparison;
}

/** Candidates of one row. */
export interface Candidates<Comparison> {
  found: Candidate<Comparison>[];
  /** True when more records have the whole name than were read, and nothing else in the row finds one of them. */
  isCut: boolean;
}

/** Judges the candidates of the row at an index at once: kept for all rows, they would be the most memory of a part. */
type Judge<Comparison, Result> = (candidates: Candidates<Comparison>, index: number) => Result;

/** Employers that a row's company may be: a parliament of one name exists in many countries. */
const EMPLOYERS_MAX = 48;
/** Rows whose candidates are read at once: bounds memory. */
const ROWS_AT_ONCE = 1_000;

/** Finds the candidates of rows about people, and judges them in the order of the rows. */
export async function findPeople<Result>(
  sql: Sql,
  names: GraphNames,
  rows: readonly PersonRow[],
  judge: Judge<PersonComparison, Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const employers = await resolveEmployers(sql, names, some);
    const keys = some.map((row, index) =>
      personRowKeys(
        row.name,
        (employers[index] ?? []).map(({ id }) => id),
      ),
    );
    const found = await findByKeys(keys, isPairKey, (wanted) => findPeopleByKeys(sql, wanted));
    const people = some.map((row, index) => ({
      row,
      employers: employers[index] ?? [],
      ids: found[index]?.ids ?? noIds,
    }));
    const compared = await compareSomePeople(sql, names, people, (candidates, index) => {
      const isCut = some[index]?.company === null && found[index]?.isCut === true;
      return judge({ found: candidates, isCut }, from + index);
    });
    for (const one of compared) results.push(one);
  }
  return results;
}

/** A row about a person with what it is compared with. */
interface PeopleOfRow {
  row: PersonRow;
  employers: readonly CompanyCard[];
  /** Ascending. */
  ids: readonly number[];
}

async function compareSomePeople<Result>(
  sql: Sql,
  names: GraphNames,
  rows: readonly PeopleOfRow[],
  judge: (candidates: Candidate<PersonComparison>[], index: number) => Result,
): Promise<Result[]> {
  const wanted = new Set<number>();
  for (const { ids } of rows) for (const id of ids) wanted.add(id);
  const cards = splitPersonCards(wanted.size === 0 ? '' : await readPersonCards(sql, [...wanted]));
  return rows.map(({ row, employers, ids }, index) => {
    const known = new Map(employers.map((card) => [card.id, card]));
    const compared: Candidate<PersonComparison>[] = [];
    for (const id of ids) {
      const text = cards.get(id);
      if (text === undefined) continue;
      const { card, work } = parsePersonCard(text, names);
      compared.push({ id, compared: comparePerson(row, card, employersIn(work, known)) });
    }
    return judge(compared, index);
  });
}

/** Compares each row about a person with these people, in the order of their ids, without those who opted out. */
export async function comparePeople(
  sql: Sql,
  names: GraphNames,
  rows: readonly { row: PersonRow; ids: ReadonlySet<number> }[],
): Promise<Candidate<PersonComparison>[][]> {
  const employers = await resolveEmployers(
    sql,
    names,
    rows.map(({ row }) => row),
  );
  return compareSomePeople(
    sql,
    names,
    rows.map(({ row, ids }, index) => ({
      row,
      employers: employers[index] ?? [],
      ids: ascending([...ids]),
    })),
    (candidates) => candidates,
  );
}

/** Compares each row about a company with these companies, in the order of their ids. */
export async function compareCompanies(
  sql: Sql,
  names: GraphNames,
  rows: readonly { row: CompanyRow; ids: ReadonlySet<number> }[],
): Promise<Candidate<CompanyComparison>[][]> {
  const cards = await readCards(
    sql,
    names,
    rows.map(({ ids }) => ascending([...ids])),
  );
  return rows.map(({ row }, index) => compareCards(row, cards[index] ?? []));
}

function compareCards(
  row: CompanyRow,
  cards: readonly CompanyCard[],
): Candidate<CompanyComparison>[] {
  return cards.flatMap((card) => {
    const compared = compareCompany(row, card);
    return compared === null || compared.level === 'none' ? [] : [{ id: card.id, compared }];
  });
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

/** Finds the candidates of rows about companies, and judges them in the order of the rows. */
export async function findCompanies<Result>(
  sql: Sql,
  names: GraphNames,
  rows: readonly CompanyRow[],
  judge: Judge<CompanyComparison, Result>,
): Promise<Result[]> {
  const results: Result[] = [];
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
      results.push(judge({ found: compareCards(row, cards), isCut }, from + index));
    }
  }
  return results;
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
  const cards = await readCards(
    sql,
    names,
    found.map(({ ids }) => ids),
  );
  return found.map(({ isCut }, index) => ({ cards: cards[index] ?? [], isCut }));
}

/** Reads the cards of each row's companies, in the order of their ids. */
async function readCards(
  sql: Sql,
  names: GraphNames,
  idsOfRows: readonly (readonly number[])[],
): Promise<CompanyCard[][]> {
  const ids = [...new Set(idsOfRows.flat())];
  if (ids.length === 0) return idsOfRows.map(() => []);
  const cards = parseCompanyCards(await readCompanyCards(sql, ids), names);
  const byId = new Map(cards.map((card) => [card.id, card]));
  return idsOfRows.map((own) => own.flatMap((id) => byId.get(id) ?? []));
}

/** Looks up the keys of all rows, each once. `isWhole` tells the keys of a whole name. */
async function findByKeys(
  keysOfRows: readonly ReadonlySet<number>[],
  isWhole: (key: number, index: number) => boolean,
  find: (keys: readonly number[]) => Promise<string>,
): Promise<{ ids: readonly number[]; isCut: boolean }[]> {
  const lineOf = new Map<number, number>();
  for (const keys of keysOfRows) {
    for (const key of keys) if (!lineOf.has(key)) lineOf.set(key, lineOf.size + 1);
  }
  const idsOf = new Map<number, number[]>();
  const text = lineOf.size === 0 ? '' : await find([...lineOf.keys()]);
  for (const line of text === '' ? [] : text.split('\n')) {
    const space = line.indexOf(' ');
    const ids = line.slice(space + 1).split(',');
    idsOf.set(Number(line.slice(0, space)), ids.map(Number));
  }
  return keysOfRows.map((keys, index) => {
    const ids: number[] = [];
    let isCut = false;
    for (const key of keys) {
      const found = idsOf.get(lineOf.get(key) ?? 0) ?? noIds;
      if (found.length > KEY_RECORDS_MAX) isCut ||= isWhole(key, index);
      else ids.push(...found);
    }
    return { ids: ascending(ids), isCut };
  });
}

/** Sorts ids, each once. */
function ascending(ids: number[]): number[] {
  return ids.sort((a, b) => a - b).filter((id, place) => id !== ids[place - 1]);
}

const noIds: readonly number[] = [];
