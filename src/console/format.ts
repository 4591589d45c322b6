/** Numbers, times and sizes as people read them, in the browser's own language. */
import type { Calls } from '../client/api-types.ts';
import { PERSON_PRICE } from './priced-operations.ts';

const whole = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function formatNumber(value: number): string {
  return whole.format(value);
}

/** The smallest share that is not shown as none. */
const SHARE_MIN = 0.001;

export function formatShare(part: number, of: number): string {
  const share = of === 0 ? 0 : part / of;
  const isTiny = share > 0 && share < SHARE_MIN;
  return isTiny ? `<${percent.format(SHARE_MIN)}` : percent.format(share);
}

/** A date and time of the API. */
export function formatTime(iso: string): string {
  return moment.format(new Date(iso));
}

/** The day of such a time. */
export function formatDay(iso: string): string {
  return day.format(new Date(iso));
}

/** A size in steps of 1,024, as limits are set: 209,715,200 bytes are `200 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${value.toLocaleString(undefined, { maximumFractionDigits: power === 0 ? 0 : 1 })} ${units[power]}`;
}

/** Seconds as `45 s`, `3 min 20 s` or `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const rounded = Math.max(0, Math.round(seconds));
  if (rounded < 60) return `${rounded} s`;
  const minutes = Math.floor(rounded / 60);
  if (minutes < 60) return `${minutes} min ${rounded % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A number as the service tells it; `below` is fewer than `total`, perhaps none. */
export type DisclosedTotal = Pick<
  Calls['GET /v1/personsearch/preview']['response'],
  'total' | 'total_is'
>;

/** `fewer than 10`, `about 1,200` or `12`. */
export function formatTotal({ total, total_is }: DisclosedTotal): string {
  const said = { exact: '', about: 'about ', below: 'fewer than ' }[total_is];
  return `${said}${formatNumber(total)}`;
}

/** The most that a total stands for: one told as about 1,200 was rounded to tens or two digits. */
export function mostOf({ total, total_is }: DisclosedTotal): number {
  if (total_is === 'exact') return total;
  if (total_is === 'below') return total - 1;
  const step = Math.max(10, 10 ** (String(total).length - 2));
  return total + step / 2 - 1;
}

/** The same with its noun: `about 1,200 people`. */
export function totalOf(told: DisclosedTotal, one: string, many = `${one}s`): string {
  const isOne = told.total === 1 && told.total_is === 'exact';
  return `${formatTotal(told)} ${isOne ? one : many}`;
}

/** The price of so many people of a search: `about 1,200 credits`. */
export function priceOfPeople({ total, total_is }: DisclosedTotal): string {
  return totalOf({ total: total * PERSON_PRICE, total_is }, 'credit');
}

/** A text of someone's file in the order of its letters, which is also that of matching: without characters that turn it. */
export function inOrder(text: string): string {
  return text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '');
}

/** A number and its noun: `1 row`, `2 rows`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}
