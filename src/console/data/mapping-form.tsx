/** The mapping of a file that no adapter knows: a line for each column, and the name under which it is kept. */
import { useState } from 'preact/hooks';
import { SelectField, TextField } from '../components/field.tsx';
import { inOrder } from '../format.ts';
import type { Found, Mapping } from './import-run.ts';
import { mappingFields } from './mapping-fields.ts';

interface MappingFormProps {
  found: Found;
  mapping: Mapping;
  error: string | undefined;
  onChange: (mapping: Mapping) => void;
}

export function MappingForm({ found, mapping, error, onChange }: MappingFormProps) {
  const [name, setName] = useState(mapping.name);
  const fieldOf = (column: string) =>
    Object.keys(mapping.columns).find((field) => mapping.columns[field]?.includes(column)) ?? '';
  const choose = (column: string, field: string) => {
    const chosen = found.columns.map((one) => [
      one.name,
      one.name === column ? field : fieldOf(one.name),
    ]);
    onChange({ ...mapping, columns: columnsOf(chosen as [string, string][]) });
  };
  const turn = (of: string) => {
    const known = Object.keys(mappingFields[of as Mapping['of']]);
    const columns = Object.entries(mapping.columns).filter(([field]) => known.includes(field));
    const named = Object.fromEntries(columns.map(([field, of]) => [field, of]));
    onChange({ ...mapping, of: of as Mapping['of'], columns: named });
  };
  return (
    <>
      <div class="fields">
        <TextField
          id="mapping-name"
          label="Name of the mapping"
          value={name}
          error={error}
          hint="Files with the same columns are read the same way. It is also the name of the source."
          onInput={setName}
          onLeave={() => name !== mapping.name && onChange({ ...mapping, name })}
        />
        <SelectField
          id="mapping-of"
          label="Rows are"
          value={mapping.of}
          onChange={turn}
          options={[
            { value: 'persons', label: 'People' },
            { value: 'companies', label: 'Companies' },
          ]}
        />
      </div>
      <div class="mapping-head two" aria-hidden="true">
        <span>Your column</span>
        <span>Examples</span>
        <span>Use as</span>
      </div>
      <ul class="mapping two">
        {found.columns.map((column) => (
          <ColumnLine
            key={column.name}
            column={column}
            field={fieldOf(column.name)}
            fields={mappingFields[mapping.of]}
            onChange={(field) => choose(column.name, field)}
          />
        ))}
      </ul>
    </>
  );
}

interface ColumnLineProps {
  column: Found['columns'][number];
  /** The field that it is used as; empty for none. */
  field: string;
  /** Labels of the fields that it can be. */
  fields: Readonly<Record<string, string>>;
  onChange: (field: string) => void;
}

function ColumnLine({ column, field, fields, onChange }: ColumnLineProps) {
  const name = inOrder(column.name);
  const samples = inOrder(column.samples.join(' · '));
  return (
    <li class={field === '' ? '' : 'used'}>
      <strong title={name}>{name}</strong>
      <span class="samples" title={samples}>
        {samples === '' ? 'no values' : samples}
      </span>
      <select
        aria-label={`Use “${name}” as`}
        value={field}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        <option value="">Don’t use</option>
        {Object.entries(fields).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </li>
  );
}

/** The columns of each field, in the order of the file. */
function columnsOf(chosen: readonly [column: string, field: string][]): Mapping['columns'] {
  const columns: Mapping['columns'] = {};
  for (const [column, field] of chosen) {
    if (field !== '') columns[field] = [...(columns[field] ?? []), column];
  }
  return columns;
}
