/**
 * The throughput of claims, reservations and wake-ups: a list in very small chunks, so that they are most of
 * the work, with four worker processes compared with one. Shows whether workers wait for each other.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { OptionTexts } from '../src/core/config.ts';
import { type BenchGraph, leadList, openBenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { interleave, median, type Run } from './interleave.ts';
import { runLine } from './line.ts';
import { startProductionServers } from './production-servers.ts';

const WORKERS = 4;
/** Few enough that matching is a small part of a chunk's work. */
const CHUNK_ROWS = 100;

export interface WorkersOptions {
  graph: BenchGraph;
  store: 'embedded' | 'redis';
  rows: number;
  fields: readonly string[];
  runs: number;
  say: (line: string) => void;
}

/** Measures chunks a second with four workers and with one. */
export async function measureWorkers(options: WorkersOptions): Promise<BenchResult[]> {
  const pairs = await interleave(
    options.runs,
    () => runTurn(options, WORKERS),
    () => runTurn(options, 1),
  );
  const chunks = Math.ceil(options.rows / CHUNK_ROWS);
  const rate = (side: 'ours' | 'reference') =>
    median(pairs.map((pair) => chunks / pair[side].wallSeconds));
  return [
    {
      name: `workers-${options.store}`,
      unit: 'chunks/s',
      ours: rate('ours'),
      reference: rate('reference'),
      against: `one worker process; ours are ${WORKERS}, with chunks of ${CHUNK_ROWS} rows`,
      better: 'higher',
      goal: null,
      details: { rows: options.rows, chunks },
      runs: pairs,
    },
  ];
}

/** Starts the service with `workers` workers, runs the list to warm up, then once more. */
async function runTurn(options: WorkersOptions, workers: number): Promise<Run> {
  const { graph, store, say } = options;
  await using servers = store === 'redis' ? await startProductionServers() : null;
  const texts: OptionTexts = { ...servers?.options, chunkRows: String(CHUNK_ROWS) };
  await using stack = await openBenchStack(graph, say, texts, workers);
  const result = path.join(stack.folder, 'workers.csv');
  const pids = {
    node: [stack.pids.api, ...stack.pids.workers],
    postgres: stack.pids.postgres,
    others: servers?.pids ?? [],
  };
  const line = { fields: options.fields, leads: await leadList(stack, options.rows, say) };
  await runLine(stack, line, pids, result);
  const { run } = await runLine(stack, line, pids, result);
  await rm(result);
  return run;
}
