/** Texts that a program passes on from others: they choose neither another call nor another receiver of the key. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient, UnreachableError } from './client.ts';

const received: string[] = [];
let servers: Server[] = [];
const [service, other] = ['', ''].map(() =>
  createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    const [, status] = /moved-(\d+)/.exec(request.url ?? '') ?? [];
    if (status !== undefined) response.writeHead(Number(status), { Location: elsewhere() });
    else response.setHeader('Content-Type', 'application/json');
    if (request.url?.includes('null-of-a-proxy')) response.writeHead(502).end('null');
    else response.end(request.url?.includes('page-of-a-proxy') ? '<html>' : '[]');
  }).listen(0, '127.0.0.1'),
) as [Server, Server];
const hostOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  servers = [service, other];
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
});
beforeEach(() => received.splice(0));
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

const elsewhere = () => `http://${hostOf(other)}/v1/elsewhere`;

const client = () => createClient(`http://${hostOf(service)}`, 'svc_test_key');

test('an id is one part of a path, whatever it holds', async () => {
  const id = '../personsearch?gender=2&limit=1000#';
  const part = encodeURIComponent(id);
  await client().getBatch(id);
  await client().deleteSchedule(id);
  await client().getResults(id, { format: 'csv' });
  await client().getExportResults(id);
  await client().replayDelivery('one', id);
  await client().decideRows(id, import.meta.filename, true);
  expect(received).toEqual([
    `GET /v1/batches/${part}`,
    `DELETE /v1/schedules/${part}`,
    `GET /v1/batches/${part}/results?format=csv`,
    `GET /v1/exports/${part}/results`,
    `POST /v1/webhooks/one/deliveries/${part}/replay`,
    `POST /v1/batches/${part}/decisions?hold=true`,
  ]);
});

test('an id that leads out of its part of the path is refused', async () => {
  for (const id of ['', '.', '..']) {
    const refusal = { status: 400, message: `'${id}' cannot be an id.` };
    await expect(client().getBatch(id)).rejects.toMatchObject(refusal);
    await expect(client().replayDelivery('..', id)).rejects.toThrow('cannot be an id');
    await expect(client().getResults(id)).rejects.toThrow('cannot be an id');
  }
  expect(received).toEqual([]);
});

test('the address of a page at another host is refused, and gets no key', async () => {
  for (const page of [`http://${hostOf(other)}/v1/personsearch`, `//${hostOf(other)}/`]) {
    await expect(client().searchPage(page)).rejects.toThrow('is no path of the service');
  }
  expect(received).toEqual([]);
  await client().searchPage('/v1/personsearch?gender=2');
  expect(received).toEqual(['GET /v1/personsearch?gender=2']);
});

test.each([301, 302, 303, 307, 308])(
  'a redirect (%i) is refused, and gets neither a list nor a query',
  async (status) => {
    const id = `moved-${status}`;
    const told = { status, code: 'redirected', message: expect.stringContaining(elsewhere()) };
    await expect(client().decideRows(id, import.meta.filename, true)).rejects.toMatchObject(told);
    await expect(client().searchPage(`/personsearch/?name=${id}`)).rejects.toMatchObject(told);
    await expect(client().getResults(id)).rejects.toMatchObject(told);
    expect(received).toEqual([
      `POST /v1/batches/${id}/decisions?hold=true`,
      `GET /personsearch/?name=${id}`,
      `GET /v1/batches/${id}/results`,
    ]);
  },
);

test('a refusal without a document is told with its status', async () => {
  const refusal = { status: 502, code: 'unknown', message: 'The service responded 502.' };
  await expect(client().getBatch('null-of-a-proxy')).rejects.toMatchObject(refusal);
});

test('a response that is none of the service is told with its address', async () => {
  const calls = [
    () => client().getBatch('page-of-a-proxy'),
    () => client().decideRows('page-of-a-proxy', import.meta.filename, true),
    () => client().searchPage('/personsearch/?name=page-of-a-proxy'),
    () => client().previewSearch('name=page-of-a-proxy'),
  ];
  for (const call of calls) {
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(String(error)).toContain(hostOf(service));
  }
});
