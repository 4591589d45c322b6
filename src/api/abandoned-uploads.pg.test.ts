/** Clients that disconnect while their upload still waits for the database: nothing is held for them afterwards. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { type LimitedServer, openSocket, serveWithLimits } from '../../tests/support/raw-http.ts';
import { Signal } from '../../tests/support/signal.ts';

let pipeline: Pipeline;
let server: LimitedServer;
beforeAll(async () => {
  pipeline = await openPipeline();
  server = await serveWithLimits(pipeline.context, {});
});
afterAll(async () => {
  server.close();
  await pipeline.close();
});

const list = 'email\np1@list.example\n';
const form = [
  '--edge\r\nContent-Disposition: form-data; name="operation"\r\n\r\npeople.enrich\r\n',
  `--edge\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${list}\r\n`,
  '--edge--\r\n',
].join('');
const bodies: [string, string, string][] = [
  ['form', 'multipart/form-data; boundary=edge', form],
  ['CSV', 'text/csv', list],
];

interface Upload {
  caller: Caller;
  type: string;
  body: string;
  idempotencyKey: string;
}

function send(socket: Socket, { caller, type, body, idempotencyKey }: Upload): void {
  const headers = [
    'Host: x',
    `Authorization: Bearer ${caller.key}`,
    `Idempotency-Key: ${idempotencyKey}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
  ].join('\r\n');
  const path = '/v1/batches?operation=people.enrich';
  socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`);
}

/** Sends an upload and disconnects while the service waits for the table, which it reads before the body. */
async function abandon(upload: Upload, table: 'idempotency_keys' | 'uploads'): Promise<void> {
  const [locked, gone] = [new Signal(), new Signal()];
  const holding = pipeline.sql.begin(async (tx) => {
    await tx`lock table ${tx(table)}`;
    locked.raise();
    await gone.raised;
  });
  await locked.raised;
  const socket = await openSocket(server.port);
  send(socket, upload);
  await pipeline.untilBlocked(1);
  socket.destroy();
  await vi.waitUntil(async () => (await server.connections()) === 0);
  gone.raise();
  await holding;
}

/** Returns the status of an upload, once its Idempotency-Key is not in use by an earlier one. */
async function statusOf(upload: Upload): Promise<number> {
  const socket = await openSocket(server.port);
  for (;;) {
    send(socket, upload);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(bytes.toString())?.[1]);
    if (status === 409) continue;
    socket.destroy();
    return status;
  }
}

describe.each(bodies)('an upload as a %s', (_what, type, body) => {
  test.each(['idempotency_keys', 'uploads'] as const)(
    'that was abandoned during a read of %s can be sent again at once',
    async (table) => {
      const caller = await pipeline.account(10);
      const upload = { caller, type, body, idempotencyKey: 'again' };
      await abandon(upload, table);
      expect(await statusOf(upload)).toBe(202);
    },
  );

  test('has room after seventeen that were abandoned', async () => {
    const caller = await pipeline.account(10);
    for (let upload = 0; upload < 17; upload++) {
      await abandon(
        { caller, type, body, idempotencyKey: `abandoned ${upload}` },
        'idempotency_keys',
      );
    }
    expect(await statusOf({ caller, type, body, idempotencyKey: 'last' })).toBe(202);
  });
});
