/**
 * Converts one value of an import row to one cell, by the type of its field. JSON rows have typed values, CSV rows
 * have text; the same functions read both. Pure.
 */
import { normaliseIdentifier } from '../../identifiers/identifier.ts';
import { fold } from '../../lib/fold.ts';
import { type CopyCell, cleanText } from './copy-text.ts';

/** The field cannot hold the value: the record is rejected with this reason. */
export class Unreadable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** The value is omitted and counted, and the record stays: one bad phone must not lose a person. */
export const dropped: unique symbol = Symbol('dropped');

export type Coerced = CopyCell | Unreadable | typeof dropped;

export interface CoerceContext {
  /** ISO alpha-2 region of phone numbers without a calling code. */
  region?: string | undefined;
}

/** Reads a value that is neither null nor undefined nor ''. */
export type Coerce = (value: unknown, context: CoerceContext) => Coerced;

const INT4_MAX = 2_147_483_647;
const INTEGER_TEXT = /^\s*[+-]?\d{1,16}\s*$/;
const E164_SHAPE = /^\+[1-9]\d{6,14}$/;
const GEO_SHAPE = /^-?\d{1,3}(?:\.\d{1,20})?,-?\d{1,3}(?:\.\d{1,20})?$/;
const TIME_SHAPE =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;
const genders: ReadonlyMap<string, string> = new Map([
  ['male', 'male'],
  ['m', 'male'],
  ['1', 'male'],
  ['female', 'female'],
  ['f', 'female'],
  ['2', 'female'],
]);

/** Text; numbers and booleans by their spelling, lists of them joined by `, `. */
export function coerceText(value: unknown): string | Unreadable {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return new Unreadable('not_text');
  const texts = value.map(coerceText);
  const bad = texts.find((text) => text instanceof Unreadable);
  return bad instanceof Unreadable ? bad : texts.join(', ');
}

/** An entry of a B-tree has at most 2,704 bytes; one has two texts, beside numbers. */
const INDEXED_BYTES_MAX = 1200;
/** A skill is alone in its entry, and some write a list of skills without commas. */
const SKILL_BYTES_MAX = 2600;
/** So many letters fit, whatever they are: folded, one becomes 33 bytes at most. */
const FITTING_LETTERS = 36;

/** Returns true for a text that indexes can hold, as it is and folded. A file that others wrote may have any text. */
export function fitsIndex(text: string, bytesMax = INDEXED_BYTES_MAX): boolean {
  if (text.length <= FITTING_LETTERS) return true;
  return Buffer.byteLength(text) <= bytesMax && Buffer.byteLength(fold(text)) <= bytesMax;
}

/** Text of a column that has an index. */
export function coerceIndexedText(value: unknown): Coerced {
  const text = coerceText(value);
  return text instanceof Unreadable || fitsIndex(text) ? text : dropped;
}

/** As `coerceIndexedText`, of a column without which the row says nothing. */
export function coerceKeyText(value: unknown): string | Unreadable {
  const text = coerceText(value);
  return text instanceof Unreadable || fitsIndex(text) ? text : new Unreadable('too_long');
}

/** Skills, separated by commas: each is in an index. */
export function coerceSkills(value: unknown): Coerced {
  const text = coerceText(value);
  if (text instanceof Unreadable) return text;
  return text.split(',').every((skill) => fitsIndex(skill, SKILL_BYTES_MAX)) ? text : dropped;
}

/** A whole number within the range. */
export function coerceInteger(value: unknown, min: number, max: number): number | Unreadable {
  const number = typeof value === 'string' && INTEGER_TEXT.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) {
    return new Unreadable('not_an_integer');
  }
  // Adding zero turns -0 into 0, which SQL writes without a sign.
  return number < min || number > max ? new Unreadable('out_of_range') : number + 0;
}

export function coerceInt4(value: unknown): number | Unreadable {
  return coerceInteger(value, -INT4_MAX, INT4_MAX);
}

export function coerceBigint(value: unknown): number | Unreadable {
  return coerceInteger(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
}

/** Id of a record, at least 1. */
export function coerceRecordId(value: unknown): number | Unreadable {
  return coerceInteger(value, 1, Number.MAX_SAFE_INTEGER);
}

/** Id of a reference row; 0 for none. */
export function coerceReferenceId(value: unknown): number | Unreadable {
  return coerceInteger(value, 0, INT4_MAX);
}

/** Id of another record; 0 for none. */
export function coerceLinkedId(value: unknown): number | Unreadable {
  return coerceInteger(value, 0, Number.MAX_SAFE_INTEGER);
}

/** A calendar day as `2024-01-31`; the time of a timestamp is dropped. */
export function coerceDate(value: unknown): string | Unreadable {
  const time = coerceTimestamp(value);
  return typeof time === 'string' ? time.slice(0, 10) : new Unreadable('not_a_date');
}

/**
 * An ISO 8601 time in UTC as `2024-01-31T12:00:00`. A time with an offset is converted, one without is UTC
 * already, a date alone is its midnight. Fractions of seconds are cut off, because the API has none and a filter
 * must compare what the API shows.
 */
export function coerceTimestamp(value: unknown): string | Unreadable {
  // The form of nearly every time of a file: needs no conversion.
  if (typeof value === 'string' && isPlainTime(value)) return value;
  const match = typeof value === 'string' ? TIME_SHAPE.exec(value.trim()) : null;
  if (match === null) return new Unreadable('not_a_timestamp');
  const [, day = '', minutes = '00:00', seconds = '00', offset = 'Z'] = match;
  const local = Date.parse(`${day}T${minutes}:${seconds}Z`);
  // A day that the month lacks would roll over into the next month.
  const exists = Number.isFinite(local) && new Date(local).toISOString().startsWith(day);
  const shift = offsetMinutes(offset);
  if (!exists || shift === null) return new Unreadable('not_a_timestamp');
  const text = new Date(local - shift * 60_000).toISOString();
  return /^(?!0000)\d{4}-/.test(text) ? text.slice(0, 19) : new Unreadable('out_of_range');
}

const PLAIN_TIME_SHAPE = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;
const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns true for `2024-01-31T12:00:00`, a second that exists; the database has no year 0. */
export function isPlainTime(text: string): boolean {
  const match = PLAIN_TIME_SHAPE.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : (daysOfMonths[month - 1] ?? 0);
  return year > 0 && day > 0 && day <= days;
}

function offsetMinutes(offset: string): number | null {
  if (offset.toUpperCase() === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return null;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

export function coerceGender(value: unknown): Coerced {
  return genders.get(String(value).trim().toLowerCase()) ?? dropped;
}

/** An E.164 number unchanged, otherwise the first number that is valid in the record's country. */
export function coercePhone(value: unknown, context: CoerceContext): Coerced {
  if (typeof value !== 'string' && typeof value !== 'number') return new Unreadable('not_text');
  const text = String(value);
  if (E164_SHAPE.test(text)) return text;
  const { region } = context;
  const normalised = normaliseIdentifier('phone', text, {
    subject: 'person',
    ...(region === undefined ? {} : { region }),
  });
  return 'values' in normalised ? normalised.values[0] : dropped;
}

/** `<latitude>,<longitude>` in degrees. */
export function coerceGeo(value: unknown): Coerced {
  const text = coerceText(value);
  if (text instanceof Unreadable) return text;
  const compact = text.replaceAll(' ', '');
  if (!GEO_SHAPE.test(compact)) return dropped;
  const [latitude = 0, longitude = 0] = compact.split(',').map(Number);
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? compact : dropped;
}

/** Converts `[{"id": 1, "name": "x"}]`, or the same as JSON in a CSV cell, to the text of a jsonb cell. */
export function coerceReferences(value: unknown): string | Unreadable {
  const list = typeof value === 'string' ? parseJson(value) : value;
  if (!Array.isArray(list)) return new Unreadable('not_a_list_of_references');
  const entries: { id: number; name: string }[] = [];
  for (const item of list) {
    const object = asObject(item);
    const id = coerceLinkedId(object?.id ?? 0);
    const name = coerceText(object?.name ?? '');
    if (object === null || typeof id !== 'number' || typeof name !== 'string') {
      return new Unreadable('not_a_list_of_references');
    }
    entries.push({ id, name });
  }
  return JSON.stringify(entries);
}

/** A list of texts: a JSON array, or a CSV cell with items separated by `|`. Empty items are dropped. */
export function coerceTexts(value: unknown): readonly string[] | Unreadable {
  const list = typeof value === 'string' ? splitList(value) : value;
  if (!Array.isArray(list)) return new Unreadable('not_a_list');
  const texts: string[] = [];
  for (const item of list) {
    const text = Array.isArray(item) ? new Unreadable('not_text') : coerceText(item);
    if (text instanceof Unreadable) return text;
    if (text !== '') texts.push(text);
  }
  return texts;
}

function splitList(text: string): unknown {
  return text.startsWith('[') ? parseJson(text) : text.split('|').map((item) => item.trim());
}

/** Returns the value as an object, parsed from JSON in a CSV cell; null when it is not an object. */
export function asObject(value: unknown): Record<string, unknown> | null {
  const object = typeof value === 'string' && value.startsWith('{') ? parseJson(value) : value;
  return typeof object === 'object' && object !== null && !Array.isArray(object)
    ? (object as Record<string, unknown>)
    : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns true when an import row has no value for a field. */
export function isAbsent(value: unknown): value is null | undefined | '' {
  return value === undefined || value === null || value === '';
}
