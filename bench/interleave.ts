/** Two sides measured by turns, so that what the machine does meanwhile meets both. */

/** One measured run of one side. Its figures beside the wall time are for the record. */
export interface Run {
  wallSeconds: number;
  [figure: string]: unknown;
}

export interface RunPair {
  ours: Run;
  reference: Run;
}

/** Runs both sides once to warm up, then `runs` times by turns; the first in a turn changes. */
export async function interleave(
  runs: number,
  ours: () => Promise<Run>,
  reference: () => Promise<Run>,
): Promise<RunPair[]> {
  await ours();
  await reference();
  const pairs: RunPair[] = [];
  for (let turn = 0; turn < runs; turn++) {
    if (turn % 2 === 0) {
      const first = await ours();
      pairs.push({ ours: first, reference: await reference() });
    } else {
      const first = await reference();
      pairs.push({ reference: first, ours: await ours() });
    }
  }
  return pairs;
}

/** The middle value; the mean of the two middle ones of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
}
