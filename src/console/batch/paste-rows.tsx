/** Rows that are pasted instead of a file, and a template of a list. */
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import type { Operation } from './operations.ts';
import { templateOf } from './template.ts';

interface PasteRowsProps {
  operation: Operation;
  onFile: (file: File) => void;
}

export function PasteRows({ operation, onFile }: PasteRowsProps) {
  const [text, setText] = useState('');
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
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
        <div class="buttons">
          <Button
            isDisabled={text.trim() === ''}
            onClick={() => onFile(new File([text], 'Pasted rows.csv', { type: 'text/csv' }))}
          >
            Use these rows
          </Button>
          <a href={template} download="template.csv">
            Download a template
          </a>
        </div>
      </div>
    </details>
  );
}
