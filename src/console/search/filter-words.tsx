import { type ControlName, controls, findRowField } from './filter-fields.ts';
import { placeLabel, type Row, readForm } from './filter-form.ts';
import { ROWS_SHOWN_MAX } from './filter-rows.tsx';
import { lookupOf, useNamed } from './lookups.ts';
import { rangeLabel } from './range-list.tsx';

export function FilterWords({ filter }: { filter: string }) {
  const { values, rows } = readForm(filter);
  return (
    <dl class="filter-words">
      {controls.map(({ name, label }) => {
        const own = values.get(name);
        return own && <ControlWords key={name} name={name} label={label} values={own} />;
      })}
      {rows.slice(0, ROWS_SHOWN_MAX).map((row, place) => (
        <div key={place}>
          <dt>{findRowField(row.name)?.label ?? row.name}</dt>
          <dd>{rowWords(row)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A long list is told by its first ones. */
const SHOWN = 12;

function moreOf({ length }: readonly string[], or: string): string {
  return length > SHOWN ? `${or}${length - SHOWN} more` : '';
}

interface ControlWordsProps {
  name: ControlName;
  label: string;
  values: readonly string[];
}

function ControlWords({ name, label, values }: ControlWordsProps) {
  const named = useNamed(lookupOf[name] ?? 'job-titles', name in lookupOf ? values : []);
  const words = name in lookupOf ? named.map((option) => option.label) : values.map(wordsOf(name));
  const or = name === 'skills' || name === 'not.skills' ? ' and ' : ' or ';
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {words.slice(0, SHOWN).join(or)}
        {moreOf(words, or)}
      </dd>
    </div>
  );
}

function wordsOf(name: ControlName): (value: string) => string {
  const control = controls.find((one) => one.name === name);
  switch (control?.kind) {
    case 'ranges':
      return rangeLabel;
    case 'places':
      return placeLabel;
    case 'choices':
      return (value) => control.choices.find((choice) => choice.value === value)?.label ?? value;
    default:
      return (value) => value;
  }
}

function rowWords({ question, values, text }: Row): string {
  if (question === 'is') return values.slice(0, SHOWN).join(' or ') + moreOf(values, ' or ');
  if (question === 'written') return text;
  return question === 'present' ? 'is known' : 'is unknown';
}
