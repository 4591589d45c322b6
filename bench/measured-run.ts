/** One run of the service, from the first request to the end, then the download, with its resource use. */
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import type { Batch, Export } from '../src/client/api-types.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { type BenchStack, createBenchKey } from './bench-stack.ts';
import type { Run } from './interleave.ts';
import {
  type CostlyPids,
  cpuBetween,
  readCpu,
  readPeakMemory,
  resetPeakMemory,
} from './process-cost.ts';

/** Poll interval: the maximum error of a figure. */
export const POLL_MS = 20;
/** Afterwards less often: an account may make 600 such calls a minute. */
const FAST_POLLS_MS = 6_000;
const SLOW_POLL_MS = 250;
/** Work that takes longer has failed silently. */
const COMPLETED_MS_MAX = 600_000;

/** The measured work: how it is requested, polled and fetched. */
export interface MeasuredWork {
  start(client: Client, key: string): Promise<string>;
  read(client: Client, id: string): Promise<Batch | Export>;
  results(client: Client, id: string): Promise<{ stream: Readable }>;
}

/** Runs the work once, under a new account, and writes its result to a file. */
export async function runMeasured(
  stack: BenchStack,
  work: MeasuredWork,
  pids: CostlyPids,
  result: string,
): Promise<{ id: string; run: Run }> {
  // A new account for each: limits and wallet history are not part of the figure.
  const key = await createBenchKey(stack.sql);
  const client = createClient(stack.url, key);
  await Promise.all(pids.node.map(resetPeakMemory));
  const cpu = await readCpu(pids);
  const started = performance.now();
  const id = await work.start(client, key);
  const startSeconds = secondsSince(started);
  const done = await completed(() => work.read(client, id));
  const wallSeconds = secondsSince(started);
  const used = cpuBetween(cpu, await readCpu(pids));
  const [api, ...workers] = await Promise.all(pids.node.map(readPeakMemory));
  const downloadStarted = performance.now();
  const { stream } = await work.results(client, id);
  await pipeline(stream, createWriteStream(result));
  const downloadSeconds = secondsSince(downloadStarted);
  const run = {
    wallSeconds,
    startSeconds,
    downloadSeconds,
    cpuSeconds: used,
    peakMiB: { api, workers },
    credits: done.credits.charged,
  };
  return { id, run };
}

export async function completed(read: () => Promise<Batch | Export>): Promise<Batch | Export> {
  const deadline = Date.now() + COMPLETED_MS_MAX;
  const fast = Date.now() + FAST_POLLS_MS;
  while (true) {
    const batch = await read();
    if (batch.state === 'completed') return batch;
    if (Date.now() > deadline) throw new Error(`the batch is still ${batch.state}`);
    if (!['created', 'validating', 'queued', 'running', 'finalizing'].includes(batch.state)) {
      throw new Error(`the batch is ${batch.state}: ${batch.error?.detail ?? batch.reason ?? ''}`);
    }
    await setTimeout(Date.now() < fast ? POLL_MS : SLOW_POLL_MS);
  }
}

export function secondsSince(started: number): number {
  return Number(((performance.now() - started) / 1000).toFixed(3));
}
