/**
 * Prometheus metrics of this process, served on their own port. Names begin with `enrich_`. Label values are words
 * of this code (operations, outcomes, routes, states), never a key, an account or an identifier.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Config } from './config.ts';
import { untilListening } from './lib/until-listening.ts';

export const metrics = new Registry();

type MetricsAddress = Pick<Config, 'metricsHost' | 'metricsPort'>;

/**
 * Serves `GET /metrics`: the text that `read` returns, each sample with the label `process`. Concurrent requests share a
 * reading, because each takes time of the thread that serves callers. Also serves `GET /healthz`, for processes that have no
 * other server. Returns the server and its address. Throws `AppError` `port_in_use`. Call it once.
 */
export async function serveMetrics(
  process: string,
  { metricsHost: host, metricsPort: port }: MetricsAddress,
  read: () => Promise<string> = () => metrics.metrics(),
): Promise<{ server: Server; url: string }> {
  metrics.setDefaultLabels({ process });
  collectDefaultMetrics({ register: metrics });
  let reading: Promise<string> | null = null;
  const server = createServer((request, response) => {
    if (request.url === '/healthz') {
      response.writeHead(200).end('ok\n');
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    reading ??= read().finally(() => {
      reading = null;
    });
    reading.then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await untilListening(
    server,
    `METRICS_PORT: another program listens on port ${port} of ${host}. Set another port for each process on a machine, or 0 to pick a free one.`,
  );
  return { server, url: `http://${host}:${(server.address() as AddressInfo).port}/metrics` };
}
