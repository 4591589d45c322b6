/** The times of a schedule as most people say them, and as the cron expression that they are. Pure. */

export type Times =
  | { kind: 'daily' | 'weekdays'; time: string }
  | { kind: 'weekly'; time: string; weekday: number }
  /** A day of the month, or `L` for the last one. */
  | { kind: 'monthly'; time: string; day: string }
  | { kind: 'cron'; cron: string };

export type TimesKind = Times['kind'];

/** From Sunday on, as cron counts them. */
export const weekdays = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;

const TIME_FORM = /^(\d{1,2}) (\d{1,2}) (.+)$/;

/** Reads an expression; whatever is more than the usual times stays an expression. */
export function readCron(cron: string): Times {
  const other: Times = { kind: 'cron', cron };
  const [, minute, hour, days = ''] = TIME_FORM.exec(cron.trim().replace(/\s+/g, ' ')) ?? [];
  if (minute === undefined || Number(minute) > 59 || Number(hour) > 23) return other;
  const time = `${twoDigits(hour)}:${twoDigits(minute)}`;
  if (days === '* * *') return { kind: 'daily', time };
  if (days === '* * 1-5') return { kind: 'weekdays', time };
  const weekday = /^\* \* ([0-6])$/.exec(days)?.[1];
  if (weekday !== undefined) return { kind: 'weekly', time, weekday: Number(weekday) };
  const day = /^([1-9]|[12]\d|3[01]|L) \* \*$/.exec(days)?.[1];
  if (day !== undefined) return { kind: 'monthly', time, day };
  return other;
}

function twoDigits(number: string | undefined): string {
  return String(Number(number)).padStart(2, '0');
}

/** The expression of these times. */
export function writeCron(times: Times): string {
  if (times.kind === 'cron') return times.cron;
  const [hour, minute] = times.time.split(':').map(Number);
  const at = `${minute} ${hour}`;
  switch (times.kind) {
    case 'daily':
      return `${at} * * *`;
    case 'weekdays':
      return `${at} * * 1-5`;
    case 'weekly':
      return `${at} * * ${times.weekday}`;
    case 'monthly':
      return `${at} ${times.day} * *`;
  }
}

/** Times of another kind at the same time of day. */
export function withKind(times: Times, kind: TimesKind): Times {
  const time = times.kind === 'cron' ? '02:00' : times.time;
  switch (kind) {
    case 'weekly':
      return { kind, time, weekday: 1 };
    case 'monthly':
      return { kind, time, day: '1' };
    case 'cron':
      return { kind, cron: writeCron(times) };
    default:
      return { kind, time };
  }
}

/** An expression in words. */
export function sayCron(cron: string): string {
  const times = readCron(cron);
  switch (times.kind) {
    case 'daily':
      return `Every day at ${times.time}`;
    case 'weekdays':
      return `Monday to Friday at ${times.time}`;
    case 'weekly':
      return `Every ${weekdays[times.weekday]} at ${times.time}`;
    case 'monthly':
      return times.day === 'L'
        ? `On the last day of the month at ${times.time}`
        : `On day ${times.day} of the month at ${times.time}`;
    case 'cron':
      return times.cron;
  }
}
