/**
 * Judges the history of calls that a limit has let in. The limit's own word is not asked: what was
 * admitted, and between which moments, is all that it looks at.
 */

/** A counted call: when it was sent and answered, in seconds, and whether it was let in. */
export interface Call {
  sent: number;
  answered: number;
  admitted: boolean;
}

/**
 * The worst stretch of the history: by how many calls it passes what a bucket of `perMinute` admits in
 * its time, which is its burst and what it gains. A call took its token at some moment between sent and
 * answered, so a stretch holds those that were sent and answered in it. At most 0 for a bucket that is
 * kept: any 60 s then hold two minutes' worth at most.
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

/** By how many calls the whole history, which must have asked all the time, stays below the bucket. */
export function shortfall(calls: readonly Call[], perMinute: number): number {
  // No spread into `Math.min`: a history may hold a hundred thousand calls.
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
