/** The API process. */

import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../src/api/app.ts';
import { createHttpServer, httpLimits } from '../src/api/http/http-server.ts';
import { openEnrichCalls } from '../src/core/calls/enrich-calls.ts';
import { type Config, readConfig } from '../src/core/config.ts';
import { watchPool } from '../src/core/db/client.ts';
import { openReplicas } from '../src/core/db/replicas.ts';
import { watchCopy } from '../src/core/graph-copy/report-copy.ts';
import { openAdmission, openAuthentication } from '../src/core/keys/admission.ts';
import { openKeyUses } from '../src/core/keys/key-uses.ts';
import { openLane } from '../src/core/lib/coalesce.ts';
import { untilListening } from '../src/core/lib/until-listening.ts';
import { serveMetrics } from '../src/core/metrics.ts';
import { openSearches } from '../src/core/search/read-search.ts';
import { openSessions } from '../src/core/sessions/sessions.ts';
import { stopTracing } from '../src/core/tracing.ts';
import { watchBatches } from '../src/jobs/batch/watch-batches.ts';
import { startHeartbeat } from '../src/jobs/monitor/heartbeat.ts';
import { openQueueBackend, queueStoreOf } from '../src/jobs/queue/open-backend.ts';
import { openQueues, repairQueue } from '../src/jobs/queue/queues.ts';
import { loadQueueTelemetry } from '../src/jobs/queue/telemetry.ts';
import { databaseUrlOf, openProcess } from './open-process.ts';
import {
  exitWhenQueueUnusable,
  reportReady,
  shutDownGracefully,
  startReporting,
} from './process-life.ts';

/** Maximum batches of coalesced calls in flight, admissions included. */
const BATCHES_IN_FLIGHT_MAX = 2;
/**
 * Connections that the system keeps until they are accepted, one in each round of the event loop. With Node's 511, those beyond
 * were dropped in a burst, and their clients tried again after 1, 3 and 7 s. Linux takes no more than `net.core.somaxconn`.
 */
const UNACCEPTED_MAX = 4_096;
/** At shutdown, responses that take longer are cut off, before the process itself is killed. */
const RESPONSES_MS_MAX = 15_000;

/** Serves the API until the process is asked to stop. */
export async function runApi(config: Config): Promise<void> {
  const databaseUrl = databaseUrlOf(config);
  const context = await openProcess(config, databaseUrl, 'api');
  const replicas = openReplicas(config, databaseUrl, context.log);
  const backend = openQueueBackend(
    queueStoreOf(config, databaseUrl),
    context.log,
    0,
    await loadQueueTelemetry(),
  );
  const broken = exitWhenQueueUnusable(context.log);
  await repairQueue(backend, context.log).catch(broken);
  const queues = openQueues(backend, context.log, broken);
  const lane = openLane(BATCHES_IN_FLIGHT_MAX);
  const admit = openAdmission(context.sql, context.limiter, lane);
  const calls = openEnrichCalls({ ...context, config }, lane);
  const readSearch = openSearches({ ...context, replicas }, config);
  const watcher = watchBatches(context.sql, context.log);
  const keyUses = openKeyUses(context.sql, context.log);
  const app = createApp({
    ...context,
    config,
    replicas,
    readSearch,
    queues,
    watcher,
    keyUses,
    admit,
    authenticate: openAuthentication(context.sql),
    findSession: openSessions(context.sql),
    calls,
  });
  let answer = () => {};
  // `/readyz` must not answer before `up.json` tells commands where the service is.
  const known = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const server = createHttpServer(app, httpLimits, (request, response) => {
    void known.then(() => app(request, response));
  }).listen({ port: config.port, host: config.host, backlog: UNACCEPTED_MAX });
  await untilListening(
    server,
    `Port ${config.port} of ${config.host} is in use by another program. Choose another port: set PORT=8081, or add --port 8081 to \`enrich up\`.`,
  );
  const metrics = await serveMetrics('api', config);
  watchPool(context.sql);
  watchCopy(context.localCopy);
  const heartbeat = startHeartbeat(context, 'api');
  const url = `http://${config.host}:${(server.address() as AddressInfo).port}`;
  context.log.info({ url, metrics: metrics.url }, 'API listening');
  shutDownGracefully(async () => {
    watcher.stop();
    await closeServer(server);
    await keyUses.written();
    await heartbeat.stop();
    metrics.server.close();
    await queues.close();
    await backend.close();
    await replicas[Symbol.asyncDispose]();
    await context[Symbol.asyncDispose]();
    await stopTracing();
  });
  await reportReady({ url, metricsUrl: metrics.url });
  answer();
}

/**
 * Waits for the responses in progress, up to a maximum. Connections without a request are closed at once; a client that
 * keeps sending requests loses its connection after the next response.
 */
async function closeServer(server: Server): Promise<void> {
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.setHeader('Connection', 'close');
  });
  server.keepAliveTimeout = 1;
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), RESPONSES_MS_MAX);
  await once(server, 'close');
  clearTimeout(cut);
}

if (process.argv[1] === import.meta.filename) {
  await startReporting(() => runApi(readConfig()));
}
