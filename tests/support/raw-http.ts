/** The API on its own port with custom limits, and clients that send raw bytes. */

import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createApp } from '../../src/api/app.ts';
import type { ApiContext } from '../../src/api/http/api-context.ts';
import { createHttpServer, type HttpLimits, httpLimits } from '../../src/api/http/http-server.ts';
import { openEnrichCalls } from '../../src/core/calls/enrich-calls.ts';
import { openAdmission, openAuthentication } from '../../src/core/keys/admission.ts';
import { openKeyUses } from '../../src/core/keys/key-uses.ts';
import { openSessions } from '../../src/core/sessions/sessions.ts';
import { type BatchWatcher, watchBatches } from '../../src/jobs/batch/watch-batches.ts';
import type { JobContext } from '../../src/jobs/queue/job-context.ts';

export interface LimitedServer {
  port: number;
  watcher: BatchWatcher;
  /** The number of open connections. */
  connections(): Promise<number>;
  close(): void;
}

/** Serves the API of a pipeline's context with changed limits. */
export async function serveWithLimits(
  context: JobContext & Pick<ApiContext, 'replicas' | 'readSearch'>,
  changed: Partial<HttpLimits>,
): Promise<LimitedServer> {
  const limits = { ...httpLimits, checkMs: 20, ...changed };
  const watcher = watchBatches(context.sql, context.log);
  const app = createApp(
    {
      ...context,
      watcher,
      keyUses: openKeyUses(context.sql, context.log),
      admit: openAdmission(context.sql, context.limiter),
      authenticate: openAuthentication(context.sql),
      findSession: openSessions(context.sql),
      calls: openEnrichCalls(context),
    },
    limits,
  );
  const server: Server = createHttpServer(app, limits).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    watcher,
    connections: () =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
    close() {
      watcher.stop();
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
