/** Profiles a worker while a list runs, and renders a flame graph for the documentation. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { must } from '../src/core/lib/assert.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { type BenchGraph, openBenchStack } from './bench-stack.ts';
import { cpuProfile, renderFlameGraph } from './flame-graph.ts';
import { runLine } from './line.ts';

export interface ProfileOptions {
  graph: BenchGraph;
  leads: string;
  rows: number;
  fields: readonly string[];
  runs: number;
  say: (line: string) => void;
}

/** Writes `docs/images/flame-of-a-list.svg`. */
export async function profileWorker(options: ProfileOptions): Promise<void> {
  const { graph, rows, runs, say } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-profile-'));
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  let worker: number;
  {
    await using stack = await openBenchStack(graph, say, {}, 1, flags);
    worker = must(stack.pids.workers[0], 'a worker');
    const pids = { node: [worker], postgres: stack.pids.postgres };
    const result = path.join(stack.folder, 'profile.csv');
    for (let run = 0; run < runs; run++) await runLine(stack, options, pids, result);
    await rm(result);
  }
  // `CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile`, written as the process ends.
  const names = await readdir(folder);
  const name = must(
    names.find((file) => file.split('.')[3] === String(worker)),
    'the profile of the worker',
  );
  const profile = cpuProfile.parse(JSON.parse(await readFile(path.join(folder, name), 'utf8')));
  const title = `A worker with ${runs} lists of ${rows} rows and ten fields`;
  const image = path.join(packageRoot, 'docs', 'images', 'flame-of-a-list.svg');
  await writeFile(image, renderFlameGraph(title, profile, packageRoot));
  await rm(folder, { recursive: true });
  say(`Written to ${path.relative(packageRoot, image)}`);
}
