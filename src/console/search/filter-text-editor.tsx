import { useRef } from 'preact/hooks';
import { Field } from '../components/field.tsx';
import type { Problem } from '../problem.ts';
import { readFilter, tidyFilter } from './filter-text.ts';

interface FilterTextEditorProps {
  filter: string;
  onChange: (filter: string) => void;
  problem: Problem | null;
}

/** The filter as the API takes it. What is wrong in it is named, and can be selected. */
export function FilterTextEditor({ filter, onChange, problem }: FilterTextEditorProps) {
  const editor = useRef<HTMLTextAreaElement>(null);
  const [wrong] = problem?.status === 400 ? problem.errors : [];
  const name = wrong?.field?.replace(/^filter\./, '');
  const place = name === undefined ? null : placeOf(filter, name);
  return (
    <>
      <Field
        id="filter-text"
        label="Query string of the search"
        hint="Change it here or above, or paste the address of a search: both are the same filter."
        error={problem?.status === 400 ? problem.message : undefined}
      >
        {(props) => (
          <textarea
            {...props}
            ref={editor}
            class="mono"
            rows={4}
            spellcheck={false}
            autocomplete="off"
            placeholder="positionList=[Accountant|Auditor]&locationList=[:France]"
            value={filter}
            onInput={({ currentTarget }) => {
              const tidy = tidyFilter(currentTarget.value);
              if (tidy !== currentTarget.value) currentTarget.value = tidy;
              onChange(tidy);
            }}
          />
        )}
      </Field>
      {place && (
        <button
          type="button"
          class="link-button"
          onClick={() => {
            editor.current?.focus();
            editor.current?.setSelectionRange(...place);
          }}
        >
          Go to error
        </button>
      )}
    </>
  );
}

/** The place of a parameter in the filter: its last mention, because a second one is refused. */
function placeOf(filter: string, name: string): [number, number] | null {
  const raw = readFilter(filter).findLast((parameter) => parameter.name === name)?.raw;
  if (raw === undefined) return null;
  const at = filter.lastIndexOf(raw);
  return [at, at + raw.length];
}
