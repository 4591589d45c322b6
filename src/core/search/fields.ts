/**
 * The parameters of person search: those of the specification, one row each, and every field of the person record,
 * derived from the field table. The kind of each parameter is defined only here.
 */
import { type FieldType, objectMembers, personFields } from '../graph/fields.ts';

/** Syntax and meaning of a parameter's values. */
export type ParameterKind =
  /** Whole text, folded. */
  | 'text'
  /** A number or a range of numbers. */
  | 'integer'
  /** Ids, which may also be separated by commas. */
  | 'ids'
  /** A day, a time, or a range of them. */
  | 'time'
  /** An object: only its presence. */
  | 'object'
  /** Words that must all occur in a text. */
  | 'words'
  /** All of these. */
  | 'skills'
  /** 1 or 2, or a word for each. */
  | 'choice'
  /** Ranges that overlap a range of the record; numbers may hold thousands separators. */
  | 'overlap'
  /** Ranges of years of age. */
  | 'age'
  /** `<city>:<country>`. */
  | 'place'
  /** `1`: people whom the account owns. */
  | 'owned';

/** A value inside an object of the record, such as the name of a company's industry. */
export interface ObjectPath {
  /** Field of the record that holds the object. */
  object: string;
  /** Names below it: `['countries', 'name']`. */
  path: readonly string[];
}

export interface SearchParameter {
  name: string;
  kind: ParameterKind;
  /** Field of the record that is tested: for presence, and for values of the plain kinds. */
  field: string;
  /** For values inside an object. */
  inside?: ObjectPath;
  /** For `choice`: the meaning of each value. */
  choices?: Readonly<Record<string, Choice>>;
  /** True when `*` and `null` test the presence of the field. */
  takesPresence: boolean;
  /** True when the people whom the values match are left out. */
  excludes?: true;
}

/** A choice tests a text of the field, or the presence of another field. */
export type Choice = { value: string } | { present: string };

/** Parameters of a page, which are not filters. */
export const pageParameterNames = [
  'limit',
  'skip',
  'cursor',
  'sort',
  'count',
  'partial',
  'fields',
] as const;
export type PageParameterName = (typeof pageParameterNames)[number];

const genders = {
  '1': { value: 'male' },
  male: { value: 'male' },
  '2': { value: 'female' },
  female: { value: 'female' },
};

const special: Omit<SearchParameter, 'takesPresence'>[] = [
  { name: 'locationIds', kind: 'ids', field: 'cityId' },
  { name: 'industryIds', kind: 'ids', field: 'industryId' },
  { name: 'positionIds', kind: 'ids', field: 'positionId' },
  {
    name: 'emailTypeId',
    kind: 'choice',
    field: 'email',
    choices: { '1': { present: 'workEmail' }, '2': { present: 'email' } },
  },
  {
    name: 'phoneTypeId',
    kind: 'choice',
    field: 'phone',
    choices: { '1': { present: 'mobile' }, '2': { present: 'phone' } },
  },
  { name: 'locationList', kind: 'place', field: 'cities' },
  {
    name: 'industryList',
    kind: 'text',
    field: 'industries',
    inside: { object: 'industries', path: ['name'] },
  },
  { name: 'positionList', kind: 'text', field: 'positionName' },
  {
    name: 'isFB',
    kind: 'choice',
    field: 'social_aId',
    choices: { '1': { present: 'social_aId' } },
  },
  { name: 'isX', kind: 'choice', field: 'twitter', choices: { '1': { present: 'twitter' } } },
  { name: 'headCount', kind: 'overlap', field: 'headCount' },
  { name: 'ageRange', kind: 'age', field: 'birthYear' },
  { name: 'salary', kind: 'overlap', field: 'inferredSalary' },
];

/** Fields of the record whose values the specification reads in its own way. */
const ownKinds: Readonly<Record<string, Partial<SearchParameter>>> = {
  companyId: { kind: 'ids' },
  gender: { kind: 'choice', choices: genders },
  skills: { kind: 'skills' },
  // Years, by the specification; the text is `experience.text`.
  experience: { kind: 'integer', field: 'inferredYearsExperience', takesPresence: false },
};

const kindOf: Record<FieldType, ParameterKind> = {
  text: 'text',
  integer: 'integer',
  date: 'time',
  timestamp: 'time',
  json: 'object',
};

function fieldParameters(): SearchParameter[] {
  return personFields.map(({ name, type }) => {
    return { name, kind: kindOf[type], field: name, takesPresence: true, ...ownKinds[name] };
  });
}

function memberParameters(): SearchParameter[] {
  return Object.entries(objectMembers).flatMap(([object, members]) =>
    Object.entries(members).map(([member, type]) => ({
      name: `${object}.${member}`,
      kind: kindOf[type],
      field: object,
      inside: { object, path: member.split('.') },
      takesPresence: true,
    })),
  );
}

/** The filters of groups whose people can be left out, as `not.companyId=[1|2]`. */
export const excludable: ReadonlySet<string> = new Set([
  'companyId',
  'positionIds',
  'positionList',
  'position.text',
  'industryIds',
  'industryList',
  'locationIds',
  'locationList',
  'headCount',
  'skills',
]);

const EXCLUSION = 'not.';

/** The exclusions: those of other filters, and people whom the account owns. */
function exclusions(included: readonly SearchParameter[]): SearchParameter[] {
  const owned = { name: 'owned', kind: 'owned', field: 'id', takesPresence: false } as const;
  const inverted = included.filter(({ name }) => excludable.has(name));
  return [...inverted, owned].map((parameter) => ({
    ...parameter,
    name: `${EXCLUSION}${parameter.name}`,
    takesPresence: false,
    excludes: true,
  }));
}

const included: readonly SearchParameter[] = [
  ...special.map((parameter) => ({ ...parameter, takesPresence: false })),
  ...fieldParameters(),
  ...(['experience', 'position'] as const).map((field) => ({
    name: `${field}.text`,
    kind: 'words' as const,
    field,
    takesPresence: true,
  })),
  ...memberParameters(),
];

/** Every filter by its name. */
export const searchParameters: ReadonlyMap<string, SearchParameter> = new Map(
  [...included, ...exclusions(included)].map((parameter) => [parameter.name, parameter]),
);
