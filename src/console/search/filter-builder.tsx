/** The form of a filter: a control for each thing that people ask for, rows for all other fields, its text. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Calls } from '../../client/api-types.ts';
import { Combobox, type Option } from '../components/combobox.tsx';
import type { Problem } from '../problem.ts';
import { useAsTyped } from '../use-as-typed.ts';
import { useResource } from '../use-call.ts';
import { ChoiceGroup } from './choice-group.tsx';
import { conditionError } from './condition-error.ts';
import { suggestCountries } from './countries.ts';
import { type Control, type ControlName, controls, findControl } from './filter-fields.ts';
import { placeLabel, readForm, writePlace } from './filter-form.ts';
import { FilterRows } from './filter-rows.tsx';
import { withValue, writeItems } from './filter-text.ts';
import { FilterTextEditor } from './filter-text-editor.tsx';
import { type Lookup, lookupOf, lookupPath, toOptions, useNamed } from './lookups.ts';
import { RangeList, type UsualRange } from './range-list.tsx';

interface FilterBuilderProps {
  filter: string;
  onChange: (filter: string) => void;
  /** The service's problem with the present filter. */
  problem: Problem | null;
}

const sections: readonly { title: string; names: readonly ControlName[] }[] = [
  {
    title: 'Work',
    names: ['positionList', 'positionIds', 'industryIds', 'skills', 'experience', 'salary'],
  },
  { title: 'Company', names: ['companyId', 'headCount'] },
  { title: 'Location', names: ['locationIds', 'locationList'] },
  { title: 'Person', names: ['ageRange', 'gender'] },
  { title: 'Contact data', names: ['emailTypeId', 'phoneTypeId', 'isX', 'isFB'] },
  {
    title: 'Exclude',
    names: [
      ...(['not.companyId', 'not.positionList', 'not.industryIds', 'not.locationList'] as const),
      ...(['not.owned', 'not.positionIds', 'not.industryList', 'not.locationIds'] as const),
      ...(['not.headCount', 'not.skills'] as const),
    ],
  },
];

/** Controls that are shown only when the filter has their values: others ask for the same. */
const shownWhenSet: ReadonlySet<ControlName> = new Set<ControlName>([
  'positionIds',
  'not.positionIds',
  'not.industryList',
  'not.locationIds',
  'not.headCount',
  'not.skills',
]);

export function FilterBuilder({ filter, onChange, problem }: FilterBuilderProps) {
  const { values } = readForm(filter);
  const me = useResource<Calls['GET /v1/me']['response']>('/v1/me');
  const ownsPeople = (me.data?.owned_days ?? 0) > 0;
  return (
    <div class="stack builder">
      {sections.map(({ title, names }) => (
        <Section key={title} title={title}>
          <div class="fields">
            {names
              .filter((name) => values.has(name) || !shownWhenSet.has(name))
              .filter((name) => values.has(name) || name !== 'not.owned' || ownsPeople)
              .map((name) => (
                <FilterControl
                  key={name}
                  name={name}
                  values={values.get(name) ?? []}
                  error={values.has(name) ? conditionError(problem, filter, name) : undefined}
                  onChange={(next) => onChange(withValue(filter, name, writeItems(next)))}
                />
              ))}
          </div>
        </Section>
      ))}
      <Section title="More filters">
        <FilterRows filter={filter} onChange={onChange} problem={problem} />
      </Section>
      <Section title="Advanced query">
        <FilterTextEditor filter={filter} onChange={onChange} problem={problem} />
      </Section>
    </div>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  const id = `section-${title.replaceAll(' ', '-').toLowerCase()}`;
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface FilterControlProps {
  name: ControlName;
  values: readonly string[];
  error: string | undefined;
  onChange: (values: string[]) => void;
}

const hints: Partial<Record<ControlName, string>> = {
  positionList: 'Any of these titles. Pick a suggestion, or type another one.',
  skills: 'People must have all of these skills.',
  companyId: 'Current employer, by name or domain.',
  locationList: 'A country, or a city and its country: Lyon:France.',
  salary: 'Estimated salary range overlaps.',
};

const ranges = (...usual: string[]): UsualRange[] => usual.map((range) => ({ range }));

const companySizes = ['1-9', '10-49', '50-249', '250-999', '1000-'];

const usualRanges: Partial<Record<ControlName, readonly UsualRange[]>> = {
  experience: ranges('1-2', '3-5', '6-9', '10-'),
  salary: [
    { range: '0-24999', label: 'below 25k' },
    { range: '25000-44999', label: '25k – 45k' },
    { range: '45000-69999', label: '45k – 70k' },
    { range: '70000-99999', label: '70k – 100k' },
    { range: '100000-', label: '100k and more' },
  ],
  headCount: ranges(...companySizes),
  'not.headCount': ranges(...companySizes),
  ageRange: ranges('18-24', '25-34', '35-44', '45-54', '55-64', '65-'),
};

function FilterControl(props: FilterControlProps) {
  const control = findControl(props.name) ?? controls[0];
  const { name, label, choices = [] } = control as Control & { name: ControlName };
  const shared = { ...props, id: `filter-${name}`, label, hint: hints[name] };
  switch (control.kind) {
    case 'ranges':
      return <RangeList {...shared} usual={usualRanges[name] ?? []} />;
    case 'choices':
      return <ChoiceGroup {...shared} choices={choices} />;
    case 'places':
      return <PlaceField {...shared} />;
    case 'texts':
      return name.endsWith('positionList') ? (
        <TitleField {...shared} />
      ) : (
        <TextsField {...shared} />
      );
    case 'ids':
      return name in lookupOf ? <LookupField {...shared} /> : <TextsField {...shared} />;
  }
}

interface ValuesFieldProps extends FilterControlProps {
  id: string;
  label: string;
  hint: string | undefined;
}

const asOption = (value: string): Option => ({ value, label: value });
const asOne = (typed: string) => [typed.trim()];
const asIds = (typed: string) => typed.split(/[\s,;|]+/);

/** Values that are typed. */
function TextsField({ id, name, label, hint, error, values, onChange }: ValuesFieldProps) {
  return (
    <Combobox
      id={id}
      label={label}
      hint={hint}
      error={error}
      placeholder="Type and press Enter"
      chosen={values.map(asOption)}
      onChange={onChange}
      toValues={findControl(name)?.kind === 'ids' ? asIds : asOne}
    />
  );
}

/** Values that are looked up and named by their ids. */
function LookupField({ id, name, label, hint, error, values, onChange }: ValuesFieldProps) {
  const kind = lookupOf[name] ?? 'job-titles';
  const [text, setText] = useState<string | null>(null);
  const found = useAsTyped<Lookup>(text === null ? null : lookupPath(kind, text));
  const chosen = useNamed(kind, values);
  return (
    <Combobox
      id={id}
      label={label}
      hint={hint}
      error={error}
      placeholder="Type to look up"
      chosen={chosen}
      onChange={onChange}
      onText={setText}
      suggestions={{ ...found, options: toOptions(kind, found.data?.data ?? []) }}
    />
  );
}

/** Titles as they are written: those that are known are suggested, others may be typed. */
function TitleField({ id, label, hint, error, values, onChange }: ValuesFieldProps) {
  const [text, setText] = useState<string | null>(null);
  const found = useAsTyped<Lookup>(text === null ? null : lookupPath('job-titles', text));
  const options = (found.data?.data ?? []).map(({ name }) => asOption(name));
  return (
    <Combobox
      id={id}
      label={label}
      hint={hint}
      error={error}
      placeholder="Type a title"
      chosen={values.map(asOption)}
      onChange={onChange}
      onText={setText}
      suggestions={{ ...found, options }}
      toValues={asOne}
    />
  );
}

/** Countries, which are suggested, and cities inside one, which are typed. */
function PlaceField({ id, label, hint, error, values, onChange }: ValuesFieldProps) {
  const [text, setText] = useState<string | null>(null);
  const options = text === null || text.trim() === '' ? [] : suggestCountries(text);
  return (
    <Combobox
      id={id}
      label={label}
      hint={hint}
      error={error}
      placeholder="Type a country"
      chosen={values.map((value) => ({ value, label: placeLabel(value) }))}
      onChange={onChange}
      onText={setText}
      suggestions={{ options, isSettled: true, problem: null }}
      toValues={(typed) => [writePlace(typed)]}
    />
  );
}
