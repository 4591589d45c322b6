/** Metrics of single calls, by what answered for their records. */
import { Counter } from 'prom-client';
import type { RowsMatched } from '../graph-copy/report-copy.ts';
import { metrics } from '../metrics.ts';

const callsMatched = new Counter({
  name: 'enrich_calls_matched_total',
  help: 'Single calls of live keys, by what answered for their records: copy (the local copy of the graph) or postgres.',
  labelNames: ['by'],
  registers: [metrics],
});

const callsRepeated = new Counter({
  name: 'enrich_calls_repeated_total',
  help: 'Single calls that Postgres answered because the graph had changed when the local copy had answered.',
  registers: [metrics],
});

for (const by of ['copy', 'postgres'] as const) callsMatched.inc({ by }, 0);

/** Counts calls. `isRepeated` is true for those that the copy had answered before. */
export function countMatchedCalls(by: keyof RowsMatched, calls: number, isRepeated: boolean): void {
  callsMatched.inc({ by }, calls);
  if (isRepeated) callsRepeated.inc(calls);
}

/** Returns the calls that this process has answered, for its heartbeat. */
export async function readCallsMatched(): Promise<RowsMatched> {
  const { values } = await callsMatched.get();
  const by = (name: keyof RowsMatched) =>
    values.find(({ labels }) => labels.by === name)?.value ?? 0;
  return { copy: by('copy'), postgres: by('postgres') };
}
