import { Counter } from 'prom-client';
import { metrics } from '../../core/metrics.ts';

export const leasesReclaimed = new Counter({
  name: 'enrich_leases_reclaimed_total',
  help: 'Chunks that this process reclaimed after their lease expired, because a worker died or froze.',
  registers: [metrics],
});
