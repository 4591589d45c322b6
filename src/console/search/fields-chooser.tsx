import { useState } from 'preact/hooks';
import { countOf } from '../format.ts';
import { fieldGroups } from './person-fields.ts';

/** The columns that a file can have. */
export interface ColumnSet {
  groups: readonly { label: string; fields: Readonly<Record<string, string>> }[];
  /** The columns that most people look for, with plain cells only. */
  essentials: readonly string[];
  /** The columns of a file without a choice. */
  all: readonly string[];
}

interface FieldsChooserProps {
  columns?: ColumnSet;
  /** Null for all. */
  fields: readonly string[] | null;
  onChange: (fields: string[] | null) => void;
  error: string | undefined;
}

/** Values inside the objects of the record, as columns of their own. */
const plainGroup = {
  label: 'Plain values',
  fields: {
    'company.name': 'Company name',
    city: 'City name',
    region: 'Region name',
    country: 'Country name',
    industry: 'Industry name',
  },
};

export const peopleColumns: ColumnSet = {
  groups: [...fieldGroups, plainGroup],
  essentials: [
    ...['name', 'surname', 'position', 'company.name', 'workEmail', 'email', 'mobile', 'phone'],
    ...['professional_network', 'city', 'region', 'country', 'industry', 'skills'],
  ],
  all: fieldGroups.flatMap(({ fields }) => Object.keys(fields)),
};

const ways = [
  { way: 'all', label: 'All fields' },
  { way: 'main', label: 'Essentials' },
  { way: 'chosen', label: 'Custom' },
] as const;
type Way = (typeof ways)[number]['way'];

/** Which columns the file has. */
export function FieldsChooser(props: FieldsChooserProps) {
  const { columns = peopleColumns, fields, onChange, error } = props;
  const { groups, essentials, all } = columns;
  const names = groups.flatMap((group) => Object.keys(group.fields));
  const [way, setWay] = useState<Way>(() => wayOf(fields, essentials));
  // The service takes a name with its record, too.
  const named = (name: string) => (names.includes(name) ? name : name.replace(/^person\./, ''));
  const chosen = new Set((fields ?? all).map(named));
  const choose = (next: Way) => {
    setWay(next);
    // A choice begins with the essential columns rather than with all of them.
    const beginsAnew = next === 'main' || fields === null;
    onChange(next === 'all' ? null : beginsAnew ? [...essentials] : [...chosen]);
  };
  const change = (some: readonly string[], isChosen: boolean) =>
    onChange(names.filter((name) => (some.includes(name) ? isChosen : chosen.has(name))));
  return (
    <fieldset class="stack tight" aria-describedby="fields-hint">
      <legend class="field-legend">Columns</legend>
      <div class="choice columns-choice">
        {ways.map(({ way: one, label }) => (
          <label key={one}>
            <input type="radio" name="columns" checked={way === one} onChange={() => choose(one)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
      <p class="hint" id="fields-hint">
        {countOf(chosen.size, 'column')}. The price doesn’t depend on columns.
      </p>
      {way === 'chosen' && (
        <div class="column-groups">
          {groups.map((group) => (
            <ColumnGroup key={group.label} group={group} chosen={chosen} onChange={change} />
          ))}
        </div>
      )}
      {error && <p class="error">{error}</p>}
    </fieldset>
  );
}

function wayOf(fields: readonly string[] | null, essentials: readonly string[]): Way {
  if (fields === null) return 'all';
  const isMain =
    fields.length === essentials.length && essentials.every((name) => fields.includes(name));
  return isMain ? 'main' : 'chosen';
}

interface ColumnGroupProps {
  group: ColumnSet['groups'][number];
  chosen: ReadonlySet<string>;
  onChange: (names: readonly string[], isChosen: boolean) => void;
}

function ColumnGroup({ group: { label, fields }, chosen, onChange }: ColumnGroupProps) {
  const own = Object.keys(fields);
  const isWhole = own.every((name) => chosen.has(name));
  return (
    <fieldset>
      <legend class="column-legend">
        {label}
        <button type="button" class="link-button" onClick={() => onChange(own, !isWhole)}>
          {isWhole ? 'None' : 'All'} <span class="unseen">of {label}</span>
        </button>
      </legend>
      <div class="checks">
        {Object.entries(fields).map(([name, field]) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosen.has(name)}
              onChange={(event) => onChange([name], event.currentTarget.checked)}
            />
            {field}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
