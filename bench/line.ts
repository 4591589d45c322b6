/**
 * The line that everybody waits for: a list goes up over HTTP, is matched, charged and written, and the
 * result is there. Held against the same join done by hand on the same server: COPY in, one join, COPY
 * out, with no accounting, no recovery and no row left out.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { type ClientBatch, createClient } from '../src/client/client.ts';
import { type BenchStack, createBenchKey } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { compareResults } from './compare-results.ts';
import { interleave, median, type Run } from './interleave.ts';
import { cpuBetween, readCpu, readPeakMemory, resetPeakMemory } from './process-cost.ts';
import { openReference, type ReferenceScript } from './run-reference.ts';

/** Between two looks at the batch: what a figure may be too long by, at most. */
export const pollMs = 20;
/** A batch that takes longer has failed in a way that nobody said. */
const completedMsMax = 180_000;

export interface LineOptions {
  name: string;
  script: ReferenceScript;
  /** What the reference is, in words. */
  reference: string;
  /** Names of the record's fields to write; null for all of them. */
  fields: readonly string[] | null;
  /** The largest acceptable ratio. */
  goal: number;
  leads: string;
  rows: number;
  runs: number;
}

/** Measures the line with some columns. Throws when the two results differ in any cell. */
export async function measureLine(stack: BenchStack, options: LineOptions): Promise<BenchResult[]> {
  const folder = path.join(stack.folder, 'line');
  await mkdir(folder, { recursive: true });
  await copyFile(options.leads, path.join(folder, 'leads.csv'));
  const reference = await openReference(stack, folder);
  const result = path.join(folder, 'ours.csv');
  const pids = { node: [stack.pids.api, ...stack.pids.workers], postgres: stack.pids.postgres };
  const ours = () => runLine(stack, options, pids, result);
  const pairs = await interleave(options.runs, ours, async () => {
    const cpu = await readCpu(pids);
    const started = performance.now();
    await reference.run(options.script);
    const wallSeconds = secondsSince(started);
    return { wallSeconds, cpuSeconds: cpuBetween(cpu, await readCpu(pids)) };
  });
  const comparison = await compareResults(result, path.join(folder, 'reference.csv'));
  const bytes = {
    leads: (await stat(options.leads)).size,
    ours: (await stat(result)).size,
    reference: (await stat(path.join(folder, 'reference.csv'))).size,
  };
  await rm(folder, { recursive: true });
  const shared = {
    unit: 's',
    against: `${options.reference} (${reference.client})`,
    better: 'lower' as const,
    details: { rows: options.rows, comparison, bytes },
    runs: pairs,
  };
  const referenceWall = median(pairs.map((pair) => pair.reference.wallSeconds));
  const wall = median(pairs.map((pair) => pair.ours.wallSeconds));
  const fetched = median(
    pairs.map((pair) => pair.ours.wallSeconds + Number(pair.ours.downloadSeconds)),
  );
  return [
    { ...shared, name: options.name, ours: wall, reference: referenceWall, goal: options.goal },
    {
      ...shared,
      name: `${options.name}-and-download`,
      ours: fetched,
      reference: referenceWall,
      goal: null,
      runs: [],
    },
  ];
}

async function runLine(
  stack: BenchStack,
  options: LineOptions,
  pids: { node: number[]; postgres: number },
  result: string,
): Promise<Run> {
  // An account each: no limit per account, and no wallet's history, is part of the figure.
  const key = await createBenchKey(stack.sql);
  const client = createClient(stack.url, key);
  await Promise.all(pids.node.map(resetPeakMemory));
  const cpu = await readCpu(pids);
  const started = performance.now();
  const id = await upload(stack.url, key, options);
  const uploadSeconds = secondsSince(started);
  const batch = await completed(() => client.getBatch(id));
  const wallSeconds = secondsSince(started);
  const used = cpuBetween(cpu, await readCpu(pids));
  const [api, ...workers] = await Promise.all(pids.node.map(readPeakMemory));
  const downloadStarted = performance.now();
  const { stream } = await client.getResults(id);
  await pipeline(stream, createWriteStream(result));
  const downloadSeconds = secondsSince(downloadStarted);
  await rm(path.join(stack.objects, 'batches', id), { recursive: true, force: true });
  return {
    wallSeconds,
    uploadSeconds,
    downloadSeconds,
    cpuSeconds: used,
    peakMiB: { api, workers },
    credits: batch.credits.charged,
  };
}

/** Sends the list as it lies on disk: the bare file as the body, its options in the query. */
async function upload(url: string, key: string, options: LineOptions): Promise<string> {
  const target = new URL('/v1/batches', url);
  target.searchParams.set('operation', 'people.enrich');
  if (options.fields !== null) target.searchParams.set('fields', options.fields.join(','));
  const { size } = await stat(options.leads);
  const request = http.request(target, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'text/csv',
      'Content-Length': size,
    },
  });
  const answer = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  const sent = pipeline(createReadStream(options.leads, { highWaterMark: 1 << 18 }), request);
  const [response] = await Promise.all([answer, sent]);
  const body = Buffer.concat(await response.toArray()).toString();
  if (response.statusCode !== 202) throw new Error(`the upload was refused: ${body}`);
  return (JSON.parse(body) as ClientBatch).id;
}

async function completed(read: () => Promise<ClientBatch>): Promise<ClientBatch> {
  const deadline = Date.now() + completedMsMax;
  while (true) {
    const batch = await read();
    if (batch.state === 'completed') return batch;
    if (Date.now() > deadline) throw new Error(`the batch is still ${batch.state}`);
    if (!['created', 'validating', 'queued', 'running', 'finalizing'].includes(batch.state)) {
      throw new Error(`the batch is ${batch.state}: ${batch.error?.detail ?? batch.reason ?? ''}`);
    }
    await setTimeout(pollMs);
  }
}

function secondsSince(started: number): number {
  return Number(((performance.now() - started) / 1000).toFixed(3));
}
