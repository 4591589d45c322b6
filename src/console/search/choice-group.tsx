import type { Choice } from './filter-fields.ts';

interface ChoiceGroupProps {
  id: string;
  label: string;
  error?: string | undefined;
  choices: readonly Choice[];
  values: readonly string[];
  onChange: (values: string[]) => void;
}

/** A few choices of which any will do. */
export function ChoiceGroup({ id, label, error, choices, values, onChange }: ChoiceGroupProps) {
  return (
    <fieldset class="field" aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend>{label}</legend>
      <div class="checks">
        {choices.map(({ value, label: name }) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={values.includes(value)}
              onChange={(event) => {
                const isChosen = event.currentTarget.checked;
                const all = choices.map((choice) => choice.value);
                onChange(all.filter((one) => (one === value ? isChosen : values.includes(one))));
              }}
            />
            {name}
          </label>
        ))}
      </div>
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
