/** A receiver of webhooks on loopback, which records requests and responds as configured by a test. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Responds to a request whose body was read. */
export type Answer = (response: ServerResponse) => void;

export const withStatus =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end();
  };

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

export async function openReceiver() {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const server = createServer((request, response) => {
    const take = (body: string) => {
      const { url = '', headers } = request;
      received.push({ path: url, headers: headers as Record<string, string>, body });
      (answers.shift() ?? receiver.usually)(response);
    };
    // A disconnected client gets no response.
    readBody(request).then(take, () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Every request, in order. */
    received,
    /** Responses to the next requests; later ones get `usually`. */
    answers,
    usually: withStatus(204),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
