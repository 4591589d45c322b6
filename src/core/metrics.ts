/** Prometheus metrics of this process, served on their own port. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';

export const metrics = new Registry();

/** Serves `GET /metrics` on loopback; port 0 picks a free one. Returns the server and its address. */
export async function serveMetrics(port: number): Promise<{ server: Server; url: string }> {
  collectDefaultMetrics({ register: metrics });
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics` };
}
