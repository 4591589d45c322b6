/**
 * The fields of the records in the order of the API: one row per field. The SQL of the stored record, JSON bodies,
 * output columns and their types all derive from these two tables.
 */

/** Type of a cell of a stored record; a `json` cell is an object or an array. */
export type FieldType = 'text' | 'integer' | 'date' | 'timestamp' | 'json';

export interface RecordField {
  /** Name in the API (camelCase, as in the specification). */
  name: string;
  type: FieldType;
  /** An empty cell of a nullable field is null; otherwise it is `absent`, or "" (text), 0 (integer) or []. */
  nullable: boolean;
  /** JSON value of an empty cell. */
  absent?: object;
  /**
   * SQL of the cell as text, null or '' when absent. `r` is the record's row in `persons` or `companies`; other
   * aliases are the joins of the render statement.
   */
  sql: string;
  /** A typed value (phone number, geo point, number, time) that spreadsheet escaping must leave unchanged. */
  typed?: boolean;
  /** Text that few lists request and that fills most of a record: empty in the brief record. */
  long?: true;
  /** Column of `persons` or `companies`; absent for objects of reference tables. */
  column?: string;
}

/** Column of a field: `social_aId` is `social_a_id`. */
function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function text(name: string): RecordField {
  const column = columnOf(name);
  return { name, type: 'text', nullable: false, column, sql: `r.${column}` };
}

/** Text whose form the import has checked: a phone number or a geo point. */
function typedText(name: string): RecordField {
  return { ...text(name), typed: true };
}

/** A number whose column holds 0 when it is unknown: its cell is empty then, like that of any unknown value. */
function integer(name: string): RecordField {
  const column = columnOf(name);
  const sql = `nullif(r.${column}, 0)`;
  return { name, type: 'integer', nullable: false, typed: true, column, sql };
}

/** A number whose column is null when it is unknown. */
function nullableInteger(name: string): RecordField {
  const field = integer(name);
  return { ...field, nullable: true, sql: `r.${field.column}` };
}

function date(name: string): RecordField {
  const column = columnOf(name);
  const sql = `to_char(r.${column}, 'YYYY-MM-DD')`;
  return { name, type: 'date', nullable: false, typed: true, column, sql };
}

function timestamp(name: string): RecordField {
  const column = columnOf(name);
  return {
    name,
    type: 'timestamp',
    nullable: false,
    typed: true,
    column,
    sql: timestampSql(`r.${column}`),
  };
}

/** An array of texts. */
function texts(name: string): RecordField {
  const column = columnOf(name);
  const sql = `array_to_json(r.${column})`;
  return { name, type: 'json', nullable: false, column, sql: `nullif(${sql}::text, '[]')` };
}

/** An array of `{id, name}` in a jsonb column, written as compactly as every other cell. */
function references(name: string): RecordField {
  const column = columnOf(name);
  const sql = `case when r.${column} is not null then (
    select '[' || coalesce(string_agg(${referenceSql('e')}, ',' order by e.n), '') || ']'
    from rows from (jsonb_to_recordset(r.${column}) as (id bigint, name text))
      with ordinality as e (id, name, n)) end`;
  return { name, type: 'json', nullable: true, column, sql };
}

/** `{id, name}` of the joined row `alias`; null when the join found none. */
function reference(name: string, alias: string): RecordField {
  return { name, type: 'json', nullable: true, sql: referenceSql(alias) };
}

function nullable(field: RecordField): RecordField {
  return { ...field, nullable: true };
}

function long(field: RecordField): RecordField {
  return { ...field, long: true };
}

function timestampSql(expression: string): string {
  return `to_char(${expression}, 'YYYY-MM-DD"T"HH24:MI:SS')`;
}

/** Null when the row is absent, because `||` with a null is null. */
function referenceSql(alias: string): string {
  return `'{"id":' || ${alias}.id || ',"name":' || to_json(${alias}.name) || '}'`;
}

/** The city object of the specification, in its order. */
const citySql = `'{"id":' || city.id || ',"name":' || to_json(city.name)
  || ',"countryId":' || city.country_id
  || ',"countries":' || coalesce(${referenceSql('city_country')}, 'null')
  || ',"regionId":' || city.region_id
  || ',"regions":' || coalesce(${referenceSql('city_region')}, 'null')
  || ',"createdAt":"' || ${timestampSql('city.created_at')} || '"}'`;

const cities: RecordField = { name: 'cities', type: 'json', nullable: true, sql: citySql };

/** The city of a person whose city is unknown: the specification has an object there, never null. */
const unknownCity = {
  id: 0,
  name: '',
  countryId: 0,
  countries: null,
  regionId: 0,
  regions: null,
  createdAt: '1970-01-01T00:00:00',
};

/** The person record: the specification's fields in the specification's order. */
export const personFields: readonly RecordField[] = [
  integer('id'),
  timestamp('createdAt'),
  timestamp('whenUpdated'),
  text('title'),
  text('name'),
  text('surname'),
  text('gender'),
  nullable(date('birthDate')),
  integer('birthYear'),
  nullable(text('domain')),
  text('email'),
  text('workEmail'),
  text('professional_network'),
  integer('professional_networkConnections'),
  nullable(text('professional_networkStatus')),
  nullable(text('twitter')),
  nullable(text('twitterStatus')),
  text('social_aId'),
  text('social_aUsername'),
  nullable(text('social_aStatus')),
  integer('industryId'),
  long(reference('industries', 'industry')),
  text('position'),
  integer('positionId'),
  long(reference('positions', 'job_position')),
  long(text('experience')),
  text('inferredSalary'),
  integer('inferredYearsExperience'),
  long(text('skills')),
  long(text('summary')),
  nullable(text('school')),
  nullable(text('profileLanguage')),
  text('language'),
  long(nullable(text('serviceCategories'))),
  text('pastCompany'),
  nullableInteger('pastCompanyId'),
  references('pastCompanies'),
  integer('companyId'),
  reference('company', 'employer'),
  nullableInteger('currentCompanyId'),
  references('currentCompanies'),
  text('locality'),
  typedText('locationGeo'),
  text('street'),
  nullable(text('postcode')),
  nullable(text('ipAddress')),
  integer('cityId'),
  long({ ...cities, nullable: false, absent: unknownCity }),
  integer('countryId'),
  long(reference('countries', 'country')),
  nullableInteger('regionId'),
  long(reference('regions', 'region')),
  typedText('phone'),
  nullable(typedText('mobile')),
  nullable(text('phoneStatus')),
  nullable(text('mobileStatus')),
  nullable(text('emailStatus')),
  nullable(text('workEmailStatus')),
  integer('dataSourceType'),
  integer('statusType'),
  integer('bounceResponseType'),
  long(nullable(text('profileImage'))),
  long(nullable(text('profileImageMapping'))),
  long(nullable(text('lastPost'))),
  nullable(timestamp('lastPostDate')),
];

/** The company record. */
export const companyFields: readonly RecordField[] = [
  integer('id'),
  timestamp('createdAt'),
  timestamp('whenUpdated'),
  text('name'),
  nullable(text('domain')),
  nullable(text('website')),
  nullable(text('professional_network')),
  nullable(text('registryNumber')),
  nullable(text('registryCountry')),
  nullable(typedText('phone')),
  nullable(text('email')),
  nullable(text('twitter')),
  nullableInteger('industryId'),
  reference('industries', 'industry'),
  nullable(text('headCount')),
  nullableInteger('employees'),
  nullable(text('founded')),
  nullable(text('summary')),
  nullable(text('logo')),
  nullable(text('street')),
  nullable(text('postcode')),
  nullable(text('locality')),
  nullable(typedText('locationGeo')),
  nullableInteger('cityId'),
  cities,
  nullableInteger('regionId'),
  reference('regions', 'region'),
  nullableInteger('countryId'),
  reference('countries', 'country'),
  texts('domains'),
  texts('aliases'),
  texts('formerNames'),
  texts('sicCodes'),
];

const referenceMembers: Readonly<Record<string, FieldType>> = { id: 'integer', name: 'text' };

/**
 * The values inside the objects of records: type by path, by field. Filters compare them, and `fields` selects them as
 * values of their own. `pastCompanies` and `currentCompanies` are lists of references.
 */
export const objectMembers: Readonly<Record<string, Readonly<Record<string, FieldType>>>> = {
  industries: referenceMembers,
  positions: referenceMembers,
  countries: referenceMembers,
  regions: referenceMembers,
  company: referenceMembers,
  pastCompanies: referenceMembers,
  currentCompanies: referenceMembers,
  cities: {
    ...referenceMembers,
    countryId: 'integer',
    'countries.id': 'integer',
    'countries.name': 'text',
    regionId: 'integer',
    'regions.id': 'integer',
    'regions.name': 'text',
    createdAt: 'timestamp',
  },
};
