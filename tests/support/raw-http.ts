/** The API on its own port with custom limits, and clients that send raw bytes. */

import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createApp } from '../../src/api/app.ts';
import type { ApiContext } from '../../src/api/http/api-context.ts';
import { createHttpServer, type HttpLimits, httpLimits } from '../../src/api/http/http-server.ts';
import type { BatchWatcher } from '../../src/jobs/batch/watch-batches.ts';
import type { JobContext } from '../../src/jobs/queue/job-context.ts';
import { openApiContext } from './api-context.ts';

export interface LimitedServer {
  port: number;
  watcher: BatchWatcher;
  /** The number of open connections. */
  connections(): Promise<number>;
  /** Cuts the connections that are open now after this time without a byte, instead of after `stallMs`. */
  cutSilent(ms: number): void;
  close(): void;
}

/** Serves the API of a pipeline's context with changed limits. */
export async function serveWithLimits(
  context: JobContext & Pick<ApiContext, 'replicas' | 'readSearch'>,
  changed: Partial<HttpLimits>,
): Promise<LimitedServer> {
  const limits = { ...httpLimits, checkMs: 20, ...changed };
  const api = openApiContext(context);
  const server: Server = createHttpServer(createApp(api, limits), limits).listen(0, '127.0.0.1');
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    watcher: api.watcher,
    connections: () =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
    cutSilent(ms) {
      for (const socket of sockets) socket.setTimeout(ms);
    },
    close() {
      api.watcher.stop();
      server.close().closeAllConnections();
    },
  };
}

export interface RawAnswer {
  /** 0 when the connection ended without a response. */
  status: number;
  headers: string;
  body: string;
  /** Everything received, which may be several responses. */
  text: string;
}

/** Opens a connection. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

/** Sends bytes and reads until the server closes the connection; `meanwhile` may send more. */
export async function exchange(
  port: number,
  text: string,
  meanwhile: (socket: Socket) => unknown = () => {},
): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  let read = '';
  socket.on('data', (bytes) => {
    read += bytes;
  });
  // Bytes that were sent but not read may reset the connection after the response.
  socket.on('error', () => {});
  socket.write(text);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await meanwhile(socket);
  await closed;
  const [headers = '', body = ''] = read.split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d+) /.exec(headers)?.[1] ?? 0);
  return { status, headers, body, text: read };
}
