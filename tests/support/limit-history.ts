/**
 * Judges the history of calls that a limit admitted, independent of the limiter: uses only which calls were
 * admitted, and between which times.
 */

/** A metered call: when it was sent and answered, in seconds, and whether it was admitted. */
export interface Call {
  sent: number;
  answered: number;
  admitted: boolean;
}

/**
 * The largest excess in any interval of the history: the number of calls above what a bucket of `perMinute`
 * admits in that time (its burst plus its refill). A call took its token at some moment between sent and
 * answered, so an interval contains the calls sent and answered within it. At most 0 for a correct bucket: any
 * 60 s then contain at most two minutes' worth.
 */
export function worstExcess(calls: readonly Call[], perMinute: number): number {
  const admitted = calls.filter((call) => call.admitted).sort((a, b) => a.answered - b.answered);
  let worst = Number.NEGATIVE_INFINITY;
  for (const { sent: begin } of admitted) {
    let inside = 0;
    for (const { sent, answered } of admitted) {
      if (sent < begin) continue;
      inside++;
      worst = Math.max(worst, inside - perMinute - ((answered - begin) * perMinute) / 60);
    }
  }
  return worst;
}

/** The number of calls by which the whole history stays below the bucket; it must have called all the time. */
export function shortfall(calls: readonly Call[], perMinute: number): number {
  // No spread into `Math.min`: a history may have a hundred thousand calls.
  let firstAnswer = Number.POSITIVE_INFINITY;
  let lastSent = 0;
  for (const { sent, answered } of calls) {
    firstAnswer = Math.min(firstAnswer, answered);
    lastSent = Math.max(lastSent, sent);
  }
  const seconds = lastSent - firstAnswer;
  return perMinute + (seconds * perMinute) / 60 - countAdmitted(calls);
}

export function countAdmitted(calls: readonly Call[]): number {
  return calls.filter(({ admitted }) => admitted).length;
}
