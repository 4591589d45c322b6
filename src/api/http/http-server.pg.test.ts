import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import {
  exchange,
  type LimitedServer,
  openSocket,
  type RawAnswer,
  serveWithLimits,
} from '../../../tests/support/raw-http.ts';
import type { HttpLimits } from './http-server.ts';
import { problemSchema } from './problem.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const servers: LimitedServer[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function serve(
  changed: Partial<HttpLimits> = {},
  context: Pipeline['context'] = pipeline.context,
): Promise<number> {
  const server = await serveWithLimits(context, changed);
  servers.push(server);
  return server.port;
}

function expectProblem(answer: RawAnswer, status: number, code: string): void {
  expect(answer.status, answer.headers).toBe(status);
  expect(answer.headers).toMatch(/^content-type: application\/problem\+json/im);
  expect(answer.headers).toMatch(/^connection: close$/im);
  const problem = problemSchema.parse(JSON.parse(answer.body));
  expect(problem).toMatchObject({ status, code });
  expect(answer.headers.toLowerCase()).toContain(`x-request-id: ${problem.request_id}`);
}

describe('what cannot be read is answered as a problem', () => {
  test.each([
    [
      'headers too large',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'more than a hundred headers',
      `GET /healthz HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(100)}\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'a URL of twenty kilobytes',
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      414,
      'uri_too_long',
    ],
    ['no HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400, 'invalid_request'],
    [
      'an expectation that cannot be met',
      'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n',
      417,
      'expectation_failed',
    ],
    [
      'two lengths',
      'POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'a length beside chunks',
      'POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'a coding of the body besides chunks',
      'POST /v1/keys HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      501,
      'transfer_coding_unknown',
    ],
  ] as const)('%s', async (_name, text, status, code) => {
    expectProblem(await exchange(await serve(), text), status, code);
  });

  test('but a hundred headers are served', async () => {
    const headers = `Connection: close\r\n${'a: b\r\n'.repeat(98)}`;
    const request = `GET /healthz HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
    expect((await exchange(await serve(), request)).status).toBe(200);
  });

  test('but chunks are read in any spelling', async () => {
    const request =
      'POST /v1/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n';
    expect((await exchange(await serve(), request)).status).toBe(401);
  });

  test('a URL of nine kilobytes', async () => {
    const response = await fetch(`http://127.0.0.1:${await serve()}/${'a'.repeat(9_000)}`);
    expect(response.status).toBe(414);
    expect(problemSchema.parse(await response.json()).code).toBe('uri_too_long');
  });
});

describe('who is slow is cut', () => {
  test('with the headers', async () => {
    const port = await serve({ headersMs: 100 });
    const started = performance.now();
    expectProblem(await exchange(port, 'GET /healthz HTTP/1.1\r\nX-A: '), 408, 'request_timeout');
    expect(performance.now() - started).toBeGreaterThan(90);
  });

  test('with nothing at all', async () => {
    expectProblem(await exchange(await serve({ headersMs: 100 }), ''), 408, 'request_timeout');
  });

  test('with the body of a call', async () => {
    const port = await serve({ bodyMs: 100 });
    const head = `POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\n`;
    const { accountId } = caller;
    const { key } = await pipeline.keyOf(accountId, 'live', ['account']);
    const keys = head.replace('/v1/uploads', '/v1/keys').replace(caller.key, key);
    const body = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"mode":';
    expectProblem(await exchange(port, keys + body), 408, 'request_timeout');
  });

  test('with the body of a call that waits for the database, which is no error of ours', async () => {
    const errors: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => errors.push(line) });
    const port = await serve({ bodyMs: 100 }, { ...pipeline.context, log });
    const lock = await pipeline.sql.reserve();
    await lock`begin`;
    await lock`lock table api_keys`;
    const head = `POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\n`;
    const refused = await exchange(port, `${head}Content-Length: 100\r\n\r\n{"mode":`);
    await lock`rollback`;
    lock.release();
    expectProblem(refused, 408, 'request_timeout');
    // Calls that come later take as many steps as what is left of the call before them.
    for (let call = 0; call < 3; call++) await pipeline.call(caller, '/v1/me');
    expect(errors).toEqual([]);
  });

  test('but no client whose body has arrived, however long the database takes', async () => {
    const port = await serve({ bodyMs: 50 });
    const { key } = await pipeline.keyOf(caller.accountId, 'live', ['account']);
    for (const name of ['short', 'n'.repeat(90_000)]) {
      const lock = await pipeline.sql.reserve();
      await lock`begin`;
      await lock`lock table api_keys`;
      const body = JSON.stringify({ mode: 'test', name });
      const answered = exchange(
        port,
        `POST /v1/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const started = performance.now();
      // Calls in between are the clock: they end several times of `bodyMs` later.
      while (performance.now() - started < 300) await fetch(`http://127.0.0.1:${port}/healthz`);
      await lock`rollback`;
      lock.release();
      expect((await answered).status).toBe(name === 'short' ? 201 : 400);
    }
  });

  test('and no client whose body arrived while the process was busy', async () => {
    const bodyMs = 100;
    const port = await serve({ bodyMs });
    const { key } = await pipeline.keyOf(caller.accountId, 'live', ['account']);
    const body = JSON.stringify({ mode: 'test', name: 'busy' });
    const head = `POST /v1/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
    const answer = await exchange(port, head, async (socket) => {
      await once(socket, 'data');
      socket.write(body);
      const started = performance.now();
      while (performance.now() - started < 2 * bodyMs);
    });
    expect(answer.text).toMatch(/^HTTP\/1.1 201 /m);
  });

  test('with an upload of which nothing comes, and the batch is not made', async () => {
    const port = await serve({ stallMs: 200 });
    const head = `POST /v1/batches?operation=people.enrich HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\n`;
    const { status } = await exchange(
      port,
      `${head}Content-Type: text/csv\r\nContent-Length: 1000\r\n\r\nemail\na@b.example\n`,
    );
    expect(status).toBe(0);
    const [row] = await pipeline.sql<{ count: number }[]>`select count(*) as count from batches`;
    expect(row?.count).toBe(0);
  });

  test('while an upload whose bytes come may take longer than any body', async () => {
    const port = await serve({ bodyMs: 50, stallMs: 5_000 });
    const list = 'email\na@b.example\n';
    const socket = await openSocket(port);
    let read = '';
    socket.on('data', (bytes) => {
      read += bytes;
    });
    socket.write(
      `POST /v1/batches?operation=people.enrich HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${caller.key}\r\nContent-Type: text/csv\r\nContent-Length: ${list.length}\r\n\r\n`,
    );
    const started = performance.now();
    for (const letter of list) {
      socket.write(letter);
      // A call in between is the clock: each takes some milliseconds of the server's time.
      while (performance.now() - started < 150 && letter === 'b') {
        await fetch(`http://127.0.0.1:${port}/healthz`);
      }
    }
    await once(socket, 'close');
    expect(performance.now() - started).toBeGreaterThan(100);
    expect(read).toMatch(/^HTTP\/1\.1 202 /);
  });

  test.each(['csv', 'csv-safe'])('with reading a result as %s', async (format) => {
    const port = await serve({ stallMs: 200 });
    const rows = Array.from(
      { length: 60_000 },
      (_, row) => `${row}@nobody.example,${'x'.repeat(200)}`,
    );
    const id = await pipeline.enrich(caller, `email,note\n${rows.join('\n')}\n`, {
      operation: 'people.enrich',
    });
    const socket = await openSocket(port);
    socket.pause();
    socket.write(
      `GET /v1/batches/${id}/results?format=${format} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\n\r\n`,
    );
    const connections = async () => servers.at(-1)?.connections();
    while ((await connections()) === 0) await fetch(`${pipeline.url}/healthz`);
    while ((await connections()) !== 0) await fetch(`${pipeline.url}/healthz`);
    socket.destroy();
  });

  test.each(['search=nothing', 'outcomes=matched', 'format=xlsx', 'format=jsonl'])(
    'but not while the service reads a list for it: %s',
    async (query) => {
      const stallMs = 50;
      const port = await serve();
      const id = await pipeline.enrich(caller, 'email\na@nobody.example\n', {
        operation: 'people.enrich',
      });
      pipeline.faults.get = async () => {
        // Not before: a busy machine may be silent for as long while it checks the key.
        servers.at(-1)?.cutSilent(stallMs);
        const started = performance.now();
        // A call is the clock.
        while (performance.now() - started < 4 * stallMs) await fetch(`${pipeline.url}/healthz`);
      };
      try {
        const { status } = await exchange(
          port,
          `GET /v1/batches/${id}/results?${query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${caller.key}\r\n\r\n`,
        );
        expect(status).toBe(200);
      } finally {
        delete pipeline.faults.get;
      }
    },
  );
});

test('three hundred silent connections delay no other client', async () => {
  const port = await serve();
  const silent = await Promise.all(Array.from({ length: 300 }, () => openSocket(port)));
  for (const socket of silent) socket.write('GET /healthz HTTP/1.1\r\nX-A: ');
  const response = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect(await response.json()).toEqual({ status: 'ok' });
  for (const socket of silent) socket.destroy();
});

test('a client that asks on and on without waiting for answers is cut', async () => {
  const port = await serve({ pipelinedMax: 4 });
  const ask = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  const last = ask.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  const answers = ({ text }: RawAnswer) => text.split('{"status":"ok"}').length - 1;
  expect(answers(await exchange(port, ask.repeat(3) + last))).toBe(4);
  expect(answers(await exchange(port, ask.repeat(2000)))).toBeLessThanOrEqual(4);
  // One after the other, any number.
  const socket = await openSocket(port);
  for (let call = 0; call < 10; call++) {
    socket.write(ask);
    await once(socket, 'data');
  }
  socket.destroy();
});

describe('a connection beyond the bound', () => {
  /** Linux has all addresses of 127.0.0.0/8. */
  const from = (port: number, localAddress: string) => connect({ port, localAddress });
  const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

  test.runIf(process.platform === 'linux')(
    'takes the place of the oldest of the address that has most',
    async () => {
      const port = await serve({ connectionsMax: 4 });
      const other = from(port, '127.0.0.2');
      await once(other, 'connect');
      const held = await Promise.all(Array.from({ length: 3 }, () => openSocket(port)));
      const ended = held.map((socket) => once(socket, 'close'));
      const newcomer = from(port, '127.0.0.3');
      newcomer.write(health);
      await Promise.race(ended);
      for (const socket of [newcomer, other]) {
        if (socket === other) socket.write(health);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
      }
      expect(held.map(({ closed }) => closed)).toEqual([true, false, false]);
      for (const socket of [...held, newcomer, other]) socket.destroy();
    },
  );

  test('is closed when all others have requests', async () => {
    const port = await serve({ connectionsMax: 2 });
    const held = await Promise.all(Array.from({ length: 2 }, () => openSocket(port)));
    const upload = `POST /v1/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nExpect: 100-continue\r\nContent-Type: text/csv\r\nContent-Length: 900\r\n\r\n`;
    for (const socket of held) {
      socket.write(upload);
      await once(socket, 'data');
    }
    const refused = connect(port, '127.0.0.1');
    refused.on('error', () => {});
    await once(refused, 'close');
    expect(held.map(({ closed }) => closed)).toEqual([false, false]);
    for (const socket of held) socket.destroy();
  });
});
