/**
 * Metrics of rows and credits, counted where they are committed. The ledger is authoritative; these show the rate.
 */
import { Counter } from 'prom-client';
import { metrics } from '../metrics.ts';
import { operations, personSearch } from '../operations.ts';
import type { OutcomeStatus } from './outcomes.ts';

const rowsTotal = new Counter({
  name: 'enrich_rows_total',
  help: 'Rows with an outcome: rows of lists and exports, single calls, people of search pages.',
  labelNames: ['channel', 'operation', 'outcome', 'mode'],
  registers: [metrics],
});

const creditsTotal = new Counter({
  name: 'enrich_credits_total',
  help: 'Credits charged.',
  labelNames: ['channel', 'operation'],
  registers: [metrics],
});

// Starts at 0, so that an alert on the growth sees the first error.
for (const mode of ['live', 'test']) {
  for (const operation of Object.keys(operations)) {
    rowsTotal.inc({ channel: 'list', operation, outcome: 'error', mode }, 0);
  }
  rowsTotal.inc({ channel: 'export', operation: personSearch.name, outcome: 'error', mode }, 0);
}

export interface Work {
  /** The channel through which it came in. */
  channel: 'list' | 'export' | 'call' | 'search';
  operation: string;
  live: boolean;
  /** Rows of each outcome. */
  rows: { readonly [Outcome in OutcomeStatus]?: number };
  credits: number;
}

/** Counts committed work. Call it after the commit: work that is rolled back must not count. */
export function countWork({ channel, operation, live, rows, credits }: Work): void {
  const mode = live ? 'live' : 'test';
  for (const [outcome, count] of Object.entries(rows)) {
    if (count > 0) rowsTotal.inc({ channel, operation, outcome, mode }, count);
  }
  if (credits > 0) creditsTotal.inc({ channel, operation }, credits);
}
