/** Measures likely matches on rows whose truth is known: precision, recall, ambiguities and calibration. Pure. */

/** A row's match, and the right one. */
export interface MeasuredRow {
  status: 'matched' | 'ambiguous' | 'no_match' | 'invalid';
  /** The best candidate, matched or not; 0 for none. */
  id: number;
  probability: number;
  /** The record that the row means; 0 when it must not match. */
  expected: number;
  /** The records that fit it; several when the row cannot tell which. */
  fits: ReadonlySet<number>;
  kind: string;
}

/** Rows of similar probability. */
export interface ReliabilityBin {
  from: number;
  to: number;
  rows: number;
  /** Mean of the probabilities, and share of the rows that were right. */
  probability: number;
  right: number;
}

export interface KindCounts {
  rows: number;
  right: number;
  wrong: number;
  ambiguous: number;
}

export interface Measured {
  rows: number;
  /** Matched rows, and how many of them are right. */
  matched: number;
  right: number;
  /** Matches of another record, of a row that must not match, and of one that several records fit. */
  wrong: { other_record: number; no_match: number; ambiguous: number };
  precision: number;
  recall: number;
  f1: number;
  ambiguous: { rows: number; told: number; share: number };
  /** Mean distance of probability and share of right ones over the rows with a candidate, in ten bins. */
  calibration_error: number;
  /** The same over the matched rows alone. */
  calibration_error_matched: number;
  reliability: ReliabilityBin[];
  kinds: Record<string, KindCounts>;
}

const BINS = 10;
/** A best candidate of less probability is none. */
const PROBABILITY_MIN = 0.02;

/** Returns how good the matches are. `kind` `ambiguous` marks rows that no single record fits best. */
export function measureLikely(rows: readonly MeasuredRow[]): Measured {
  const kinds = new Map<string, KindCounts>();
  const wrong = { other_record: 0, no_match: 0, ambiguous: 0 };
  const ambiguous = { rows: 0, told: 0 };
  let matched = 0;
  let right = 0;
  let expected = 0;
  for (const row of rows) {
    const counts = kinds.get(row.kind) ?? { rows: 0, right: 0, wrong: 0, ambiguous: 0 };
    kinds.set(row.kind, counts);
    counts.rows += 1;
    if (row.expected !== 0) expected += 1;
    if (row.kind === 'ambiguous') ambiguous.rows += 1;
    if (row.status === 'ambiguous') {
      counts.ambiguous += 1;
      if (row.kind === 'ambiguous') ambiguous.told += 1;
    }
    if (row.status !== 'matched') continue;
    matched += 1;
    if (row.expected !== 0 && row.id === row.expected) {
      right += 1;
      counts.right += 1;
      continue;
    }
    counts.wrong += 1;
    if (row.expected !== 0) wrong.other_record += 1;
    else if (row.kind === 'ambiguous') wrong.ambiguous += 1;
    else wrong.no_match += 1;
  }
  const precision = ratio(right, matched);
  const recall = ratio(right, expected);
  const judged = rows.filter(({ id, probability }) => id !== 0 && probability >= PROBABILITY_MIN);
  return {
    rows: rows.length,
    matched,
    right,
    wrong,
    precision,
    recall,
    f1: round(precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)),
    ambiguous: { ...ambiguous, share: ratio(ambiguous.told, ambiguous.rows) },
    calibration_error: errorOf(judged),
    calibration_error_matched: errorOf(judged.filter(({ status }) => status === 'matched')),
    reliability: binsOf(judged),
    kinds: Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** How far the best candidate is right: one of several that fit is so in one case of as many. */
function rightness({ id, expected, fits }: MeasuredRow): number {
  if (expected !== 0) return Number(id === expected);
  return fits.has(id) ? 1 / fits.size : 0;
}

function binsOf(rows: readonly MeasuredRow[]): ReliabilityBin[] {
  const bins: MeasuredRow[][] = Array.from({ length: BINS }, () => []);
  for (const row of rows) {
    bins[Math.min(BINS - 1, Math.floor(row.probability * BINS))]?.push(row);
  }
  return bins.flatMap((bin, index) =>
    bin.length === 0
      ? []
      : [
          {
            from: index / BINS,
            to: (index + 1) / BINS,
            rows: bin.length,
            probability: ratio(
              bin.reduce((sum, row) => sum + row.probability, 0),
              bin.length,
            ),
            right: ratio(
              bin.reduce((sum, row) => sum + rightness(row), 0),
              bin.length,
            ),
          },
        ],
  );
}

function errorOf(rows: readonly MeasuredRow[]): number {
  const sum = binsOf(rows).reduce(
    (total, bin) => total + bin.rows * Math.abs(bin.probability - bin.right),
    0,
  );
  return ratio(sum, rows.length);
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : round(part / whole);
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
