/** How the file of a held list was read, and how to read it in another way: the service has the file. */
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { readOut } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { restOf } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf } from '../format.ts';
import { useAction } from '../use-call.ts';
import type { Batch, Dialect } from './batch.ts';
import type { Preview } from './preview.ts';
import {
  delimiterLabel,
  encodingLabel,
  type Reading,
  ReadingOptions,
  readingFields,
} from './reading-options.tsx';
import type { Live } from './use-live-batch.ts';

type Doubt = Dialect['doubts'][number];

interface FileFormatProps {
  batch: Batch;
  preview: Preview | undefined;
  live: Live<Batch>;
  /** True while the form is shown; it stays so while the file is read again. */
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}

export function FileFormat({ batch, preview, live, isOpen, onOpen }: FileFormatProps) {
  const { titles } = batch.dialect;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Rows</dt>
          <dd>{batch.rows.total === null ? '…' : countOf(batch.rows.total, 'row')}</dd>
        </div>
        {factsOf(batch.dialect).map(({ name, value, doubt }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              {batch.dialect.doubts.includes(doubt) && (
                <span class="doubt">Detected automatically. Check this.</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {titles.length > 0 && (
        <p class="soft">
          {countOf(titles.length, 'line')} above the header {titles.length === 1 ? 'is' : 'are'} not
          part of the list: “{titles[0]}”{titles.length > 1 ? ', …' : ''}
        </p>
      )}
      {isOpen ? (
        <FormatForm batch={batch} preview={preview} live={live} onClose={() => onOpen(false)} />
      ) : (
        <p class="soft">
          Wrong header, garbled characters or wrong columns?{' '}
          <button type="button" class="link-button" onClick={() => onOpen(true)}>
            Change file format
          </button>
        </p>
      )}
    </>
  );
}

function factsOf({ encoding, delimiter, header_row: headerRow, sheet }: Dialect) {
  const header: { name: string; value: string; doubt: Doubt } = {
    name: 'Header row',
    value: headerRow === 0 ? 'None' : `Row ${headerRow}`,
    doubt: 'header',
  };
  // The text of a sheet has a form of ours.
  if (sheet !== null) return [{ name: 'Sheet', value: sheet, doubt: 'sheet' as Doubt }, header];
  return [
    header,
    { name: 'Encoding', value: encodingLabel(encoding), doubt: 'encoding' as Doubt },
    { name: 'Delimiter', value: delimiterLabel(delimiter), doubt: 'delimiter' as Doubt },
  ];
}

interface FormatFormProps {
  batch: Batch;
  preview: Preview | undefined;
  live: Live<Batch>;
  onClose: () => void;
}

function FormatForm({ batch, preview, live, onClose }: FormatFormProps) {
  const { dialect } = batch;
  const before: Reading = {
    encoding: dialect.encoding,
    delimiter: dialect.delimiter === '\t' ? 'tab' : dialect.delimiter,
    header_row: String(dialect.header_row),
    sheet: dialect.sheet ?? '',
    default_region: batch.default_region ?? '',
  };
  const [reading, setReading] = useState(before);
  const changed = readingFields.filter((name) => reading[name].trim() !== before[name]);
  const { run, isBusy, problem } = useAction(async () => {
    const said = changed.map((name) => [name, requested(name, reading[name].trim())]);
    const body = { ...Object.fromEntries(said), allow_unmapped: true };
    live.show(await call('PATCH', `/v1/batches/${batch.id}`, { body }));
    readOut('The file is read again.');
  });
  return (
    <Form class="format-form" problem={problem} onSubmit={() => run()}>
      <HeaderChoice
        lines={preview?.first_lines ?? []}
        row={reading.header_row}
        onChange={(header_row) => setReading({ ...reading, header_row })}
      />
      <ReadingOptions
        reading={reading}
        sheets={dialect.sheets}
        isWorkbook={dialect.sheet !== null}
        onChange={setReading}
        problem={problem}
      />
      <ProblemNotice problem={restOf(problem, readingFields)} />
      <div class="buttons">
        <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={changed.length === 0}>
          Read again
        </Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Form>
  );
}

function requested(name: keyof Reading, text: string): string | number | null {
  if (name === 'header_row') return Number(text);
  return name === 'default_region' && text === '' ? null : text;
}

interface HeaderChoiceProps {
  lines: Preview['first_lines'];
  /** The row of the header; `0` without one. */
  row: string;
  onChange: (row: string) => void;
}

/** The first lines of the file, of which one has the names of the columns. */
function HeaderChoice({ lines, row, onChange }: HeaderChoiceProps) {
  const choices = [...lines, { row: 0, text: 'No header row' }];
  return (
    <fieldset class="raw-lines">
      <legend>First lines of the file: which one has the column names?</legend>
      {choices.map((line) => (
        <label key={line.row} class={line.row === 0 ? 'none' : ''}>
          <input
            type="radio"
            name="header_row"
            checked={row === String(line.row)}
            onChange={() => onChange(String(line.row))}
          />
          {line.row > 0 && <span class="number soft">{line.row} </span>}
          <span class="raw">{line.text}</span>
        </label>
      ))}
    </fieldset>
  );
}
