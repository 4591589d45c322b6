/** What an operator watches: schedules that are due and that nobody runs. */
import { Gauge } from 'prom-client';
import type { Sql } from '../../core/db/client.ts';
import { metrics } from '../../core/metrics.ts';
import { readOldestDueSeconds } from './queries.ts';

/** Tells, whenever the metrics are read, how long the schedule that is due longest has waited. */
export function watchDueSchedules(sql: Sql): void {
  new Gauge({
    name: 'schedule_oldest_due_seconds',
    help: 'Seconds that the schedule which is due longest has waited; some 5 at most in a healthy service.',
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
