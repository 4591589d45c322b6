/** The circumstances of a measurement: the machine, its other load, and the code version. */
import { execFile } from 'node:child_process';
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { BenchFile } from '../docs/bench-results.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import type { Circumstances } from './benchmark.ts';

const execute = promisify(execFile);

const BUSY_MS = 1000;

/** The load average when this process started, before anything was measured. */
const [loadAverageBefore = 0] = loadavg();

export function describeMachine(): BenchFile['machine'] {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / 1024 / 1024),
    system: `${platform()} ${release()} ${arch()}`,
  };
}

/**
 * Call right before a benchmark, while its service is idle. Other work on the machine slows a single-process
 * reference more than our several processes: figures taken under load flatter us.
 */
export async function readCircumstances(
  benchmark: string,
  postgres: string,
): Promise<Circumstances> {
  return {
    benchmark,
    measuredAt: new Date().toISOString(),
    loadAverageBefore: Number(loadAverageBefore.toFixed(2)),
    busyBefore: await readBusy(),
    versions: { node: process.version, postgres },
    commit: await readCommit(),
  };
}

/** The busy share of all cores over the next second; null where the system does not report it. */
async function readBusy(): Promise<number | null> {
  const before = readCores();
  await setTimeout(BUSY_MS);
  const after = readCores();
  const all = after.all - before.all;
  return all > 0 ? Number((1 - (after.idle - before.idle) / all).toFixed(2)) : null;
}

function readCores(): { idle: number; all: number } {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    for (const time of Object.values(times)) all += time;
  }
  return { idle, all };
}

/** The commit that is checked out, with `+` when the code differs from it; null outside of git. */
async function readCommit(): Promise<string | null> {
  const git = async (...words: string[]) =>
    (await execute('git', words, { cwd: packageRoot })).stdout.trim();
  try {
    const changes = await git('status', '--porcelain', '--', '.', ':!bench/results', ':!docs');
    return `${await git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : '+'}`;
  } catch {
    return null;
  }
}
