import { Checkboxes } from '../components/checkboxes.tsx';
import { describedBy, FieldNotes } from '../components/field.tsx';
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
    <fieldset class="field" aria-describedby={describedBy({ id, error })}>
      <legend>{label}</legend>
      <Checkboxes choices={choices} chosen={values} onChange={onChange} />
      <FieldNotes id={id} error={error} />
    </fieldset>
  );
}
