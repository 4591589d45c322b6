/** What was refused or made to wait, by the limit that did it. */
import { Counter } from 'prom-client';
import { metrics } from '../metrics.ts';

/**
 * `minute`, `day`: counted calls of a key. `other`: all other calls of an account. `rows`: chunks that went
 * back until their key's rows per minute allow them. `quotes`: quotes of one list. `wallet`, `key_budget`: calls that could not be paid,
 * and parts that ended because the rest could not.
 */
const buckets = ['minute', 'day', 'other', 'rows', 'quotes', 'wallet', 'key_budget'] as const;
type Bucket = (typeof buckets)[number];

const refusals = new Counter({
  name: 'enrich_refusals_total',
  help: 'Calls that were refused and chunks that have to wait, by limit.',
  labelNames: ['bucket'],
  registers: [metrics],
});

// What never happened yet is 0: who looks at its growth sees the first time.
for (const bucket of buckets) refusals.inc({ bucket }, 0);

export function countRefusal(bucket: Bucket): void {
  refusals.inc({ bucket });
}
