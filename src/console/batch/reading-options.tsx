import { errorOf, SelectField, TextField } from '../components/field.tsx';
import type { Problem } from '../problem.ts';

/** How a file is to be read where the guess is wrong; empty texts leave it to the guess. */
export interface Reading {
  encoding: string;
  delimiter: string;
  header_row: string;
  sheet: string;
  default_region: string;
}

export const guessed: Reading = {
  encoding: '',
  delimiter: '',
  header_row: '',
  sheet: '',
  default_region: '',
};

const encodings = [
  { value: '', label: 'Find out' },
  { value: 'utf-8', label: 'UTF-8' },
  { value: 'windows-1252', label: 'Windows-1252 (Western Europe)' },
  { value: 'windows-1250', label: 'Windows-1250 (Central Europe)' },
  { value: 'windows-1251', label: 'Windows-1251 (Cyrillic)' },
  { value: 'utf-16le', label: 'UTF-16' },
  { value: 'shift_jis', label: 'Shift JIS (Japanese)' },
  { value: 'gb18030', label: 'GB 18030 (Chinese)' },
];

const delimiters = [
  { value: '', label: 'Find out' },
  { value: ',', label: 'Comma' },
  { value: ';', label: 'Semicolon' },
  { value: 'tab', label: 'Tab' },
  { value: '|', label: 'Vertical bar' },
];

interface ReadingOptionsProps {
  reading: Reading;
  onChange: (reading: Reading) => void;
  problem: Problem | null;
}

export function ReadingOptions({ reading, onChange, problem }: ReadingOptionsProps) {
  const set = (name: keyof Reading) => (value: string) => onChange({ ...reading, [name]: value });
  return (
    <div class="fields">
      <SelectField
        id="encoding"
        label="Encoding"
        options={encodings}
        value={reading.encoding}
        onChange={set('encoding')}
        error={errorOf(problem, 'encoding')}
      />
      <SelectField
        id="delimiter"
        label="Between cells"
        options={delimiters}
        value={reading.delimiter}
        onChange={set('delimiter')}
        error={errorOf(problem, 'delimiter')}
      />
      <TextField
        id="header_row"
        label="Header row"
        placeholder="Find out"
        value={reading.header_row}
        onInput={set('header_row')}
        error={errorOf(problem, 'header_row')}
        hint="Number of the row with the column names. 0 if there is none."
      />
      <TextField
        id="sheet"
        label="Sheet of the workbook"
        placeholder="Find out"
        value={reading.sheet}
        onInput={set('sheet')}
        error={errorOf(problem, 'sheet')}
        hint="Name or number of the sheet."
      />
      <TextField
        id="default_region"
        label="Country of the phone numbers"
        placeholder="such as Germany or DE"
        value={reading.default_region}
        onInput={set('default_region')}
        error={errorOf(problem, 'default_region')}
        hint="For numbers without a country code, in rows that name no country."
      />
    </div>
  );
}
