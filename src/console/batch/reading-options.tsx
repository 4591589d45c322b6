import { errorOf, SelectField, TextField } from '../components/field.tsx';
import type { Problem } from '../problem.ts';

/** How a file is to be read; an empty text leaves it to be detected. */
export interface Reading {
  encoding: string;
  delimiter: string;
  header_row: string;
  sheet: string;
  default_region: string;
}

export const readingFields: readonly (keyof Reading)[] = [
  ...(['encoding', 'delimiter', 'header_row', 'sheet', 'default_region'] as const),
];

export const detected: Reading = {
  encoding: '',
  delimiter: '',
  header_row: '',
  sheet: '',
  default_region: '',
};

const detect = { value: '', label: 'Detect automatically' };

const encodings = [
  { value: 'utf-8', label: 'UTF-8' },
  { value: 'windows-1252', label: 'Windows-1252 (Western Europe)' },
  { value: 'windows-1250', label: 'Windows-1250 (Central Europe)' },
  { value: 'windows-1251', label: 'Windows-1251 (Cyrillic)' },
  { value: 'utf-16le', label: 'UTF-16' },
  { value: 'shift_jis', label: 'Shift JIS (Japanese)' },
  { value: 'gb18030', label: 'GB 18030 (Chinese)' },
];

const delimiters = [
  { value: ',', label: 'Comma' },
  { value: ';', label: 'Semicolon' },
  { value: 'tab', label: 'Tab' },
  { value: '|', label: 'Vertical bar' },
];

export function encodingLabel(encoding: string): string {
  return encodings.find(({ value }) => value === encoding)?.label ?? encoding;
}

export function delimiterLabel(delimiter: string): string {
  const value = delimiter === '\t' ? 'tab' : delimiter;
  return delimiters.find((one) => one.value === value)?.label ?? delimiter;
}

interface ReadingOptionsProps {
  reading: Reading;
  /** The sheets to choose from, of a workbook that was read; before, there is a field for its name. */
  sheets?: readonly string[];
  /** True for a file without encoding and delimiter. */
  isWorkbook?: boolean;
  onChange: (reading: Reading) => void;
  problem: Problem | null;
}

export function ReadingOptions(props: ReadingOptionsProps) {
  const { reading, sheets, isWorkbook = false, onChange, problem } = props;
  const field = (name: keyof Reading) => ({
    id: name,
    value: reading[name],
    onChange: (value: string) => onChange({ ...reading, [name]: value }),
    error: errorOf(problem, name),
  });
  const isKnown = sheets !== undefined;
  const listed = (some: typeof encodings, value: string) => [
    ...(isKnown ? [] : [detect]),
    ...some,
    ...(value === '' || some.some((one) => one.value === value) ? [] : [{ value, label: value }]),
  ];
  const sheetField = field('sheet');
  const headerField = field('header_row');
  const regionField = field('default_region');
  return (
    <div class="fields">
      {!isWorkbook && (
        <>
          <SelectField
            {...field('encoding')}
            label="Encoding"
            options={listed(encodings, reading.encoding)}
          />
          <SelectField
            {...field('delimiter')}
            label="Delimiter"
            options={listed(delimiters, reading.delimiter)}
          />
        </>
      )}
      {isKnown && sheets.length > 1 && (
        <SelectField
          {...sheetField}
          label="Sheet"
          options={sheets.map((name) => ({ value: name, label: name }))}
        />
      )}
      {!isKnown && (
        <TextField
          {...sheetField}
          onInput={sheetField.onChange}
          label="Sheet"
          placeholder="Detect automatically"
          hint="Name or number of the sheet of a workbook."
        />
      )}
      <TextField
        {...headerField}
        onInput={headerField.onChange}
        label="Header row"
        placeholder="Detect automatically"
        hint="Number of the row with the column names. 0 if there is none."
      />
      <TextField
        {...regionField}
        onInput={regionField.onChange}
        label="Default country for phone numbers"
        placeholder="such as Germany or DE"
        hint="Used for numbers without a country code when the row has no country."
      />
    </div>
  );
}
