/**
 * The same list on both stacks: queue and limits on Redis and files on S3, compared with the embedded one.
 * Postgres is the same server, with the same settings and the same graph, each time; only one stack runs at a
 * time, and each is warmed up before measuring.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { assert } from '../src/core/lib/assert.ts';
import { readServer } from './bench.sql.ts';
import { type BenchGraph, type BenchStack, openBenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { interleave, medians, type Run } from './interleave.ts';
import { runLine } from './line.ts';
import { cpuOf } from './process-cost.ts';
import { type ProductionServers, startProductionServers } from './production-servers.ts';

/** After this many rows a process no longer gets faster: the S3 client is much code to compile. */
const WARM_UP_ROWS = 250_000;

export interface StacksOptions {
  graph: BenchGraph;
  leads: string;
  rows: number;
  fields: readonly string[];
  runs: number;
  say: (line: string) => void;
}

/** Results that must not differ between the stacks. */
interface Outcome {
  sha256: string;
  credits: unknown;
  postgres: string;
}

/** Measures both. Throws when they differ in a byte, a credit or a setting of Postgres. */
export async function measureStacks(options: StacksOptions): Promise<BenchResult[]> {
  const outcomes: Outcome[] = [];
  const use: Record<string, unknown> = {};
  const production = async () => {
    await using servers = await startProductionServers();
    return await runTurn(options, servers, outcomes, use);
  };
  const embedded = () => runTurn(options, null, outcomes, use);
  const pairs = await interleave(options.runs, production, embedded);
  const [first] = outcomes;
  for (const outcome of outcomes) {
    for (const [name, value] of Object.entries(outcome)) {
      assert(value === first?.[name as keyof Outcome], `both stacks have the same ${name}`);
    }
  }
  const shared = {
    unit: 's',
    against: 'the same list on the embedded stack; ours is on Redis and S3',
    better: 'lower' as const,
    details: { rows: options.rows, sha256: first?.sha256, use },
  };
  return [
    {
      ...shared,
      name: 'stacks',
      ...medians(pairs, (run) => run.wallSeconds),
      goal: 1.3,
      runs: pairs,
    },
    // The figure that other load disturbs least. NaN without /proc.
    { ...shared, name: 'stacks-cpu', ...medians(pairs, cpuOf), goal: null, runs: [] },
  ];
}

/** Starts the service, runs the list until warm, then once more. */
async function runTurn(
  options: StacksOptions,
  servers: ProductionServers | null,
  outcomes: Outcome[],
  use: Record<string, unknown>,
): Promise<Run> {
  await using stack = await openBenchStack(options.graph, options.say, servers?.options);
  const result = path.join(stack.folder, 'stacks.csv');
  const pids = {
    node: [stack.pids.api, ...stack.pids.workers],
    postgres: stack.pids.postgres,
    others: servers?.pids ?? [],
  };
  for (let rows = 0; rows < WARM_UP_ROWS; rows += options.rows) {
    await runLine(stack, options, pids, result);
  }
  const { id, run } = await runLine(stack, options, pids, result);
  if (servers === null) use.embedded = await proveFiles(stack, id);
  else use.production = await proveServers(stack, servers, id);
  outcomes.push({
    sha256: await digest(result),
    credits: run.credits,
    postgres: JSON.stringify(await readServer(stack.sql)),
  });
  await rm(result);
  return run;
}

/** Expects the batch's objects to be files of the data folder. */
async function proveFiles(stack: BenchStack, id: string): Promise<object> {
  const files = await readdir(path.join(stack.objects, 'batches', id, 'parts'));
  assert(files.length > 0, 'the embedded stack keeps parts as files');
  return { files: files.length + 1 };
}

/** Expects the batch's objects only in the bucket, and its jobs to have gone through Redis. */
async function proveServers(
  stack: BenchStack,
  servers: ProductionServers,
  id: string,
): Promise<object> {
  const objects = await servers.s3.keys(`batches/${id}/`);
  assert(objects.includes(`batches/${id}/upload`), 'the upload is in the bucket');
  assert(objects.length > 1, 'the parts are in the bucket');
  const local = await readdir(stack.objects).catch(() => []);
  assert(local.length === 0, 'no object is in the data folder');
  const redis = await servers.redisUse();
  assert(redis.keys > 0 && redis.commands > objects.length, 'the jobs went through Redis');
  return { objects: objects.length, redis };
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of createReadStream(file)) hash.update(block as Buffer);
  return hash.digest('hex');
}
