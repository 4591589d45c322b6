/** Changes of the wallet, as `/v1/usage` returns them: ledger lines by UTC day, kind, operation and batch. */
import type { Calls } from '../../client/api-types.ts';
import { call } from '../api.ts';
import { now } from '../clock.ts';

type UsagePage = Calls['GET /v1/usage']['response'];
export type UsageLine = UsagePage['data'][number];

const PAGES_MAX = 50;

/** All lines of the days, latest day first. `isWhole` is false when there are more than a page can hold. */
export async function readUsage(
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<{ lines: UsageLine[]; isWhole: boolean }> {
  const lines: UsageLine[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query: URLSearchParams = new URLSearchParams({ from, to, limit: '1000' });
    if (cursor !== null) query.set('cursor', cursor);
    const answer: UsagePage = await call('GET', `/v1/usage?${query}`, { signal });
    lines.push(...answer.data);
    cursor = answer.next_cursor;
    if (cursor === null) return { lines, isWhole: true };
  }
  return { lines, isWhole: false };
}

/** Adds up lines that differ in their key alone. */
export function mergeKeys(lines: readonly UsageLine[]): UsageLine[] {
  const merged = new Map<string, UsageLine>();
  for (const line of lines) {
    const name = [line.day, line.kind, line.operation, line.batch_id].join('|');
    const same = merged.get(name);
    if (same === undefined) {
      merged.set(name, { ...line, key_id: null });
      continue;
    }
    same.credits += line.credits;
    same.units += line.units;
    same.lines += line.lines;
  }
  return [...merged.values()];
}

/** Credits spent by day, and of each day by operation; every day of the range is there. */
export function spentByDay(
  lines: readonly UsageLine[],
  from: string,
  to: string,
): { day: string; byOperation: Map<string, number>; total: number }[] {
  const days = daysOf(from, to).map((day) => ({
    day,
    byOperation: new Map<string, number>(),
    total: 0,
  }));
  const byName = new Map(days.map((entry) => [entry.day, entry]));
  for (const line of lines) {
    const entry = byName.get(line.day);
    if (entry === undefined || line.credits >= 0) continue;
    const operation = line.operation ?? line.kind;
    entry.byOperation.set(operation, (entry.byOperation.get(operation) ?? 0) - line.credits);
    entry.total -= line.credits;
  }
  return days;
}

/** The operations of the lines, the one that cost most first. */
export function operationsOf(lines: readonly UsageLine[]): { name: string; credits: number }[] {
  const sums = new Map<string, number>();
  for (const { operation, kind, credits } of lines) {
    if (credits < 0) {
      const name = operation ?? kind;
      sums.set(name, (sums.get(name) ?? 0) - credits);
    }
  }
  return [...sums]
    .map(([name, credits]) => ({ name, credits }))
    .sort((a, b) => b.credits - a.credits);
}

const DAY_MS = 86_400_000;

/** UTC days from one to another, both included. */
export function daysOf(from: string, to: string): string[] {
  const days: string[] = [];
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY_MS) {
    days.push(new Date(time).toISOString().slice(0, 10));
  }
  return days;
}

/** The UTC day so many days before today. */
export function daysAgo(days: number, today = now()): string {
  return new Date(today - days * DAY_MS).toISOString().slice(0, 10);
}

/** Credits spent by what a line names, such as its key; lines that name nothing are left out. */
export function spentBy(
  lines: readonly UsageLine[],
  nameOf: (line: UsageLine) => string | null,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const line of lines) {
    const name = line.credits < 0 ? nameOf(line) : null;
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) - line.credits);
  }
  return sums;
}

export interface SpendTrend {
  /** Of each of the two periods that are compared. */
  days: number;
  latest: number;
  before: number;
}

/** The cost of the latest week and of the week before; null when the range is shorter than both, or nothing was spent in them. */
export function spendTrend(
  lines: readonly UsageLine[],
  from: string,
  to: string,
): SpendTrend | null {
  const days = spentByDay(lines, from, to).toReversed();
  if (days.length < 2 * WEEK) return null;
  const sumOf = (some: typeof days) => some.reduce((sum, { total }) => sum + total, 0);
  const latest = sumOf(days.slice(0, WEEK));
  const before = sumOf(days.slice(WEEK, 2 * WEEK));
  return latest + before === 0 ? null : { days: WEEK, latest, before };
}

const WEEK = 7;

export interface DayBalance {
  day: string;
  /** Credits at the end of the day. */
  balance: number;
  /** Credits that were added on it. */
  added: number;
}

/** The balance at the end of each day, from the present one and all lines since the first day. */
export function balanceByDay(
  lines: readonly UsageLine[],
  { from, to, balance }: { from: string; to: string; balance: number },
): DayBalance[] {
  const moved = new Map<string, { sum: number; added: number }>();
  for (const { day, credits } of lines) {
    const { sum, added } = moved.get(day) ?? { sum: 0, added: 0 };
    moved.set(day, { sum: sum + credits, added: added + Math.max(0, credits) });
  }
  let left = balance;
  const days = daysOf(from, to).toReversed();
  return days
    .map((day) => {
      const { sum, added } = moved.get(day) ?? { sum: 0, added: 0 };
      const at = { day, balance: left, added };
      left -= sum;
      return at;
    })
    .toReversed();
}

export interface Forecast {
  creditsPerDay: number;
  /** Whole days until nothing is left at that pace; null while there are too few days to tell. */
  days: number | null;
}

/** Days from which on a pace says something. */
const PACE_DAYS_MIN = 3;

/**
 * How long the balance lasts at the pace of these days, or of those since the first credits of the account; null when
 * nothing was spent in them.
 */
export function forecast(
  lines: readonly UsageLine[],
  { from, to, balance }: { from: string; to: string; balance: number },
): Forecast | null {
  const spent = lines.reduce(
    (sum, { kind, credits }) => (kind === 'charge' ? sum - credits : sum),
    0,
  );
  const moved = lines.reduce((sum, { credits }) => sum + credits, 0);
  // Without a balance before these days the account is younger than they are.
  const [firstDay = from] = lines.map(({ day }) => day).sort();
  const began = balance === moved ? firstDay : from;
  const known = daysOf(began, to).length;
  const creditsPerDay = spent / known;
  const days = known < PACE_DAYS_MIN ? null : Math.floor(balance / creditsPerDay);
  return spent === 0 ? null : { creditsPerDay, days };
}
