/** What an operator watches: deliveries that are due and that nobody makes. */
import { Gauge } from 'prom-client';
import type { Sql } from '../../../core/db/client.ts';
import { metrics } from '../../../core/metrics.ts';
import { readOldestDueSeconds } from './queries.ts';

/** Tells, whenever the metrics are read, how long the delivery that is due longest has waited. */
export function watchDueDeliveries(sql: Sql): void {
  new Gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'Seconds that the webhook delivery which is due longest has waited; some 5 at most while no receiver is slow.',
    registers: [metrics],
    async collect() {
      // Without the database the last figure stands.
      await readOldestDueSeconds(sql).then(
        (seconds) => this.set(seconds),
        () => {},
      );
    },
  });
}
