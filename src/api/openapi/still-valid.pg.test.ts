/**
 * A call is let in when its headers come. Here its key or session ends after that, for every operation of
 * the document: whatever it would have written, charged or made is refused, and nothing is left of it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { openSocket } from '../../../tests/support/raw-http.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { displayPrefix } from '../../core/keys/key-format.ts';
import { accountScopes, consoleKeyOf } from '../../core/keys/keys.ts';
import { must } from '../../core/lib/assert.ts';
import { insertSession } from '../../core/sessions/sessions.sql.ts';
import { changePassword } from '../../core/sessions/sessions.ts';
import { workbookParts, zipOf } from '../../formats/xlsx/xlsx-fixtures.test-suite.ts';
import { problemSchema } from '../http/problem.ts';
import { routes } from '../routes.ts';
import { renderOpenApi } from './openapi.ts';
import { openStocked, operations, type Stocked } from './operations.test-suite.ts';

let stocked: Stocked;
beforeAll(async () => {
  stocked = await openStocked();
  await changePassword(stocked.sql, {
    ...owner(),
    email: 'ada@team.example',
    password: 'the first password',
  });
});
afterAll(() => stocked.close());

const owner = () => ({ accountId: stocked.caller.accountId });

/** A key of the stocked account that may do everything, and is to end. */
async function makeKey(): Promise<Caller> {
  const key = await stocked.keyOf(owner().accountId, 'live', [...accountScopes]);
  await stocked.liftLimits(key);
  return key;
}

/** The credentials of a call, and how they end. */
interface Credentials {
  headers: Record<string, string>;
  end(): Promise<unknown>;
}

const waysToCall: Record<'key' | 'session', () => Promise<Credentials>> = {
  async key() {
    const { key } = await makeKey();
    const end = () => revokeKey(stocked.sql, displayPrefix(key));
    return { headers: { Authorization: `Bearer ${key}` }, end };
  },
  async session() {
    const { accountId } = owner();
    const token = randomBytes(32).toString('base64url');
    const tokenSha256 = createHash('sha256').update(token).digest();
    const keyId = await consoleKeyOf(stocked.sql, accountId, 'live');
    const session = { tokenSha256, accountId, keyId };
    await insertSession(stocked.sql, session, { seconds: 600, passwordHash: null });
    const end = () => changePassword(stocked.sql, { accountId, password: 'another password' });
    return {
      headers: { Cookie: `enrich_session=${token}`, 'Sec-Fetch-Site': 'same-origin' },
      end,
    };
  },
};

const refusals = { key: [403, 'key_revoked'], session: [401, 'session_expired'] } as const;

/** Counters, times and claims of calls, which a refused call leaves too. */
const uncharged = ['rate_buckets', 'day_counts', 'key_uses', 'idempotency_keys'];

/** All that the database and the store hold, as one hash for each table. */
async function everything(sql: Sql = stocked.sql): Promise<Record<string, unknown>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> all(${uncharged})
    order by relname`;
  const held: Record<string, unknown> = { objects: await stocked.objects() };
  for (const { name } of tables) {
    const [rows] = await sql`
      select count(*), md5(string_agg(t::text, ',' order by t::text)) from ${sql(name)} t`;
    held[name] = rows;
  }
  return held;
}

/** Changes whenever a call is let in, by whatever limit counts it. */
async function callsLetIn(): Promise<string> {
  const [buckets] = await stocked.sql<{ all: string }[]>`
    select md5(string_agg(b::text, ',' order by owner, name)) as all from rate_buckets b`;
  return buckets?.all ?? '';
}

interface Body {
  type: string;
  bytes: Buffer;
}

interface Sent {
  name: string;
  path: string;
  headers?: Record<string, string>;
  body: Body;
}

/** Sends the headers and half of the body; returns once the call was let in. */
async function beginCall({ headers }: Credentials, sent: Sent): Promise<Socket> {
  const before = await callsLetIn();
  const socket = await openSocket(Number(new URL(stocked.url).port));
  const { type, bytes } = sent.body;
  const lines = {
    Host: new URL(stocked.url).host,
    Connection: 'close',
    'Content-Type': type,
    'Content-Length': bytes.length,
    ...headers,
    ...sent.headers,
  };
  const [method = ''] = sent.name.split(' ');
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method.toUpperCase()} ${sent.path} HTTP/1.1\r\n${head.join('')}\r\n`);
  socket.write(bytes.subarray(0, bytes.length >> 1));
  while ((await callsLetIn()) === before);
  return socket;
}

const restOf = ({ bytes }: Body) => bytes.subarray(bytes.length >> 1);

/** Reads the answer to the end of the connection. */
async function readAnswer(socket: Socket): Promise<{ status: number; body: string }> {
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  if (!socket.closed) await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body };
}

async function expectRefusal(socket: Socket, way: keyof typeof refusals): Promise<void> {
  const { status, body } = await readAnswer(socket);
  const [expected, code] = refusals[way];
  expect(status, body).toBe(expected);
  expect(problemSchema.parse(JSON.parse(body)).code).toBe(code);
}

/** Files that are cut off are deleted after the answer. */
async function untilDeleted(before: readonly string[]): Promise<void> {
  while ((await stocked.objects()).length > before.length);
}

const list = 'email\nada@acme.example\n';
const boundary = 'form-of-a-test';
const form = [
  ['name="operation"', 'people.enrich'],
  ['name="file"; filename="list.csv"', list],
].map(
  ([what, value]) => `--${boundary}\r\nContent-Disposition: form-data; ${what}\r\n\r\n${value}\r\n`,
);

const formType = 'multipart/form-data';
const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const rows = ['email', 'ada@acme.example']
  .map((text) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`)
  .join('');

/** A list in every type of body that the document names. */
const uploads: Record<string, string | Buffer> = {
  [formType]: `${form.join('')}--${boundary}--\r\n`,
  'text/csv': list,
  'application/gzip': gzipSync(list),
  [xlsxType]: await zipOf(workbookParts({ rows })),
  'application/jsonl': '{"email":"ada@acme.example"}\n',
};

const upload = 'post /v1/batches';

/** A call of the operation with a body of this type. */
function callOf(name: string, type: string): Sent {
  const { path, init } = stocked.sampleOf(name);
  if (name !== upload || type === 'application/json') {
    const text = type === 'text/csv' ? 'row,id\n1,8001\n' : String(init.body);
    return { name, path, body: { type, bytes: Buffer.from(text) } };
  }
  const bytes = Buffer.from(must(uploads[type], `a list as ${type}`));
  if (type === formType)
    return { name, path, body: { type: `${type}; boundary=${boundary}`, bytes } };
  return { name, path: `${path}?operation=people.enrich`, body: { type, bytes } };
}

/** Every operation of the document that takes a body, with every type of it. */
const withBody = Object.entries(renderOpenApi(routes).paths as object).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, { requestBody?: { content: object } }>).flatMap(
    ([method, { requestBody }]) =>
      Object.keys(requestBody?.content ?? {}).map((type) => {
        return { name: `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, type };
      }),
  ),
);

describe.each(['key', 'session'] as const)('when its %s ends before its body', (way) => {
  test.each(withBody)('$name with $type is refused, and does nothing', async ({ name, type }) => {
    const credentials = await waysToCall[way]();
    const sent = callOf(name, type);
    const objects = await stocked.objects();
    const socket = await beginCall(credentials, sent);
    await credentials.end();
    const before = { ...(await everything()), objects };
    socket.write(restOf(sent.body));
    await expectRefusal(socket, way);
    await untilDeleted(objects);
    expect(await everything()).toEqual(before);
  });

  test('rows whose results are waited for are refused, and do nothing', async () => {
    const credentials = await waysToCall[way]();
    const sent = { ...callOf(upload, 'application/json'), headers: { Prefer: 'wait=30' } };
    const objects = await stocked.objects();
    const socket = await beginCall(credentials, sent);
    await credentials.end();
    const before = { ...(await everything()), objects };
    socket.write(restOf(sent.body));
    await expectRefusal(socket, way);
    await untilDeleted(objects);
    expect(await everything()).toEqual(before);
  });

  test('a repeated call is refused too, instead of the response to the first', async () => {
    const credentials = await waysToCall[way]();
    const headers = { 'Idempotency-Key': `sent twice with a ${way}` };
    const sent = { ...callOf(upload, 'application/json'), headers };
    const first = await beginCall(credentials, sent);
    first.write(restOf(sent.body));
    expect((await readAnswer(first)).status).toBe(202);
    const again = await beginCall(credentials, sent);
    await credentials.end();
    again.write(restOf(sent.body));
    await expectRefusal(again, way);
  });

  test('results that a caller waits for are not sent after that', async () => {
    const credentials = await waysToCall[way]();
    const sent = { ...callOf(upload, 'application/json'), headers: { Prefer: 'wait=30' } };
    const socket = await beginCall(credentials, sent);
    const { batches } = await everything();
    socket.write(restOf(sent.body));
    while (JSON.stringify((await everything()).batches) === JSON.stringify(batches));
    await credentials.end();
    await stocked.runUntilIdle();
    await expectRefusal(socket, way);
  });

  test.each(['text/csv', formType])(
    'an upload as %s is cut while it goes on, and nothing of it stays',
    async (type) => {
      const credentials = await waysToCall[way]();
      const before = await everything();
      const socket = await beginCall(credentials, callOf(upload, type));
      await credentials.end();
      // The rest never comes.
      await expectRefusal(socket, way);
      await untilDeleted(before.objects as string[]);
      const { objects, batches, wallets } = await everything();
      expect({ ...before, objects, batches, wallets }).toEqual(before);
    },
  );
});

/** The operations that write or charge. */
const writing = operations.filter(
  ({ route: { method, metered, path } }) =>
    method !== 'get' || (metered && !/preview|breakdown|lookups|me$/.test(path)),
);

test.each(writing)(
  '$name waits for a revocation that is under way, and is refused',
  async ({ name }) => {
    const caller = await makeKey();
    const { path, init } = stocked.sampleOf(name);
    let answering: Promise<Response> | undefined;
    let before: unknown;
    await inTransaction(stocked.sql, async (tx) => {
      await tx`update api_keys set expires_at = clock_timestamp() where id = ${caller.keyId}`;
      before = await everything(tx);
      answering = stocked.call(caller, path, init);
      await Promise.race([answering, stocked.untilBlocked(1)]);
    });
    const answer = await must(answering, 'answer');
    const problem = problemSchema.parse(await answer.json());
    // Storage of this kind has no addresses to give.
    const expected = name === 'post /v1/uploads' ? 'invalid_state' : 'key_revoked';
    expect(problem.code).toBe(expected);
    expect(await everything()).toEqual(before);
  },
);

test('of two keys that revoke each other at one moment, one is revoked', async () => {
  for (let round = 0; round < 10; round++) {
    const [one, other] = await Promise.all([makeKey(), makeKey()]);
    const answers = await Promise.all([
      stocked.call(one, `/v1/keys/${other.keyId}`, { method: 'DELETE' }),
      stocked.call(other, `/v1/keys/${one.keyId}`, { method: 'DELETE' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  }
});
