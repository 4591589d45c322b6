/**
 * Compiles a prepared filter to SQL: one handler for each kind of node. Every search, preview and export reads
 * people through this condition, so that all of them match the same people; opted-out people and the account's
 * do-not-contact list are excluded here too.
 */
import { ownedPeople } from '../credits/owned.sql.ts';
import type { Sql } from '../db/client.ts';
import { personFields } from '../graph/fields.ts';
import { assert, must } from '../lib/assert.ts';
import { personSearch } from '../operations.ts';
import {
  anyOf,
  type Fragment,
  type Identifier,
  idIn,
  integerIn,
  rangeOverlaps,
  timeIn,
} from './compile-ranges.sql.ts';
import type { Condition, Presence } from './parse.ts';
import type { Range, Span } from './parse-ranges.ts';
import type { PreparedFilter } from './prepared-filter.ts';

/** Columns of `person_search` by field; other fields are read from `persons`. */
const searchColumns: Readonly<Record<string, string>> = {
  id: 'id',
  createdAt: 'created_at',
  whenUpdated: 'when_updated',
  positionId: 'position_id',
  industryId: 'industry_id',
  companyId: 'company_id',
  cityId: 'city_id',
  countryId: 'country_id',
  regionId: 'region_id',
  birthYear: 'birth_year',
  inferredYearsExperience: 'years_experience',
};

/** Columns of `person_search` that hold the id of an object. */
const objectColumns: Readonly<Record<string, { column: string; table: string }>> = {
  industries: { column: 'industry_id', table: 'industries' },
  positions: { column: 'position_id', table: 'positions' },
  countries: { column: 'country_id', table: 'countries' },
  regions: { column: 'region_id', table: 'regions' },
  company: { column: 'company_id', table: 'companies' },
  cities: { column: 'city_id', table: 'cities' },
};

const bigintFields: ReadonlySet<string> = new Set([
  'id',
  'companyId',
  'pastCompanyId',
  'currentCompanyId',
  'company',
]);
/** The first fields of the record are always present; `person_search.present` has no bit for them. */
const ALWAYS_PRESENT = 3;

/**
 * Returns the condition over `persons p`: `select p.id from persons p where ${compileFilter(sql, prepared)} order
 * by p.id` returns exactly the people of the filter, without opted-out people and the owner's do-not-contact list.
 * For statements over the graph that `sql` sees.
 */
export function compileFilter(sql: Sql, prepared: PreparedFilter): Fragment {
  return sql`p.id in (select s.id from person_search s where ${compileSearch(sql, prepared)})`;
}

/**
 * As `compileFilter`, over `person_search s`, for statements that only need ids: no join is made. With `isPage` the statement
 * ends after few people.
 */
export function compileSearch(sql: Sql, prepared: PreparedFilter, isPage = false): Fragment {
  const conditions = prepared.filter.conditions.map((condition, index) =>
    compileCondition(sql, prepared, { condition, index }),
  );
  const suppressed = sql`not exists (
    select from suppressed_persons gone where gone.person_id = s.id)`;
  const all = [...conditions, suppressed];
  if (prepared.hasDoNotContact) all.push(compileDoNotContact(sql, prepared, isPage));
  return all.reduce((left, right) => sql`${left} and ${right}`);
}

interface Numbered {
  condition: Condition;
  index: number;
}

/** Values or presence: any of them matches. */
function compileCondition(sql: Sql, prepared: PreparedFilter, numbered: Numbered): Fragment {
  const { condition } = numbered;
  const alternatives = [
    ...compilePresence(sql, condition, condition.presence),
    ...compileValues(sql, prepared, numbered),
  ];
  const meets = anyOf(sql, alternatives);
  return condition.excludes ? sql`(${meets}) is not true` : meets;
}

function compilePresence(
  sql: Sql,
  condition: Condition,
  { present, absent }: Presence,
): Fragment[] {
  if (!present && !absent) return [];
  const isThere =
    condition.inside === undefined
      ? isPresent(sql, condition.field)
      : isPresentInside(sql, condition.inside);
  return [...(present ? [isThere] : []), ...(absent ? [sql`not ${isThere}`] : [])];
}

/** Tests one bit of a mask, so that no field needs its own column. */
function isPresent(sql: Sql, field: string): Fragment {
  const bit = presenceBit(field);
  if (bit === null) return sql`true`;
  return sql`(s.present & ${presenceMask(bit)}::bigint <> 0)`;
}

/** Returns a bigint with one bit set, as digits: a number would lose the last of them. */
export function presenceMask(bit: number): string {
  return String(2n ** BigInt(bit));
}

/** Returns the bit of `person_search.present` for a field; null for fields that are always present. */
export function presenceBit(field: string): number | null {
  const place = personFields.findIndex(({ name }) => name === field);
  assert(place >= 0, `the record has no field ${field}`);
  return place < ALWAYS_PRESENT ? null : place - ALWAYS_PRESENT;
}

type Inside = NonNullable<Condition['inside']>;

function isPresentInside(sql: Sql, { object, path }: Inside): Fragment {
  const member = path.join('.');
  const owner = objectColumns[object];
  if (owner === undefined) {
    const names = member === 'id' ? sql`e.id <> 0` : sql`e.name <> ''`;
    return inPersons(sql, existsInList(sql, object, names));
  }
  if (member === 'id' || member === 'createdAt') return isPresent(sql, object);
  const column = sql(`s.${owner.column}`);
  if (object !== 'cities') {
    return sql`(${isPresent(sql, object)} and ${column} in (
      select o.id from ${sql(owner.table)} o where o.name <> ''))`;
  }
  return sql`(${column} in (select c.id from cities c
    left join countries n on n.id = c.country_id and n.name <> ''
    left join regions g on g.id = c.region_id and g.name <> ''
    where ${cityMemberIsPresent(sql, member)}))`;
}

function cityMemberIsPresent(sql: Sql, member: string): Fragment {
  if (member === 'countryId') return sql`c.country_id <> 0`;
  if (member === 'regionId') return sql`c.region_id <> 0`;
  if (member.startsWith('countries.')) return sql`n.id is not null`;
  if (member.startsWith('regions.')) return sql`g.id is not null`;
  return sql`c.name <> ''`;
}

function compileValues(sql: Sql, prepared: PreparedFilter, numbered: Numbered): Fragment[] {
  const { condition, index } = numbered;
  const { inside } = condition;
  if (inside !== undefined && condition.node !== 'object') {
    return compileInside(sql, prepared, numbered, inside);
  }
  switch (condition.node) {
    case 'text':
      if (condition.texts.length === 0) return [];
      return [
        compileText(sql, condition),
        // The people of a derived position with this name, whatever their own words.
        ...idIn(sql, sql('s.position_id'), {
          ids: prepared.objectIds.get(index) ?? [],
          isBig: false,
        }),
      ];
    case 'integer':
      return compileIntegers(sql, condition.field, withJoined(prepared, condition.ranges, index));
    case 'time':
      return compileTimes(sql, condition.field, condition.spans);
    case 'words':
      return condition.texts.length === 0 ? [] : [compileWords(sql, condition)];
    case 'skills':
      return condition.texts.length === 0 ? [] : [compileSkills(sql, condition.texts)];
    case 'overlap':
      return compileOverlaps(sql, condition.field, condition.ranges);
    case 'age':
      return compileAges(sql, condition.ranges, prepared.year);
    case 'place': {
      const { cityIds, countryIds } = must(prepared.places.get(index), 'prepared places');
      return [
        ...idIn(sql, sql('s.city_id'), { ids: cityIds, isBig: false }),
        ...idIn(sql, sql('s.country_id'), { ids: countryIds, isBig: false }),
      ];
    }
    case 'anyPresent':
      return condition.fields.map((field) => isPresent(sql, field));
    case 'object':
      return [];
    case 'owned': {
      const { accountId, live } = prepared.owner;
      // Test mode has other people, who cost nothing.
      return live ? [sql`s.id in (${ownedPeople(sql, accountId, personSearch.name)})`] : [];
    }
  }
}

/** True for people whose row in `persons r` meets the condition. */
function inPersons(sql: Sql, condition: Fragment): Fragment {
  return sql`s.id in (select r.id from persons r where ${condition})`;
}

/** Texts that are stored folded in `person_search`; the one of `position` may come from another field. */
const foldedColumns: Readonly<Record<string, string>> = {
  gender: 'gender',
  name: 'name',
  surname: 'surname',
  position: 'position_name',
  positionName: 'position_name',
};

function compileText(sql: Sql, { field, texts }: Condition & { node: 'text' }): Fragment {
  const stored = foldedColumns[field];
  if (stored === undefined) {
    const column = sql(`r.${columnOf(field)}`);
    return inPersons(
      sql,
      sql`${column} <> '' and ${isOneOf(sql, sql`btrim(fold(${column}))`, texts)}`,
    );
  }
  const test = isOneOf(sql, sql(`s.${stored}`), texts);
  return field === 'position' ? sql`(${test} and ${isPresent(sql, 'position')})` : test;
}

/** For one value an equality: an index that continues with the id then returns people in order. */
function isOneOf(sql: Sql, column: Fragment | Identifier, texts: string[]): Fragment {
  return texts.length === 1
    ? sql`${column} = (fold_all(${texts}::text[]))[1]`
    : sql`${column} = any(fold_all(${texts}::text[]))`;
}

function columnOf(field: string): string {
  const found = personFields.find(({ name }) => name === field);
  return must(found?.column, `column of ${field}`);
}

/** The ranges with the ids of companies with which those of the ranges were joined. */
function withJoined(
  { objectIds }: PreparedFilter,
  ranges: readonly Range[],
  index: number,
): readonly Range[] {
  return [...ranges, ...(objectIds.get(index) ?? []).map((id) => ({ min: id, max: id }))];
}

function compileIntegers(sql: Sql, field: string, ranges: readonly Range[]): Fragment[] {
  const isBig = bigintFields.has(field);
  const column = searchColumns[field];
  if (column === undefined) {
    const found = integerIn(sql, `r.${columnOf(field)}`, { ranges, isBig });
    return found.length === 0 ? [] : [inPersons(sql, anyOf(sql, found))];
  }
  return integerIn(sql, `s.${column}`, { ranges, isBig });
}

function compileTimes(sql: Sql, field: string, spans: readonly Span[]): Fragment[] {
  const column = searchColumns[field];
  if (column !== undefined) return timeIn(sql, `s.${column}`, spans);
  const found = timeIn(sql, `r.${columnOf(field)}`, spans);
  return found.length === 0 ? [] : [inPersons(sql, anyOf(sql, found))];
}

/** Texts whose words all occur in one text of the record. A text without any word matches no one. */
function compileWords(sql: Sql, { field, texts }: Condition & { node: 'words' }): Fragment {
  if (field !== 'position') return compileExperienceWords(sql, texts);
  // In the form of the index.
  const tests = texts.map(
    (text) => sql`(folded_words(s.position_name) @> folded_words(${text})
      and folded_words(${text}) <> array[''])`,
  );
  return sql`(${anyOf(sql, tests)} and ${isPresent(sql, 'position')})`;
}

/**
 * In `experience`. Folding a record's text is most of the cost, so it is folded once for all texts, and these before
 * the first record is read.
 */
function compileExperienceWords(sql: Sql, texts: string[]): Fragment {
  if (texts.length === 1) {
    return inPersons(
      sql,
      sql`r.experience <> '' and folded_words(r.experience) @> folded_words(${texts[0] ?? ''})
        and folded_words(${texts[0] ?? ''}) <> array['']`,
    );
  }
  return sql`s.id in (
    select r.id from persons r
    cross join lateral (select folded_words(r.experience) as words offset 0) known
    where r.experience <> '' and exists (
      select from unnest((
        select array_agg(array_to_string(folded_words(text), ' '))
        from unnest(${texts}::text[]) text)) words
      where words <> '' and known.words @> string_to_array(words, ' ')))`;
}

/** A text that is empty when folded matches no skill. */
function compileSkills(sql: Sql, texts: string[]): Fragment {
  return sql`(s.skills @> fold_all(${texts}::text[])
    and cardinality(fold_all(${texts}::text[])) = ${texts.length})`;
}

function compileOverlaps(sql: Sql, field: string, ranges: readonly Range[]): Fragment[] {
  const kind = field === 'headCount' ? 'staff' : 'salary';
  return rangeOverlaps(sql, { min: `s.${kind}_min`, max: `s.${kind}_max` }, ranges);
}

/** Age is the one reached in the given calendar year; an unknown year of birth (0) matches no age. */
function compileAges(sql: Sql, ranges: readonly Range[], year: number): Fragment[] {
  const born = ranges.map(({ min, max }) => ({
    min: max === null ? 1 : year - max,
    max: year - min,
  }));
  return integerIn(sql, 's.birth_year', { ranges: born, isBig: false });
}

/** A value inside an object: by the id of the object, or inside the lists that a person carries. */
function compileInside(
  sql: Sql,
  prepared: PreparedFilter,
  { condition, index }: Numbered,
  { object, path }: Inside,
): Fragment[] {
  const owner = objectColumns[object];
  if (owner === undefined) {
    const tests = listTests(sql, condition);
    return tests.length === 0 ? [] : [inPersons(sql, existsInList(sql, object, anyOf(sql, tests)))];
  }
  if (condition.node === 'integer' && path.join('.') === 'id') {
    const column = `s.${owner.column}`;
    const tests = integerIn(sql, column, {
      ranges: withJoined(prepared, condition.ranges, index),
      isBig: bigintFields.has(object),
    });
    return tests.map((test) => sql`(${test} and ${isPresent(sql, object)})`);
  }
  const ids = must(prepared.objectIds.get(index), 'prepared ids');
  const column = sql(`s.${owner.column}`);
  const isBig = bigintFields.has(object);
  return idIn(sql, column, { ids, isBig }).map(
    (test) => sql`(${test} and ${isPresent(sql, object)})`,
  );
}

function listTests(sql: Sql, condition: Condition): Fragment[] {
  if (condition.node === 'text' && condition.texts.length > 0) {
    return [sql`btrim(fold(e.name)) = any(fold_all(${condition.texts}::text[]))`];
  }
  if (condition.node !== 'integer') return [];
  return integerIn(sql, 'e.id', { ranges: condition.ranges, isBig: true });
}

function existsInList(sql: Sql, object: string, test: Fragment): Fragment {
  return sql`exists (
    select from jsonb_to_recordset(${sql(`r.${columnOf(object)}`)}) as e (id bigint, name text)
    where ${test})`;
}

/**
 * People without an address or domain that the account keeps away from. The addresses are those by which
 * people are looked up, so a list and a record that spell one address differently still meet. Each is looked up in
 * the list, so that a page reads no more of a list of a million entries than of a short one; the planner reads a
 * list once when more people are compared with it, if it fits into `work_mem`. In a page `offset 0` keeps it from
 * joining: it takes more people for listed than are, and would read the addresses of all people to the end.
 */
function compileDoNotContact(sql: Sql, { owner }: PreparedFilter, isPage: boolean): Fragment {
  // In the collation of the list: in that of identifiers no index would find it.
  const domain = sql`split_part(i.value, '@', 2) collate "default"`;
  const isListed = (contact: Fragment) => sql`exists (
    select from do_not_contact d
    where d.account_id = ${owner.accountId} and d.live = ${owner.live} and ${contact})`;
  return sql`not exists (
    select from person_identifiers i
    where i.person_id = s.id and i.kind in (2, 3)
      and (${isListed(sql`d.email_sha256 = sha256(convert_to(i.value, 'UTF8'))`)}
        or ${isListed(sql`d.email_sha256 is null and d.domain = ${domain}`)})
    ${isPage ? sql`offset 0` : sql``})`;
}
