/** Counts refused and delayed work, by the limit that caused it. */
import { Counter } from 'prom-client';
import { metrics } from '../metrics.ts';

/**
 * `minute`, `day`: metered calls of a key. `other`: unmetered calls of an account. `rows`: chunks that were
 * delayed until their key's rows per minute allow them. `quotes`: quotes of one list. `lists`: lists and exports of an
 * account in a day. `wallet`, `key_budget`: calls that could not be paid, and parts that ended because the rest could not.
 */
const buckets = [
  'minute',
  'day',
  'other',
  'rows',
  'quotes',
  'lists',
  'wallet',
  'key_budget',
] as const;
type Bucket = (typeof buckets)[number];

const refusals = new Counter({
  name: 'enrich_refusals_total',
  help: 'Refused calls and delayed chunks, by limit.',
  labelNames: ['bucket'],
  registers: [metrics],
});

// Starts at 0, so that a rate shows the first refusal.
for (const bucket of buckets) refusals.inc({ bucket }, 0);

export function countRefusal(bucket: Bucket): void {
  refusals.inc({ bucket });
}
