/** Options of the file of an export or of a schedule: columns, format, limits. */
import { errorOf, NumberField, SelectField, TextField } from '../components/field.tsx';
import type { Problem } from '../problem.ts';
import { FieldsChooser, peopleColumns } from '../search/fields-chooser.tsx';
import { formats } from './export-file.ts';

export interface FileOptions {
  name: string;
  /** Null for all. */
  fields: readonly string[] | null;
  format: string;
  maxResults: number | null;
  maxCredits: number | null;
}

export const usualOptions: FileOptions = {
  name: '',
  fields: peopleColumns.essentials,
  format: 'csv-safe',
  maxResults: null,
  maxCredits: null,
};

/** The fields of a request that the options show. */
export const optionFields = ['name', 'fields', 'format', 'max_results', 'max_credits'] as const;

/** The options as the API takes them. */
export function toRequest({ maxResults, maxCredits, ...same }: FileOptions) {
  return { ...same, max_results: maxResults, max_credits: maxCredits };
}

interface FileOptionsFormProps {
  options: FileOptions;
  onChange: (options: FileOptions) => void;
  problem: Problem | null;
  limitHint?: string;
}

export function FileOptionsForm(props: FileOptionsFormProps) {
  const { options, onChange, problem, limitHint } = props;
  const change = (part: Partial<FileOptions>) => onChange({ ...options, ...part });
  return (
    <>
      <div class="fields">
        <TextField
          id="name"
          label="Name"
          value={options.name}
          onInput={(name) => change({ name })}
          hint="What the file is called."
          error={errorOf(problem, 'name')}
        />
        <SelectField
          id="format"
          label="Format"
          value={options.format}
          onChange={(format) => change({ format })}
          options={formats}
          hint="Other formats can be downloaded too."
          error={errorOf(problem, 'format')}
        />
        <NumberField
          id="max_results"
          label="Max people"
          value={options.maxResults}
          onChange={(maxResults) => change({ maxResults })}
          placeholder="no limit"
          hint={limitHint}
          error={errorOf(problem, 'max_results')}
        />
        <NumberField
          id="max_credits"
          label="Max credits"
          value={options.maxCredits}
          onChange={(maxCredits) => change({ maxCredits })}
          placeholder="no limit"
          hint={limitHint}
          error={errorOf(problem, 'max_credits')}
        />
      </div>
      <FieldsChooser
        fields={options.fields}
        onChange={(fields) => change({ fields })}
        error={errorOf(problem, 'fields')}
      />
    </>
  );
}
