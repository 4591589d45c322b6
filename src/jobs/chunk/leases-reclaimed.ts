import { Counter } from 'prom-client';
import { metrics } from '../../core/metrics.ts';

export const leasesReclaimed = new Counter({
  name: 'enrich_leases_reclaimed_total',
  help: 'Leases of chunks that ran out, because a worker died or froze, and were taken back by this process.',
  registers: [metrics],
});
