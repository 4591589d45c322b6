import { useState } from 'preact/hooks';
import { countOf } from '../format.ts';
import { fieldGroups } from '../search/person-fields.ts';

interface FieldsChooserProps {
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
const groups = [...fieldGroups, plainGroup];
const recordNames = fieldGroups.flatMap(({ fields }) => Object.keys(fields));
const names = groups.flatMap(({ fields }) => Object.keys(fields));

/** The columns that most people look for, with plain cells only. */
const mainColumns = [
  ...['name', 'surname', 'position', 'company.name', 'workEmail', 'email', 'mobile', 'phone'],
  ...['professional_network', 'city', 'region', 'country', 'industry', 'skills'],
];

const ways = [
  { way: 'all', label: 'All' },
  { way: 'main', label: 'Main' },
  { way: 'chosen', label: 'Chosen' },
] as const;
type Way = (typeof ways)[number]['way'];

/** Which columns the file has. */
export function FieldsChooser({ fields, onChange, error }: FieldsChooserProps) {
  const [way, setWay] = useState<Way>(() => wayOf(fields));
  const chosen = new Set((fields ?? recordNames).map((name) => name.replace(/^person\./, '')));
  const choose = (next: Way) => {
    setWay(next);
    onChange(next === 'all' ? null : next === 'main' ? [...mainColumns] : [...chosen]);
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
        {countOf(chosen.size, 'column')}. The price is the same whatever the columns are.
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

function wayOf(fields: readonly string[] | null): Way {
  if (fields === null) return 'all';
  const isMain =
    fields.length === mainColumns.length && mainColumns.every((name) => fields.includes(name));
  return isMain ? 'main' : 'chosen';
}

interface ColumnGroupProps {
  group: (typeof fieldGroups)[number];
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
