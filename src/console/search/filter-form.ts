/**
 * A filter as a form shows it. The filter's text is the truth: the form is read from it, and each change of
 * the form is a change of one parameter of the text. What no control can show is a row, if need be as it
 * is written, so that nothing is lost on the way. Pure.
 */
import {
  type Control,
  type ControlName,
  findControl,
  findRowField,
  type Question,
} from './filter-fields.ts';
import {
  joinParameters,
  type Parameter,
  readFilter,
  readItems,
  writeItems,
  writeParameter,
} from './filter-text.ts';

/** A condition in a row: on any field, or on whatever was written. */
export interface Row {
  /** Empty until it has been chosen. */
  name: string;
  question: Question | 'written';
  /** For `is`. */
  values: readonly string[];
  /** For `written`. */
  text: string;
  /** The parameter that it was read from, while nothing has been changed. */
  raw: string | null;
}

export interface FilterForm {
  /** Values by control; a control without values is missing. */
  values: ReadonlyMap<ControlName, readonly string[]>;
  rows: readonly Row[];
}

export function readForm(filter: string): FilterForm {
  const values = new Map<ControlName, readonly string[]>();
  const rows: Row[] = [];
  const seen = new Set<string>();
  for (const parameter of readFilter(filter)) {
    const control = seen.has(parameter.name) ? undefined : findControl(parameter.name);
    seen.add(parameter.name);
    const shown = control && shownBy(control, parameter.text);
    if (shown) values.set(parameter.name as ControlName, shown);
    else rows.push(readRow(parameter));
  }
  return { values, rows };
}

/** The values that a control shows of a text; null for a text that it cannot show. */
function shownBy({ kind, choices = [] }: Control, text: string): string[] | null {
  const items = readItems(text, { commas: kind === 'ids' });
  if (items === null || items.some(({ keyword }) => keyword !== null)) return null;
  const texts = items.map((item) => item.text);
  switch (kind) {
    case 'ranges':
      return texts.every((one) => RANGE_FORM.test(one)) ? texts : null;
    case 'choices': {
      const values = texts.map(
        (one) => choices.find(({ value, alias }) => one === value || one === alias)?.value,
      );
      return values.every((value) => value !== undefined) ? values : null;
    }
    default:
      return texts;
  }
}

function readRow({ name, text, raw }: Parameter): Row {
  const written: Row = { name, question: 'written', values: [], text, raw };
  const field = findRowField(name);
  const items = field && readItems(text, { commas: false });
  if (!field || !items) return written;
  const [first] = items;
  const keywords = items.filter(
    ({ keyword }) => keyword !== null && field.questions.includes('present'),
  );
  if (keywords.length === 0 && field.questions.includes('is')) {
    return { ...written, question: 'is', values: items.map((item) => item.text) };
  }
  if (keywords.length !== 1 || items.length !== 1) return written;
  return { ...written, question: first?.keyword === '*' ? 'present' : 'absent' };
}

/** The filter with other rows in place of its own; rows that ask for nothing yet are left out. */
export function withRows(filter: string, rows: readonly Row[]): string {
  const { values } = readForm(filter);
  const left = new Set<string>(values.keys());
  // The first of each name is what its control shows.
  const shown = readFilter(filter).filter(({ name }) => left.delete(name));
  return joinParameters([...shown, ...rows.flatMap(writeRow)]);
}

/** The rows as a part of a filter: rows that ask for nothing yet are no part of it. */
export function writeRows(rows: readonly Row[]): string {
  return joinParameters(rows.flatMap(writeRow));
}

function writeRow({ name, question, values, text, raw }: Row): Pick<Parameter, 'raw'>[] {
  if (raw !== null) return [{ raw }];
  const value =
    question === 'is' ? writeItems(values) : question === 'written' ? text : keywords[question];
  return name === '' || value === null ? [] : [writeParameter(name, value)];
}

const keywords = { present: '*', absent: 'null' } as const;

const RANGE_FORM = /^[\d,]+(\s*-\s*[\d,]*)?$/;

/** Both ends of a range as they are typed; an empty end is open. */
export interface RangeDraft {
  from: string;
  to: string;
}

/** Reads `n`, `a-b` and `a-`. */
export function readRange(text: string): RangeDraft {
  const [from = '', to] = text.split('-').map((end) => end.trim());
  return { from, to: to ?? from };
}

/** A range as a filter writes it; empty for one without ends. */
export function writeRange({ from, to }: RangeDraft): string {
  if (from === '' && to === '') return '';
  if (from === to) return from;
  return `${from === '' ? '0' : from}-${to}`;
}

/** A place as the filter writes it, `city:country`; a bare text is a country. */
export function writePlace(typed: string): string {
  const text = typed.trim();
  return text === '' || text.includes(':') ? text : `:${text}`;
}

/** A place as people write it. */
export function placeLabel(place: string): string {
  const at = place.lastIndexOf(':');
  const city = place.slice(0, Math.max(0, at)).trim();
  const country = place.slice(at + 1).trim();
  return [city, country].filter(Boolean).join(', ');
}
