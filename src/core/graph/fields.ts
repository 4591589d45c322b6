/**
 * The fields of the records in the order of the API: one row per field. The SQL of the stored record, JSON bodies,
 * output columns and their types all derive from these two tables.
 */

/** Type of a cell of a stored record; a `json` cell is an object or an array. */
export type FieldType = 'text' | 'integer' | 'date' | 'timestamp' | 'json';

export interface RecordField {
  /** Name in the API (camelCase, as in the specification). */
  name: string;
  /** The value in a few words, for the API's document. */
  description: string;
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

/** A field before it is described. */
type CellField = Omit<RecordField, 'description'>;

function about(description: string, field: CellField): RecordField {
  return { ...field, description };
}

/** Column of a field: `social_aId` is `social_a_id`. */
function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function text(name: string): CellField {
  const column = columnOf(name);
  return { name, type: 'text', nullable: false, column, sql: `r.${column}` };
}

/** Text whose form the import has checked: a phone number or a geo point. */
function typedText(name: string): CellField {
  return { ...text(name), typed: true };
}

/** A number whose column holds 0 when it is unknown: its cell is empty then, like that of any unknown value. */
function integer(name: string): CellField {
  const column = columnOf(name);
  const sql = `nullif(r.${column}, 0)`;
  return { name, type: 'integer', nullable: false, typed: true, column, sql };
}

/** A number whose column is null when it is unknown. */
function nullableInteger(name: string): CellField {
  const field = integer(name);
  return { ...field, nullable: true, sql: `r.${field.column}` };
}

function date(name: string): CellField {
  const column = columnOf(name);
  const sql = `to_char(r.${column}, 'YYYY-MM-DD')`;
  return { name, type: 'date', nullable: false, typed: true, column, sql };
}

function timestamp(name: string): CellField {
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

function texts(name: string): CellField {
  const column = columnOf(name);
  const sql = `array_to_json(r.${column})`;
  return { name, type: 'json', nullable: false, column, sql: `nullif(${sql}::text, '[]')` };
}

/** An array of `{id, name}` in a jsonb column, written as compactly as every other cell. */
function references(name: string): CellField {
  const column = columnOf(name);
  const sql = `case when r.${column} is not null then (
    select '[' || coalesce(string_agg(${referenceSql('e')}, ',' order by e.n), '') || ']'
    from rows from (jsonb_to_recordset(r.${column}) as (id bigint, name text))
      with ordinality as e (id, name, n)) end`;
  return { name, type: 'json', nullable: true, column, sql };
}

/** The object that the join of `alias` renders; null when it found no row. */
function reference(name: string, alias: string): CellField {
  return { name, type: 'json', nullable: true, sql: `${alias}.object` };
}

function nullable(field: CellField): CellField {
  return { ...field, nullable: true };
}

function long(field: CellField): CellField {
  return { ...field, long: true };
}

function timestampSql(expression: string): string {
  return `to_char(${expression}, 'YYYY-MM-DD"T"HH24:MI:SS')`;
}

/** `{id, name}` of the row `alias`. Null when the row is absent, because `||` with a null is null. */
export function referenceSql(alias: string): string {
  return `'{"id":' || ${alias}.id || ',"name":' || to_json(${alias}.name) || '}'`;
}

/** The city object of the specification, in its order. */
export const citySql = `'{"id":' || city.id || ',"name":' || to_json(city.name)
  || ',"countryId":' || city.country_id
  || ',"countries":' || coalesce(${referenceSql('city_country')}, 'null')
  || ',"regionId":' || city.region_id
  || ',"regions":' || coalesce(${referenceSql('city_region')}, 'null')
  || ',"createdAt":"' || ${timestampSql('city.created_at')} || '"}'`;

const cities = reference('cities', 'city');

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

const employer: CellField = {
  name: 'company',
  type: 'json',
  nullable: true,
  sql: referenceSql('employer'),
};

/** The person record: the specification's fields in the specification's order. */
export const personFields: readonly RecordField[] = [
  about('Id of the person', integer('id')),
  about('Time at which the record was created, without a zone', timestamp('createdAt')),
  about('Time of the last change, without a zone', timestamp('whenUpdated')),
  about('Form of address, such as Dr', text('title')),
  about('Given name', text('name')),
  about('Family name', text('surname')),
  about('`male` or `female`', text('gender')),
  about('Date of birth', nullable(date('birthDate'))),
  about('Year of birth; 0 when unknown', integer('birthYear')),
  about('Domain of the person’s own website', nullable(text('domain'))),
  about('Personal or primary email address', text('email')),
  about('Work email address', text('workEmail')),
  about('Handle of the professional profile', text('professional_network')),
  about(
    'Number of connections of the professional profile; 0 when unknown',
    integer('professional_networkConnections'),
  ),
  about('Status of the professional profile', nullable(text('professional_networkStatus'))),
  about('Microblog handle', nullable(text('twitter'))),
  about('Status of the microblog handle', nullable(text('twitterStatus'))),
  about('Id in the social network', text('social_aId')),
  about('User name in the social network', text('social_aUsername')),
  about('Status of the social profile', nullable(text('social_aStatus'))),
  about('Id of the industry; 0 when unknown', integer('industryId')),
  about('Industry, with its name', long(reference('industries', 'industry'))),
  about('Current job title, in the person’s own words', text('position')),
  about('Id of the job title; 0 when unknown', integer('positionId')),
  about('Job title, with its name', long(reference('positions', 'job_position'))),
  about('Past roles, as free text', long(text('experience'))),
  about('Estimated yearly salary, `<min>-<max>`', text('inferredSalary')),
  about('Estimated years of experience; 0 when unknown', integer('inferredYearsExperience')),
  about('Skills, separated by commas', long(text('skills'))),
  about('Summary of the profile', long(text('summary'))),
  about('School or university', nullable(text('school'))),
  about('Language of the profile', nullable(text('profileLanguage'))),
  about('Languages, as a text', text('language')),
  about('Services that the person offers', long(nullable(text('serviceCategories')))),
  about('Name of a past employer', text('pastCompany')),
  about('Id of that past employer', nullableInteger('pastCompanyId')),
  about('Past employers', references('pastCompanies')),
  about('Id of the current employer; 0 when unknown', integer('companyId')),
  about('Current employer, with its name', employer),
  about('Id of another current employer', nullableInteger('currentCompanyId')),
  about('Current employers', references('currentCompanies')),
  about('Place, `<city>, <region>, <country>`', text('locality')),
  about('Latitude and longitude in degrees, separated by a comma', typedText('locationGeo')),
  about('Street and number', text('street')),
  about('Postcode', nullable(text('postcode'))),
  about('IP address', nullable(text('ipAddress'))),
  about('Id of the city; 0 when unknown', integer('cityId')),
  about(
    'City, with its region and country; id 0 when unknown',
    long({ ...cities, nullable: false, absent: unknownCity }),
  ),
  about('Id of the country; 0 when unknown', integer('countryId')),
  about('Country, with its name', long(reference('countries', 'country'))),
  about('Id of the region', nullableInteger('regionId')),
  about('Region, with its name', long(reference('regions', 'region'))),
  about('Phone number in E.164 form, with a plus', typedText('phone')),
  about('Mobile number in E.164 form, with a plus', nullable(typedText('mobile'))),
  about('Status of the phone number', nullable(text('phoneStatus'))),
  about('Status of the mobile number', nullable(text('mobileStatus'))),
  about('Status of the personal address', nullable(text('emailStatus'))),
  about(
    'Status of the work address, such as `valid` or `catch_all`',
    nullable(text('workEmailStatus')),
  ),
  about('Code of the source, as imported', integer('dataSourceType')),
  about('Code of the record’s status, as imported', integer('statusType')),
  about('Code of the last bounce, as imported', integer('bounceResponseType')),
  about('Address of the profile image', long(nullable(text('profileImage')))),
  about('Key of the stored profile image', long(nullable(text('profileImageMapping')))),
  about('Text of the last post', long(nullable(text('lastPost')))),
  about('Time of the last post, without a zone', nullable(timestamp('lastPostDate'))),
];

export const companyFields: readonly RecordField[] = [
  about('Id of the company', integer('id')),
  about('Time at which the record was created, without a zone', timestamp('createdAt')),
  about('Time of the last change, without a zone', timestamp('whenUpdated')),
  about('Name of the company', text('name')),
  about('Main domain', nullable(text('domain'))),
  about('Address of the website', nullable(text('website'))),
  about('Handle of the company’s professional profile', nullable(text('professional_network'))),
  about('Number in the company register', nullable(text('registryNumber'))),
  about('Country of the register, two letters', nullable(text('registryCountry'))),
  about('Phone number in E.164 form, with a plus', nullable(typedText('phone'))),
  about('Email address', nullable(text('email'))),
  about('Microblog handle', nullable(text('twitter'))),
  about('Id of the industry', nullableInteger('industryId')),
  about('Industry, with its name', reference('industries', 'industry')),
  about('Range of employees, such as `50-249`', nullable(text('headCount'))),
  about('Number of employees', nullableInteger('employees')),
  about('Year or date of foundation', nullable(text('founded'))),
  about('Description of the company', nullable(text('summary'))),
  about('Address of the logo', nullable(text('logo'))),
  about('Street and number', nullable(text('street'))),
  about('Postcode', nullable(text('postcode'))),
  about('Place, `<city>, <region>, <country>`', nullable(text('locality'))),
  about(
    'Latitude and longitude in degrees, separated by a comma',
    nullable(typedText('locationGeo')),
  ),
  about('Id of the city', nullableInteger('cityId')),
  about('City, with its region and country', cities),
  about('Id of the region', nullableInteger('regionId')),
  about('Region, with its name', reference('regions', 'region')),
  about('Id of the country', nullableInteger('countryId')),
  about('Country, with its name', reference('countries', 'country')),
  about('Further domains', texts('domains')),
  about('Further names', texts('aliases')),
  about('Former names', texts('formerNames')),
  about('Codes of the standard industrial classification (SIC)', texts('sicCodes')),
  about('State in the words of the register, `Dissolved` when it ended', nullable(text('status'))),
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
