/** Rows that are pasted instead of a file, and a template of a list. */
import { Field } from '../components/field.tsx';
import type { Operation } from './operations.ts';
import { templateOf } from './template.ts';

interface PasteRowsProps {
  operation: Operation;
  text: string;
  onText: (text: string) => void;
}

/** The rows as a file; null without any. */
export function pastedFile(text: string): File | null {
  return text.trim() === '' ? null : new File([text], 'Pasted rows.csv', { type: 'text/csv' });
}

export function PasteRows({ operation, text, onText }: PasteRowsProps) {
  const template = `data:text/csv;charset=utf-8,${encodeURIComponent(templateOf(operation))}`;
  return (
    <details class="more-options">
      <summary>No file? Paste rows, or start from a template</summary>
      <div class="stack tight">
        <Field
          id="pasted"
          label="Rows"
          hint="From a spreadsheet, or as CSV; the first row may name the columns."
        >
          {(props) => (
            <textarea
              {...props}
              class="mono"
              rows={6}
              spellcheck={false}
              autocomplete="off"
              value={text}
              onInput={({ currentTarget }) => onText(currentTarget.value)}
            />
          )}
        </Field>
        <p>
          <a href={template} download="template.csv">
            Download a template
          </a>
        </p>
      </div>
    </details>
  );
}
