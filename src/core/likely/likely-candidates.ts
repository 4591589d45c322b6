/**
 * Finds and compares the candidates of rows: keys for all rows of a chunk, one statement for the companies, one for the
 * people, one for what they are compared by.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
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
  ascending,
  findByKeys,
  groupsByIds,
  inOrder,
  pauses,
  type RowIds,
} from './candidate-keys.ts';
import {
  findCompaniesByKeys,
  findPeopleByKeys,
  readCompanyCards,
  readCompanyNames,
  readOffices,
  readPersonCards,
} from './likely.sql.ts';
import {
  type Employment,
  employersIn,
  parseCompanyCards,
  parseEmployment,
  parsePersonCards,
  type ReadPerson,
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
  /** True when more records have the whole name, or fit, than were read, and the row names no employer. */
  isCut: boolean;
}

/** Judges the candidates of the row at an index at once: kept for all rows, they would be the most memory of a part. */
type Judge<Comparison, Result> = (candidates: Candidates<Comparison>, index: number) => Result;

/** Employers that a row's company may be: a parliament of one name exists in many countries. */
const EMPLOYERS_MAX = 48;
/** Rows whose candidates are read at once: bounds memory. */
const ROWS_AT_ONCE = 400;

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
    const keysOf = (index: number) =>
      personRowKeys(
        must(some[index], 'row').name,
        (employers[index] ?? []).map(({ id }) => id),
      );
    const found = await findByKeys(some.length, { keysOf, isWhole: isPairKey }, (wanted) =>
      findPeopleByKeys(sql, wanted),
    );
    const people = some.map((row, index) => ({
      row,
      known: byId(employers[index] ?? []),
      ids: found[index]?.ids ?? [],
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
interface PeopleOfRow extends RowIds {
  row: PersonRow;
  /** The companies that the row may mean, by their ids. */
  known: ReadonlyMap<number, CompanyCard>;
}

function byId(cards: readonly CompanyCard[]): Map<number, CompanyCard> {
  return new Map(cards.map((card) => [card.id, card]));
}

async function compareSomePeople<Result>(
  sql: Sql,
  names: GraphNames,
  rows: readonly PeopleOfRow[],
  judge: (candidates: Candidate<PersonComparison>[], index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const pause = pauses();
  for (const { group, ids } of groupsByIds(rows)) {
    const text = ids.length === 0 ? '' : await readPersonCards(sql, ids);
    const people = parsePersonCards(text, names);
    const employment = await readEmployment(sql, group, people);
    for (const row of group) {
      await pause(row.ids.length);
      results.push(judge(compareCandidates(row, people, employment), results.length));
    }
  }
  return results;
}

/** Reads where people work whom a row with a company is compared with. */
async function readEmployment(
  sql: Sql,
  rows: readonly PeopleOfRow[],
  people: ReadonlyMap<number, ReadPerson>,
): Promise<Employment> {
  const wanted = new Set<number>();
  const employers = new Set<number>();
  for (const { row, ids, known } of rows) {
    if (row.company === null) continue;
    for (const id of ids) {
      const person = people.get(id);
      if (person === undefined) continue;
      if (known.size > 0) wanted.add(id);
      if (!known.has(person.companyId)) employers.add(person.companyId);
    }
  }
  const offices = wanted.size === 0 ? '' : await readOffices(sql, inOrder(wanted));
  const names = employers.size === 0 ? '' : await readCompanyNames(sql, inOrder(employers));
  return parseEmployment(offices, names);
}

function compareCandidates(
  { row, known, ids }: PeopleOfRow,
  people: ReadonlyMap<number, ReadPerson>,
  employment: Employment,
): Candidate<PersonComparison>[] {
  const compared: Candidate<PersonComparison>[] = [];
  for (const id of ids) {
    const person = people.get(id);
    if (person === undefined) continue;
    const employers = employersIn(person, employment, known);
    compared.push({ id, compared: comparePerson(row, person, employers) });
  }
  return compared;
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
      known: byId(employers[index] ?? []),
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
  const asked = rows.map(({ ids }) => ({ ids: ascending([...ids]) }));
  const compared: Candidate<CompanyComparison>[][] = [];
  await readCards(sql, names, asked, (cards, index) => {
    compared.push(compareCards(must(rows[index], 'row').row, cards));
  });
  return compared;
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
  const rows = wanted.map(({ row }) => row);
  await readCompanies(sql, names, { rows, keysOf }, ({ cards }, index) => {
    const one = must(wanted[index], 'company of a row');
    for (const card of cards) {
      if (card.names.some((name) => isStrong(relateCompanies(one.row.name, name).level))) {
        one.cards.push(card);
      }
    }
  });
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
    const asked = { rows: some, keysOf: ({ name }: CompanyRow) => companyRowKeys(name) };
    await readCompanies(sql, names, asked, ({ cards, isCut }, index) => {
      const found = compareCards(must(some[index], 'row'), cards);
      results.push(judge({ found, isCut }, from + index));
    });
  }
  return results;
}

/** Finds the companies of rows by their keys, and gives them to `use` in the order of the rows. */
async function readCompanies(
  sql: Sql,
  names: GraphNames,
  { rows, keysOf }: { rows: readonly CompanyRow[]; keysOf: (row: CompanyRow) => Set<number> },
  use: (found: { cards: CompanyCard[]; isCut: boolean }, index: number) => void,
): Promise<void> {
  const rowAt = (index: number) => must(rows[index], 'row');
  const keys = {
    keysOf: (index: number) => keysOf(rowAt(index)),
    isWhole: (key: number, index: number) => key === wholeKey(rowAt(index).name),
  };
  const found = await findByKeys(rows.length, keys, (wanted) => findCompaniesByKeys(sql, wanted));
  await readCards(sql, names, found, (cards, index) => {
    use({ cards, isCut: found[index]?.isCut === true }, index);
  });
}

/** Reads the cards of each row's companies, in the order of their ids. */
async function readCards(
  sql: Sql,
  names: GraphNames,
  rows: readonly RowIds[],
  use: (cards: CompanyCard[], index: number) => void,
): Promise<void> {
  let index = 0;
  const pause = pauses();
  for (const { group, ids } of groupsByIds(rows)) {
    const cards =
      ids.length === 0 ? [] : parseCompanyCards(await readCompanyCards(sql, ids), names);
    const cardsById = byId(cards);
    for (const own of group) {
      await pause(own.ids.length);
      use(
        own.ids.flatMap((id) => cardsById.get(id) ?? []),
        index++,
      );
    }
  }
}
