import type { ComponentChildren } from 'preact';

interface CheckboxesProps<Value extends string> {
  choices: readonly { value: Value; label: ComponentChildren }[];
  /** The values that are checked; those that are no choice here stay. */
  chosen: readonly Value[];
  onChange: (chosen: Value[]) => void;
  /** Side by side where there is room. */
  isAcross?: boolean;
  /** The id of the text that says what is wrong with the choice. */
  errorId?: string | undefined;
}

/** Choices of which any number may be checked. The checked ones keep the order of the choices. */
export function Checkboxes<Value extends string>(props: CheckboxesProps<Value>) {
  const { choices, chosen, onChange, isAcross = false, errorId } = props;
  const values = choices.map(({ value }) => value);
  const others = chosen.filter((value) => !values.includes(value));
  return (
    <div class={isAcross ? 'checks across' : 'checks'}>
      {choices.map(({ value, label }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            aria-invalid={errorId !== undefined}
            aria-describedby={errorId}
            onChange={({ currentTarget: { checked } }) => {
              const next = values.filter((one) => (one === value ? checked : chosen.includes(one)));
              onChange([...others, ...next]);
            }}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}
