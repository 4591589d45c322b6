import type { ComponentChildren } from 'preact';
import { toSentence } from '../field-words.ts';
import type { Problem } from '../problem.ts';

interface FieldProps {
  id: string;
  label: string;
  hint?: ComponentChildren;
  /** The problem of the value. */
  error?: string | undefined;
  children(props: InputProps): ComponentChildren;
}

/** Attributes for the input inside, so that label, hint and error are read with it. */
export interface InputProps {
  id: string;
  name: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

/** A labelled input with its hint and its error. */
export function Field({ id, label, hint, error, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name: id,
        'aria-describedby': describedBy({ id, hint, error }),
        'aria-invalid': error !== undefined,
      })}
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

type Notes = Pick<FieldProps, 'id' | 'hint' | 'error'>;

/** The hint and the error of a field. Its input names them with `describedBy`. */
export function FieldNotes({ id, hint, error }: Notes) {
  return (
    <>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </>
  );
}

/** The ids of a field's hint and error; undefined where it has neither. */
export function describedBy({ id, hint, error }: Notes): string | undefined {
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean);
  return ids.length === 0 ? undefined : ids.join(' ');
}

interface TextFieldProps {
  id: string;
  label: string;
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'date';
  /** Called when a changed value is left. */
  onLeave?: () => void;
  hint?: ComponentChildren;
  error?: string | undefined;
  autocomplete?: string;
  inputMode?: 'numeric';
  placeholder?: string;
}

/** A field for a line of text. */
export function TextField(props: TextFieldProps) {
  const { id, label, value, onInput, onLeave, hint, error, ...input } = props;
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      {(described) => (
        <input
          {...({ ...described, ...input } as object)}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onChange={() => onLeave?.()}
        />
      )}
    </Field>
  );
}

interface NumberFieldProps {
  id: string;
  label: string;
  value: number | null;
  onChange: (value: number | null) => void;
  hint?: ComponentChildren;
  error?: string | undefined;
  placeholder?: string;
}

/** A field for a whole number; whatever is no digit is left out as it is typed. */
export function NumberField({ value, onChange, ...field }: NumberFieldProps) {
  return (
    <TextField
      {...field}
      inputMode="numeric"
      value={value === null ? '' : String(value)}
      onInput={(typed) => {
        const digits = typed.replace(/\D/g, '').slice(0, DIGITS_MAX);
        onChange(digits === '' ? null : Number(digits));
      }}
    />
  );
}

/** Of a number that is exact. */
const DIGITS_MAX = 15;

interface SelectFieldProps {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; label: string }[];
  hint?: ComponentChildren;
  error?: string | undefined;
}

/** A field for one of several choices. */
export function SelectField({
  id,
  label,
  value,
  onChange,
  options,
  hint,
  error,
}: SelectFieldProps) {
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      {(props) => (
        <select {...props} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Returns the message of a problem for one field, also for a place inside it (`mapping.email`). */
export function errorOf(problem: Problem | null, field: string): string | undefined {
  const found = problem?.errors.filter(
    (error) => error.field === field || error.field?.startsWith(`${field}.`),
  );
  return found?.length ? found.map(({ message }) => toSentence(message)).join(' ') : undefined;
}

/** The problem, unless each of its errors is shown beside one of these fields. */
export function restOf(problem: Problem | null, fields: readonly string[]): Problem | null {
  if (problem === null || problem.errors.length === 0) return problem;
  const isShown = (field = '') =>
    fields.some((name) => field === name || field.startsWith(`${name}.`));
  return problem.errors.every(({ field }) => isShown(field)) ? null : problem;
}
