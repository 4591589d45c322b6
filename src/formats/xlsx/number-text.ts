/** Converts a stored number to text for a list: no digit lost, no exponent, dates and times as ISO 8601. */

import type { NumberForm } from './number-form.ts';

const DAY_MS = 86_400_000;
/** Day 0 of the 1900 system for every day after its 29 February 1900, which did not exist. */
const epoch1900Ms = Date.UTC(1899, 11, 30);
/** The 1904 system counts from 1 January 1904. */
const epoch1904Ms = Date.UTC(1904, 0, 1);
/** 1 March 1900: days before it are one off in the 1900 system. */
const FIRST_SOUND_DAY = 61;
const lastDayMs = Date.UTC(9999, 11, 31);

/**
 * @param stored the digits as the workbook holds them, e.g. `447911123456` or `1.1000000000000001`
 * @returns the shortest text of the same number; text that is not a number is returned unchanged
 */
export function numberText(stored: string, form: NumberForm, is1904: boolean): string {
  const written = stored.trim();
  const value = Number(written);
  if (written === '' || !Number.isFinite(value)) return written;
  switch (form.kind) {
    case 'plain':
      return decimalText(written, value);
    case 'zeros':
      return zerosText(decimalText(written, value), form.digits);
    case 'elapsed':
      return elapsedText(value) ?? decimalText(written, value);
    default:
      return dateText(value, form.kind, is1904) ?? decimalText(written, value);
  }
}

/** Whole numbers keep their digits (a double would lose some above 2^53), others the double's own. */
function decimalText(written: string, value: number): string {
  if (/^-?\d+$/.test(written)) return written;
  const text = String(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) return text;
  const [, sign = '', lead = '', fraction = '', exponent = '0'] = parts;
  return sign + shiftPoint(lead + fraction, 1 + Number(exponent));
}

/** Puts the decimal point after `whole` digits, which may be before or after all of them. */
function shiftPoint(digits: string, whole: number): string {
  if (whole <= 0) return `0.${'0'.repeat(-whole)}${digits}`;
  if (whole >= digits.length) return digits.padEnd(whole, '0');
  return `${digits.slice(0, whole)}.${digits.slice(whole)}`;
}

function zerosText(decimal: string, digits: number): string {
  return /^\d+$/.test(decimal) ? decimal.padStart(digits, '0') : decimal;
}

/**
 * ISO 8601 in the precision that the format shows, with milliseconds if any. Nothing is dropped: a date with a
 * time, and a time with a day, are written with both. Null for a number outside the calendar, which spreadsheets
 * show as an error.
 */
function dateText(
  value: number,
  kind: 'date' | 'time' | 'datetime',
  is1904: boolean,
): string | null {
  const ms = Math.round(value * DAY_MS);
  if (ms < 0) return null;
  if (kind === 'time' && ms < DAY_MS)
    return new Date(ms).toISOString().slice(11, -1).replace('.000', '');
  const at = calendarMs(ms, is1904);
  if (at === null) return null;
  const [day = '', time = ''] = new Date(at).toISOString().replace('.000Z', 'Z').split('T');
  return kind === 'date' && ms % DAY_MS === 0 ? day : `${day}T${time.slice(0, -1)}`;
}

/** Returns the milliseconds since 1970 of a stored day; null when the calendar has no such day. */
function calendarMs(ms: number, is1904: boolean): number | null {
  const day = Math.floor(ms / DAY_MS);
  if (is1904) return inCalendar(epoch1904Ms + ms);
  if (day >= FIRST_SOUND_DAY) return inCalendar(epoch1900Ms + ms);
  // Day 0 does not exist, and day 60 is the 29 February that 1900 did not have.
  return day === 0 || day === FIRST_SOUND_DAY - 1 ? null : epoch1900Ms + DAY_MS + ms;
}

function inCalendar(at: number): number | null {
  return at < lastDayMs + DAY_MS ? at : null;
}

/**
 * A duration as in `[h]:mm`: an ISO 8601 duration of hours, minutes and seconds. Null for a number below zero, or of more
 * milliseconds than a double counts.
 */
function elapsedText(value: number): string | null {
  const ms = Math.round(value * DAY_MS);
  if (value < 0 || !Number.isSafeInteger(ms)) return null;
  const seconds = ms / 1000;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = Math.round((seconds % 60) * 1000) / 1000;
  return `PT${hours}H${minutes}M${rest}S`;
}
