/** The parameters of a filter: those that have a control of their own, and all others. */
import { type FieldKind, fieldGroups, fieldKind, fieldLabel } from './person-fields.ts';

/** How a control shows the values of its parameter. */
export type ControlKind = 'ids' | 'texts' | 'places' | 'ranges' | 'choices';

export interface Choice {
  value: string;
  label: string;
  /** Another way to write it. */
  alias?: string;
}

export interface Control {
  name: string;
  label: string;
  kind: ControlKind;
  /** For `choices`. */
  choices?: readonly Choice[];
}

const gender: readonly Choice[] = [
  { value: 'female', alias: '2', label: 'Female' },
  { value: 'male', alias: '1', label: 'Male' },
];

/** The parameters with a control of their own, in the order in which they are told. */
export const controls = [
  { name: 'positionList', label: 'Job title', kind: 'texts' },
  { name: 'positionIds', label: 'Job titles by id', kind: 'ids' },
  { name: 'industryIds', label: 'Industries', kind: 'ids' },
  { name: 'skills', label: 'Skills', kind: 'texts' },
  { name: 'experience', label: 'Years of experience', kind: 'ranges' },
  { name: 'salary', label: 'Salary', kind: 'ranges' },
  { name: 'headCount', label: 'Company size', kind: 'ranges' },
  { name: 'companyId', label: 'Company', kind: 'ids' },
  { name: 'locationIds', label: 'Cities', kind: 'ids' },
  { name: 'locationList', label: 'Location', kind: 'places' },
  { name: 'gender', label: 'Gender', kind: 'choices', choices: gender },
  { name: 'ageRange', label: 'Age', kind: 'ranges' },
  {
    name: 'emailTypeId',
    label: 'Email',
    kind: 'choices',
    choices: [
      { value: '1', label: 'Work email' },
      { value: '2', label: 'Private email' },
    ],
  },
  {
    name: 'phoneTypeId',
    label: 'Phone',
    kind: 'choices',
    choices: [
      { value: '1', label: 'Mobile' },
      { value: '2', label: 'Phone' },
    ],
  },
  {
    name: 'isX',
    label: 'X',
    kind: 'choices',
    choices: [{ value: '1', label: 'Has an X handle' }],
  },
  {
    name: 'isFB',
    label: 'Social network',
    kind: 'choices',
    choices: [{ value: '1', label: 'Has a social network id' }],
  },
  { name: 'not.companyId', label: 'Not at these companies', kind: 'ids' },
  { name: 'not.positionList', label: 'Not with these job titles', kind: 'texts' },
  { name: 'not.industryIds', label: 'Not in these industries', kind: 'ids' },
  { name: 'not.locationList', label: 'Not in these locations', kind: 'places' },
  {
    name: 'not.owned',
    label: 'Already owned',
    kind: 'choices',
    choices: [{ value: '1', label: 'Leave out people you already have' }],
  },
  { name: 'not.positionIds', label: 'Not with these job titles, by id', kind: 'ids' },
  { name: 'not.industryList', label: 'Not in these industries, by name', kind: 'texts' },
  { name: 'not.locationIds', label: 'Not in these cities', kind: 'ids' },
  { name: 'not.headCount', label: 'Not of these company sizes', kind: 'ranges' },
  { name: 'not.skills', label: 'Not with all of these skills', kind: 'texts' },
] as const satisfies readonly Control[];

export type ControlName = (typeof controls)[number]['name'];

export function findControl(name: string): Control | undefined {
  return controls.find((control) => control.name === name);
}

/** Questions about a field: has it one of some values, is it present, is it absent? */
export type Question = 'is' | 'present' | 'absent';

/** A parameter that is asked for in a row of its own. */
export interface FilterField {
  name: string;
  label: string;
  kind: FieldKind;
  questions: readonly Question[];
}

const presence: readonly Question[] = ['present', 'absent'];
const all: readonly Question[] = ['is', ...presence];

/** Fields whose values have a control: a row asks whether they are there. */
const controlled: ReadonlySet<string> = new Set(['gender', 'skills', 'companyId']);

function recordField(name: string): FilterField {
  const kind = fieldKind(name);
  const questions = kind === 'object' || controlled.has(name) ? presence : all;
  return { name, label: fieldLabel(name), kind, questions };
}

/** Values inside the objects of a record. */
const members: readonly FilterField[] = [
  ...['company', 'industries', 'positions', 'countries', 'regions'].flatMap(reference),
  ...['pastCompanies', 'currentCompanies', 'cities'].flatMap(reference),
  member('cities.countryId', 'City: country id', 'integer'),
  member('cities.countries.id', 'City: id of the country', 'integer'),
  member('cities.countries.name', 'City: name of the country', 'text'),
  member('cities.regionId', 'City: region id', 'integer'),
  member('cities.regions.id', 'City: id of the region', 'integer'),
  member('cities.regions.name', 'City: name of the region', 'text'),
  member('cities.createdAt', 'City: created', 'time'),
];

function reference(object: string): FilterField[] {
  return [
    member(`${object}.name`, `${fieldLabel(object)}: name`, 'text'),
    member(`${object}.id`, `${fieldLabel(object)}: id`, 'integer'),
  ];
}

function member(name: string, label: string, kind: FieldKind): FilterField {
  return { name, label, kind, questions: all };
}

/** The parameters that a row can ask for, in groups. `experience` itself is years, and has a control. */
export const rowFields: readonly { label: string; fields: readonly FilterField[] }[] = [
  ...fieldGroups.map(({ label, fields }) => ({
    label,
    fields: Object.keys(fields).flatMap((name) => {
      if (name === 'experience') return [member('experience.text', 'Past roles: words', 'words')];
      if (name !== 'position') return [recordField(name)];
      return [recordField(name), member('position.text', 'Job title: words', 'words')];
    }),
  })),
  { label: 'Inside', fields: members },
  {
    label: 'Leave out',
    fields: [
      {
        name: 'not.position.text',
        label: 'Job title without these words',
        kind: 'words',
        questions: ['is'],
      },
    ],
  },
  {
    label: 'By name',
    fields: [
      { name: 'industryList', label: 'Names of industries', kind: 'text', questions: ['is'] },
    ],
  },
];

const byName: ReadonlyMap<string, FilterField> = new Map(
  rowFields.flatMap(({ fields }) => fields.map((field) => [field.name, field])),
);

export function findRowField(name: string): FilterField | undefined {
  return byName.get(name);
}
