/** The API process. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../src/api/app.ts';
import { type Config, readConfig } from '../src/core/config.ts';
import { openContext } from '../src/core/context.ts';
import { openEnrichCalls } from '../src/core/enrich/enrich-calls.ts';
import { openAdmission } from '../src/core/keys/admission.ts';
import { must } from '../src/core/lib/assert.ts';
import { serveMetrics } from '../src/core/metrics.ts';
import { watchBatches } from '../src/jobs/batch/watch-batches.ts';
import { openQueueBackend } from '../src/jobs/queue/backend.ts';
import { openQueues } from '../src/jobs/queue/queues.ts';
import { endGracefully, tellReady } from './process-life.ts';

/** Serves the API until the process is told to end. */
export async function runApi(config: Config): Promise<void> {
  const databaseUrl = must(config.databaseUrl, 'DATABASE_URL of the api process');
  const context = openContext(config, databaseUrl, 'api');
  const backend = openQueueBackend(databaseUrl, context.log, 0);
  const queues = openQueues(backend, context.log);
  const admit = openAdmission(context.sql);
  const calls = openEnrichCalls(context);
  const watcher = watchBatches(context.sql, context.log);
  const app = createApp({ ...context, config, queues, watcher, admit, calls });
  const server = app.listen(config.port, config.host);
  // Uploads may take long; a client that says nothing may not.
  server.requestTimeout = 0;
  server.headersTimeout = 10_000;
  await once(server, 'listening');
  const metrics = await serveMetrics(config.metricsPort);
  const url = `http://${config.host}:${(server.address() as AddressInfo).port}`;
  context.log.info({ url, metrics: metrics.url }, 'api listens');
  endGracefully(async () => {
    watcher.stop();
    metrics.server.close();
    await closeServer(server);
    await queues.close();
    await backend.close();
    await context[Symbol.asyncDispose]();
  });
  tellReady({ url, metricsUrl: metrics.url });
}

/** Waits for the answers under way; keep-alive connections without a request are closed at once. */
async function closeServer(server: Server): Promise<void> {
  server.close();
  server.closeIdleConnections();
  await once(server, 'close');
}

if (process.argv[1] === import.meta.filename) await runApi(readConfig());
