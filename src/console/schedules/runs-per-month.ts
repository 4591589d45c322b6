const MONTH_MS = 30 * 24 * 3600 * 1000;

/** Returns the number of runs in 30 days at the pace of these times, in order; null for fewer than two. */
export function runsPerMonth(times: readonly string[]): number | null {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  const each = (Date.parse(last) - Date.parse(first)) / (times.length - 1);
  return Math.max(1, Math.round(MONTH_MS / each));
}
