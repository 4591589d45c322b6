/** What was refused or made to wait, by the limit that did it. */
import { Counter } from 'prom-client';
import { metrics } from '../metrics.ts';

/**
 * `minute`, `day`: counted calls of a key. `other`: all other calls of an account. `rows`: chunks that went
 * back until their key's rows per minute allow them. `wallet`, `key_budget`: calls that could not be paid,
 * and parts that ended because the rest could not.
 */
type Bucket = 'minute' | 'day' | 'other' | 'rows' | 'wallet' | 'key_budget';

const refusals = new Counter({
  name: 'enrich_refusals_total',
  help: 'Calls that were refused and chunks that have to wait, by limit.',
  labelNames: ['bucket'],
  registers: [metrics],
});

export function countRefusal(bucket: Bucket): void {
  refusals.inc({ bucket });
}
