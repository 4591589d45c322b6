/** The worker process: jobs of all queues, the sweep, and work at intervals. */
import { type Config, readConfig } from '../src/core/config.ts';
import { watchPool } from '../src/core/db/client.ts';
import { watchCopy } from '../src/core/graph-copy/report-copy.ts';
import { serveMetrics } from '../src/core/metrics.ts';
import { limitStore } from '../src/core/storage/limited-store.ts';
import { stopTracing } from '../src/core/tracing.ts';
import { startKeepingCopy } from '../src/jobs/housekeeping/keep-copy.ts';
import { startHousekeeping } from '../src/jobs/housekeeping/run-housekeeping.ts';
import { startSweeping } from '../src/jobs/housekeeping/sweep.ts';
import { startImporting } from '../src/jobs/imports/run-imports.ts';
import { startHeartbeat } from '../src/jobs/monitor/heartbeat.ts';
import { watchService } from '../src/jobs/monitor/watch-service.ts';
import { queueNames } from '../src/jobs/queue/job-names.ts';
import { openQueueBackend, queueStoreOf } from '../src/jobs/queue/open-backend.ts';
import { openQueues, repairQueue } from '../src/jobs/queue/queues.ts';
import { runWorkers } from '../src/jobs/queue/run-workers.ts';
import { loadQueueTelemetry } from '../src/jobs/queue/telemetry.ts';
import { jobs } from '../src/jobs/registry.ts';
import { startScheduling } from '../src/jobs/schedule/run-due.ts';
import { startDelivering } from '../src/jobs/webhook/deliver/deliver-due.ts';
import { databaseUrlOf, openProcess } from './open-process.ts';
import {
  exitWhenQueueUnusable,
  reportReady,
  shutDownGracefully,
  startReporting,
} from './process-life.ts';

/** Runs jobs until the process is asked to stop. */
export async function runWorker(config: Config): Promise<void> {
  const databaseUrl = databaseUrlOf(config);
  const context = await openProcess(config, databaseUrl, 'worker');
  const metrics = await serveMetrics('worker', config);
  const backend = openQueueBackend(
    queueStoreOf(config, databaseUrl),
    context.log,
    queueNames.length,
    await loadQueueTelemetry(),
  );
  const broken = exitWhenQueueUnusable(context.log);
  await repairQueue(backend, context.log).catch(broken);
  const queues = openQueues(backend, context.log, broken);
  const store = limitStore(context.store, config.workerConcurrency);
  const job = { ...context, store, config, queues };
  const workers = runWorkers(job, backend, jobs, broken);
  const sweeping = startSweeping(job);
  const housekeeping = startHousekeeping(job);
  const scheduling = startScheduling(job);
  // Parts of results wait for no copy.
  const keeping = startKeepingCopy({ ...job, store: context.store });
  const delivering = startDelivering(job);
  const importing = startImporting(job);
  watchPool(context.sql);
  watchService(job);
  watchCopy(context.localCopy);
  const heartbeat = startHeartbeat(context, 'worker');
  context.log.info({ metrics: metrics.url }, 'worker started');
  shutDownGracefully(async () => {
    // Webhook deliveries in flight finish while the other work stops.
    const delivered = delivering.stop();
    // A build in progress ends with its connection at the latest.
    const kept = keeping.stop();
    const imported = importing.stop();
    await scheduling.stop();
    await housekeeping.stop();
    await sweeping.stop();
    await workers.close();
    await delivered;
    await imported;
    await heartbeat.stop();
    metrics.server.close();
    await queues.close();
    await backend.close();
    await context[Symbol.asyncDispose]();
    await kept;
    await stopTracing();
  });
  await reportReady({ metricsUrl: metrics.url });
}

if (process.argv[1] === import.meta.filename) {
  await startReporting(() => runWorker(readConfig()));
}
