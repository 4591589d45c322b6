/** Rows and credits as metrics, counted where they are committed. The ledger is the truth; this is its pace. */
import { Counter } from 'prom-client';
import { metrics } from '../metrics.ts';
import { operations } from '../operations.ts';
import type { OutcomeStatus } from './outcomes.ts';

const rowsTotal = new Counter({
  name: 'enrich_rows_total',
  help: 'Rows that came to an outcome: rows of lists and exports, single calls, people of search pages.',
  labelNames: ['channel', 'operation', 'outcome', 'mode'],
  registers: [metrics],
});

const creditsTotal = new Counter({
  name: 'enrich_credits_total',
  help: 'Credits charged.',
  labelNames: ['channel', 'operation'],
  registers: [metrics],
});

// What never happened yet is 0: an alert on its growth sees the first time.
for (const operation of Object.keys(operations)) {
  rowsTotal.inc({ channel: 'list', operation, outcome: 'error', mode: 'live' }, 0);
}

export interface Work {
  /** How it came in. */
  channel: 'list' | 'export' | 'call' | 'search';
  operation: string;
  live: boolean;
  /** Rows of each outcome. */
  rows: { readonly [Outcome in OutcomeStatus]?: number };
  credits: number;
}

/** Counts work that is committed; never before, because what is rolled back did not happen. */
export function countWork({ channel, operation, live, rows, credits }: Work): void {
  const mode = live ? 'live' : 'test';
  for (const [outcome, count] of Object.entries(rows)) {
    if (count > 0) rowsTotal.inc({ channel, operation, outcome, mode }, count);
  }
  if (credits > 0) creditsTotal.inc({ channel, operation }, credits);
}
