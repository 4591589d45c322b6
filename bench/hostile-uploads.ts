/**
 * Invalid or hostile uploads: measures the time to each response, and the memory of API and worker meanwhile.
 */
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createClient } from '../src/client/client.ts';
import { assert } from '../src/core/lib/assert.ts';
import { type BenchStack, createBenchKey } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { secondsSince } from './measured-run.ts';
import { readPeakMemory, readResidentMemory, resetPeakMemory } from './process-cost.ts';

const MIB = 1024 * 1024;
const ANSWER_SECONDS_MAX = 2;
const GROWTH_MIB_MAX = 64;

interface Hostile {
  /** The body, and its type unless that is text/csv. */
  body(): Iterable<Buffer | string>;
  type?: string;
  /** Allowed response statuses. */
  statuses: readonly number[];
  /** The final state after a 202. */
  state?: 'failed' | 'completed';
  /** Too long to be refused before the first excess byte. */
  isLong?: true;
}

const quoted = { head: 'email\n"', block: Buffer.alloc(MIB, 'x') };
const part = (name: string) =>
  `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nx\r\n`;

const uploads: Record<string, Hostile> = {
  'a quote of a gigabyte that never closes': {
    *body() {
      yield quoted.head;
      for (let block = 0; block < 1024; block++) yield quoted.block;
    },
    statuses: [413],
    isLong: true,
  },
  'a quote that never closes, just short enough': {
    *body() {
      yield quoted.head;
      for (let block = 0; block < 199; block++) yield quoted.block;
    },
    statuses: [202],
    state: 'failed',
    isLong: true,
  },
  'gzip that grows a thousand times': {
    body: () => [gzipSync(Buffer.alloc(64 * MIB, 'a@b.example\n'))],
    statuses: [422],
  },
  'a million columns in the header': {
    body: () => ['a,'.repeat(1_000_000), '\n1\n'],
    statuses: [422],
  },
  'a million columns in a row': {
    body: () => ['email\n', 'a@b.example\n'.repeat(10_000), ','.repeat(1_000_000), '\n'],
    statuses: [202],
    state: 'completed',
  },
  'NUL bytes': {
    body: () => ['email\n', Buffer.alloc(MIB)],
    statuses: [415],
  },
  'names of Object.prototype, twice': {
    body: () => [
      '__proto__,constructor,email,email,__proto__\n',
      '1,2,a@b.example,,3\n'.repeat(1000),
    ],
    statuses: [202],
    state: 'completed',
  },
  'ten thousand form parts': {
    type: 'multipart/form-data; boundary=edge',
    body: () => [
      ...Array.from({ length: 10_000 }, (_, place) => part(`f${place}`)),
      '--edge--\r\n',
    ],
    statuses: [400],
  },
};

/** Sends each in turn. Throws on an unexpected response or end. */
export async function measureHostileUploads(stack: BenchStack): Promise<BenchResult[]> {
  const key = await createBenchKey(stack.sql);
  const client = createClient(stack.url, key);
  const { api, workers } = stack.pids;
  const answers: Record<string, { status: number; seconds: number }> = {};
  const growth = { api: 0, worker: 0 };
  for (const [name, hostile] of Object.entries(uploads)) {
    const before = new Map<number, number>();
    for (const pid of [api, ...workers]) {
      await resetPeakMemory(pid);
      before.set(pid, Number(await readResidentMemory(pid)));
    }
    const started = performance.now();
    const { status, id } = await send(stack.url, key, hostile);
    answers[name] = { status, seconds: secondsSince(started) };
    assert(hostile.statuses.includes(status), `${name} is answered with ${status}`);
    let state = hostile.state;
    if (id !== undefined) {
      do {
        await setTimeout(20);
        state = (await client.getBatch(id)).state as typeof state;
      } while (state !== 'failed' && state !== 'completed');
      assert(state === hostile.state, `${name} is ${state}`);
    }
    for (const [pid, bytes] of before) {
      const process = pid === api ? 'api' : 'worker';
      const grown = Number(await readPeakMemory(pid)) - bytes;
      growth[process] = Math.max(growth[process], grown);
    }
  }
  const short = Object.entries(answers).filter(([name]) => !uploads[name]?.isLong);
  const slowest = Math.max(...short.map(([, { seconds }]) => seconds));
  const shared = { better: 'lower' as const, goal: 1, runs: [] };
  return [
    {
      ...shared,
      name: 'bounds-hostile-uploads',
      unit: 's',
      ours: slowest,
      reference: ANSWER_SECONDS_MAX,
      against: `${ANSWER_SECONDS_MAX} s, the slowest answer to ${short.length} hostile uploads`,
      details: { answers },
    },
    ...(['api', 'worker'] as const).map((process) => ({
      ...shared,
      name: `bounds-hostile-uploads-${process}`,
      unit: 'MiB',
      ours: growth[process],
      reference: GROWTH_MIB_MAX,
      against: `${GROWTH_MIB_MAX} MiB above what it held before`,
      details: {},
    })),
  ];
}

async function send(
  url: string,
  key: string,
  { body, type = 'text/csv' }: Hostile,
): Promise<{ status: number; id: string | undefined }> {
  const target = new URL('/v1/batches?operation=people.enrich', url);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': type };
  const sending = request(target, { method: 'POST', headers });
  const answered = new Promise<{ status: number; id: string | undefined }>((resolve, reject) => {
    sending.once('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, id: (JSON.parse(text) as { id?: string }).id });
    });
    // More data may follow the response, of what was still being sent.
    sending.on('error', reject);
  });
  // A refused upload is not read to the end.
  const sent = pipeline(Readable.from(body()), sending).catch(() => {});
  const answer = await answered;
  sending.destroy();
  await sent;
  return answer;
}
