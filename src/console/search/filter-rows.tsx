import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Combobox } from '../components/combobox.tsx';
import { TextField } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import type { Problem } from '../problem.ts';
import { conditionError } from './condition-error.ts';
import { findRowField, type Question, rowFields } from './filter-fields.ts';
import { type Row, readForm, withRows, writeRows } from './filter-form.ts';
import { readFilter } from './filter-text.ts';
import type { FieldKind } from './person-fields.ts';

interface FilterRowsProps {
  filter: string;
  onChange: (filter: string) => void;
  problem: Problem | null;
}

/** More than there are fields. A link may have thousands, which the service refuses, and would take a browser minutes to draw. */
export const ROWS_SHOWN_MAX = 200;

const emptyRow: Row = { name: '', question: 'is', values: [], text: '', raw: null };

/** Conditions on any field, a row each, and whatever else a filter holds that has no control. */
export function FilterRows({ filter, onChange, problem }: FilterRowsProps) {
  const { rows: own } = readForm(filter);
  // A row that asks for nothing yet is no part of the filter; it stays while the others are those of it.
  const [edited, setEdited] = useState<readonly Row[]>([]);
  const rows = writeRows(edited) === writeRows(own) ? edited : own;
  const taken = new Set([...readFilter(filter), ...rows].map(({ name }) => name));
  const change = (next: readonly Row[]) => {
    setEdited(next);
    onChange(withRows(filter, next));
  };
  return (
    <div class="conditions">
      {rows.slice(0, ROWS_SHOWN_MAX).map((row, place) => (
        <RowEditor
          key={place}
          id={`condition-${place}`}
          number={place + 1}
          row={row}
          taken={taken}
          error={conditionError(problem, filter, row.name)}
          onChange={(next) => change(rows.with(place, { ...next, raw: null }))}
          onRemove={() => change(rows.toSpliced(place, 1))}
        />
      ))}
      <Button icon="plus" onClick={() => change([...rows, emptyRow])}>
        Add a condition
      </Button>
    </div>
  );
}

const questionWords: Record<Row['question'], string> = {
  is: 'is any of',
  present: 'is known',
  absent: 'is unknown',
  written: 'as it is written',
};

const valueHints: Partial<Record<FieldKind, string>> = {
  integer: 'A number, or a range such as 5-9 or 10-',
  time: 'A day, or from..to, as in 2026-01-01..2026-02-01',
  words: 'Words that must all be there',
};

interface RowEditorProps {
  id: string;
  number: number;
  row: Row;
  taken: ReadonlySet<string>;
  error: string | undefined;
  onChange: (row: Row) => void;
  onRemove: () => void;
}

function RowEditor({ id, number, row, taken, error, onChange, onRemove }: RowEditorProps) {
  const field = findRowField(row.name);
  const questions: readonly Row['question'][] =
    row.question === 'written'
      ? ['written', ...(field?.questions ?? [])]
      : (field?.questions ?? ['is']);
  const choose = (name: string) => {
    const allowed = findRowField(name)?.questions ?? [];
    const question = allowed.find((one) => one === row.question) ?? allowed[0] ?? 'is';
    onChange({ ...row, name, question, values: [] });
  };
  return (
    <fieldset class="condition">
      <legend class="unseen">Condition {number}</legend>
      <div class="field">
        <label for={`${id}-field`}>Field</label>
        <FieldSelect id={`${id}-field`} name={row.name} taken={taken} onChange={choose} />
      </div>
      <div class="field">
        <label for={`${id}-question`}>Condition</label>
        <select
          id={`${id}-question`}
          value={row.question}
          onChange={(event) =>
            onChange({ ...row, question: event.currentTarget.value as Question })
          }
        >
          {questions.map((question) => (
            <option key={question} value={question}>
              {questionWords[question]}
            </option>
          ))}
        </select>
      </div>
      {row.question === 'is' && (
        <Combobox
          id={`${id}-value`}
          label="Values"
          hint={field && valueHints[field.kind]}
          error={error}
          placeholder={row.name === '' ? '' : 'Type and press Enter'}
          chosen={row.values.map((value) => ({ value, label: value }))}
          onChange={(values) => onChange({ ...row, values })}
          toValues={(typed) => [typed.trim()]}
        />
      )}
      {row.question === 'written' && (
        <TextField
          id={`${id}-text`}
          label="Written"
          value={row.text}
          error={error}
          onInput={(text) => onChange({ ...row, text })}
        />
      )}
      {(row.question === 'present' || row.question === 'absent') && <p class="error">{error}</p>}
      <button
        type="button"
        class="icon-button"
        aria-label={`Remove condition ${number}`}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </fieldset>
  );
}

interface FieldSelectProps {
  id: string;
  name: string;
  /** Parameters that the filter has: each stands there once. */
  taken: ReadonlySet<string>;
  onChange: (name: string) => void;
}

function FieldSelect({ id, name, taken, onChange }: FieldSelectProps) {
  const isKnown = name === '' || findRowField(name) !== undefined;
  return (
    <select id={id} value={name} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="" disabled>
        Choose a field
      </option>
      {!isKnown && <option value={name}>{name}</option>}
      {rowFields.map((group) => (
        <optgroup key={group.label} label={group.label}>
          {group.fields
            .filter((field) => field.name === name || !taken.has(field.name))
            .map((field) => (
              <option key={field.name} value={field.name}>
                {field.label}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}
