/**
 * Measures the resources that hostile and idle clients can tie up: slow connections, event streams, stalled
 * downloads, workbooks full of text. Bounds, as in `load.ts`.
 */
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient } from '../src/client/client.ts';
import { assert } from '../src/core/lib/assert.ts';
import { type BenchStack, createBenchKey, leadList } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { hostileWorkbook } from './hostile-workbook.ts';
import { upload } from './line.ts';
import { completed } from './measured-run.ts';
import { readPeakMemory, readResidentMemory, resetPeakMemory } from './process-cost.ts';
import { besiege, requestHead, type Siege } from './slow-connections.ts';

const CONNECTIONS = 1000;
const HEALTH_MS_MAX = 100;
const FREED_SECONDS_MAX = 30;
/** Maximum growth above the API's memory before. */
const GROWTH_MIB_MAX = 64;
const LISTEN_SECONDS = 10;

/** Accounts that share the connections, to stay below an account's maximum. */
const ACCOUNTS = 10;
const DOWNLOADS_EACH = 32;
const UPLOADS_EACH = 16;
/** All columns of this many rows exceed the sockets' buffers. */
const STALLED_ROWS = 25_000;

interface Account {
  key: string;
  client: Client;
}

function openAccounts(stack: BenchStack, count = ACCOUNTS): Promise<Account[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const key = await createBenchKey(stack.sql);
      return { key, client: createClient(stack.url, key) };
    }),
  );
}

const bearer = ({ key }: Account) => ({ Authorization: `Bearer ${key}` });

/** Endless headers, uploads of a byte a second, and responses that are not read. */
export async function measureSlowConnections(stack: BenchStack): Promise<BenchResult[]> {
  const accounts = await openAccounts(stack, Math.ceil(CONNECTIONS / UPLOADS_EACH));
  const uploads = accounts.map((account) =>
    requestHead('POST /v1/batches?operation=people.enrich', {
      ...bearer(account),
      'Content-Type': 'text/csv',
      'Content-Length': 1_000_000,
    }),
  );
  const kinds = {
    headers: {
      first: [requestHead('GET /healthz')],
      drip: 'X-A: b\r\n',
      reads: true,
    },
    bodies: {
      first: uploads.map((head) => `${head}\r\nemail\n`),
      drip: 'x',
      reads: true,
    },
    readers: {
      first: [`${requestHead('GET /openapi.json')}\r\n`],
      drip: null,
      reads: false,
    },
  };
  const results: BenchResult[] = [];
  for (const [kind, order] of Object.entries(kinds)) {
    const siege = await besiege(stack, { ...order, count: CONNECTIONS }, FREED_SECONDS_MAX + 5);
    results.push(...describe(`slow-${kind}`, siege, `${CONNECTIONS} connections of slow ${kind}`));
  }
  return results;
}

/** Event streams of waiting lists, all of which are then notified of completion. */
export async function measureListeners(
  stack: BenchStack,
  say: (line: string) => void,
): Promise<BenchResult[]> {
  const accounts = await openAccounts(stack);
  const leads = await leadList(stack, 100, say);
  const ids: string[] = [];
  for (const { key, client } of accounts) {
    const id = await upload(stack.url, key, { fields: null, leads, hold: true });
    while ((await client.getBatch(id)).state !== 'ready') await setTimeout(20);
    ids.push(id);
  }
  const first = accounts.map((account, place) => {
    const path = `/v1/batches/${ids[place]}/events`;
    return `${requestHead(`GET ${path}`, bearer(account))}\r\n`;
  });
  const order = { first, count: CONNECTIONS, drip: null, reads: true };
  const siege = await besiege(stack, order, LISTEN_SECONDS, async (look) => {
    await setTimeout((LISTEN_SECONDS - 1) * 1000);
    assert((await look()).ended === 0, 'no listener is cut');
    for (const [place, { client }] of accounts.entries()) {
      await client.controlBatch(ids[place] ?? '', 'start');
    }
    while ((await look()).completed < CONNECTIONS) await setTimeout(100);
  });
  return describe('listeners', siege, `${CONNECTIONS} event streams`).filter(
    ({ name }) => !name.endsWith('-freed'),
  );
}

/** Downloads that the client stops reading. `store` is the store of the results. */
export async function measureStalledDownloads(
  stack: BenchStack,
  store: 'files' | 's3',
  say: (line: string) => void,
): Promise<BenchResult[]> {
  const accounts = await openAccounts(stack);
  const leads = await leadList(stack, STALLED_ROWS, say);
  const first: string[] = [];
  for (const account of accounts) {
    const id = await upload(stack.url, account.key, { fields: null, leads });
    await completed(() => account.client.getBatch(id));
    first.push(`${requestHead(`GET /v1/batches/${id}/results`, bearer(account))}\r\n`);
  }
  const count = ACCOUNTS * DOWNLOADS_EACH;
  const order = { first, count, drip: null, reads: false };
  const siege = await besiege(stack, order, FREED_SECONDS_MAX + 5);
  return describe(`stalled-downloads-${store}`, siege, `${count} downloads that stall`);
}

/** Twelve at once is an account's maximum in a second; the API's container has 512 MiB. */
const WORKBOOKS = 12;
const WORKBOOK_STRINGS = 240_000;
const API_MIB_MAX = 400;

/** Workbooks of 3 MB with 245 MB of texts, all at once, from one account and then from one account each. */
export async function measureWorkbooks(stack: BenchStack): Promise<BenchResult[]> {
  const body = new Uint8Array(await hostileWorkbook(WORKBOOK_STRINGS));
  const accounts = await openAccounts(stack, WORKBOOKS);
  const [first] = accounts;
  assert(first !== undefined, 'an account');
  const { api } = stack.pids;
  const before = Number(await readResidentMemory(api));
  await resetPeakMemory(api);
  const statuses: Record<string, number[]> = {};
  for (const [kind, senders] of Object.entries({
    'one account': accounts.map(() => first),
    'an account each': accounts,
  })) {
    statuses[kind] = await Promise.all(
      senders.map((account) => sendWorkbook(stack, account, body)),
    );
    for (const status of statuses[kind]) {
      assert([202, 429, 503].includes(status), `a workbook is answered with ${status}`);
    }
    assert(statuses[kind].includes(202), 'one is converted at least');
  }
  return [
    {
      name: 'bounds-workbooks-api',
      unit: 'MiB',
      ours: Number(await readPeakMemory(api)),
      reference: API_MIB_MAX,
      against: `${API_MIB_MAX} MiB in all, with ${WORKBOOKS} workbooks of 245 MB of texts at once`,
      better: 'lower',
      goal: 1,
      details: { bytes: body.length, before, statuses },
      runs: [],
    },
  ];
}

async function sendWorkbook(
  { url }: BenchStack,
  account: Account,
  body: Uint8Array<ArrayBuffer>,
): Promise<number> {
  const target = new URL('/v1/batches?operation=people.enrich&hold=true&mapping={"email":1}', url);
  const headers = { ...bearer(account), 'Content-Type': 'application/octet-stream' };
  const response = await fetch(target, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

function describe(kind: string, siege: Siege, beside: string): BenchResult[] {
  const { health, freedSeconds, growthMiB, cpuSeconds, held } = siege;
  const { ports: _, ...answers } = held;
  const details = { health, growthMiB, cpuSeconds, answers, freedSeconds };
  const bound = (name: string, unit: string, ours: number, reference: number): BenchResult => ({
    name: `bounds-${kind}-${name}`,
    unit,
    ours,
    reference,
    against: `${reference} ${unit}, with ${beside}`,
    better: 'lower',
    goal: 1,
    details,
    runs: [],
  });
  return [
    bound('health-p99', 'ms', health.failed === 0 ? health.p99 : Number.NaN, HEALTH_MS_MAX),
    bound('freed', 's', freedSeconds ?? Number.NaN, FREED_SECONDS_MAX),
    bound('growth', 'MiB', growthMiB, GROWTH_MIB_MAX),
  ];
}
