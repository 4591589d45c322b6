/** Bodies are let go with their responses, and counted with what was read of them until then. */
import { once } from 'node:events';
import http from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { openSocket } from '../../../tests/support/raw-http.ts';
import { inTransaction } from '../../core/db/client.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

const decisions = Array.from({ length: 10_000 }, () => ({ row: 1, id: 1 }));
const body = JSON.stringify({ decisions });
const headers = { 'Content-Type': 'application/json' };
const MEBIBYTE = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of memory that are used, without what may be collected. */
function used(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test.each([
  { refused: 'decisions', sent: body },
  // The error of the parser refers to the text.
  { refused: 'JSON', sent: `{"decisions": ["€${'a'.repeat(2 * MEBIBYTE)}"` },
])(
  'a refused call leaves nothing of its $refused in memory while its connection is open',
  async ({ sent }) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const caller = await pipeline.account(0);
    const list = 'email\na@b.example\n';
    const id = await pipeline.enrich(caller, list, { operation: 'people.enrich' });
    const path = `${pipeline.url}/v1/batches/${id}/decisions`;
    const options = {
      method: 'POST',
      headers: { ...headers, Authorization: `Bearer ${caller.key}` },
    };
    const agents = Array.from({ length: 10 }, () => new http.Agent({ keepAlive: true }));
    const send = (agent: http.Agent) =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = http.request(path, { ...options, agent }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        });
        request.once('error', reject).end(sent);
      });
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    expect(await send(agents[0] as http.Agent)).toBe(400);
    const before = used();
    for (const agent of agents) expect(await send(agent)).toBe(400);
    // Each has 3 MiB of decisions, or 4 of text.
    expect(used() - before).toBeLessThan(10 * MEBIBYTE);
    for (const agent of agents) agent.destroy();
  },
);

test('a refused form leaves nothing of its fields in memory while the rest of it does not come', async () => {
  const caller = await pipeline.account(0);
  const part = (name: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n€${'a'.repeat(65_000)}\r\n`;
  const fields = Array.from({ length: 15 }, (_, index) => part(`field ${index}`)).join('');
  const head = [
    'POST /v1/batches HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${caller.key}`,
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 9999999',
  ];
  const form = `${head.join('\r\n')}\r\n\r\n${fields}${part('field 0')}--x`;
  const send = async () => {
    const socket = await openSocket(Number(new URL(pipeline.url).port));
    socket.write(form);
    const [refusal] = await once(socket, 'data');
    expect(String(refusal)).toContain('twice');
    return socket;
  };
  const sockets = [await send()];
  const before = used();
  for (let more = 0; more < 10; more++) sockets.push(await send());
  // Each has 2 MiB of fields.
  expect(used() - before).toBeLessThan(10 * MEBIBYTE);
  for (const socket of sockets) socket.destroy();
});

test('calls that wait count with what was read of them', async () => {
  const greedy = await pipeline.account(0);
  const path = `/v1/batches/${crypto.randomUUID()}/decisions`;
  let calls: Promise<number>[] = [];
  await inTransaction(pipeline.sql, async (tx) => {
    await tx`lock table batches in access exclusive mode`;
    calls = Array.from({ length: 12 }, async () => {
      const { status } = await pipeline.call(greedy, path, { method: 'POST', headers, body });
      return status;
    });
    const refused = Promise.any(calls.map(async (call) => expect(await call).toBe(429)));
    await Promise.race([refused, pipeline.untilBlocked(7)]);
  });
  expect(await Promise.all(calls)).toContain(429);
});
