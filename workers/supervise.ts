/** Keeps one process of the service running: restarts it whenever it ends. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { AppError, type AppErrorInput, unavailable } from '../src/core/lib/errors.ts';
import type { Log } from '../src/core/log.ts';
import { metrics } from '../src/core/metrics.ts';
import { SUPERVISED } from './process-life.ts';

/** Pause before a restart, doubled with every start that fails, up to the maximum. */
const RESTART_AFTER_MS = 500;
const RESTART_AFTER_MS_MAX = 8_000;
/** A process ends itself within 30 s of being asked, unless it is frozen. */
const KILL_AFTER_MS = 35_000;

const restarts = new Counter({
  name: 'enrich_process_restarts_total',
  help: 'Processes that were restarted after they ended, for any reason.',
  labelNames: ['kind'],
  registers: [metrics],
});

export interface Supervised {
  /** Ends the process, which then starts again. */
  restart(): void;
  /** Ends the process, gracefully unless the signal is another one. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * The young generation of the API's heap is that of Node 20, in MB: the default of Node 24 is four times as large, and takes 50 to
 * 70 MB more. That of a worker is half of it: a chunk's objects outlive a young collection anyway, and the process stays about
 * 25 MB smaller. A worker notes the types of all code from its first call on, so that V8 compiles its loops sooner and better.
 */
const nodeFlags = {
  api: ['--max-semi-space-size=16'],
  worker: ['--max-semi-space-size=8', '--no-lazy-feedback-allocation'],
};

/** The message of a process that is ready. */
export type Ready = Record<string, string | undefined>;

/**
 * Runs a process and starts it again whenever it ends; resolves when it is ready for the first time. An API answers once
 * `onReady` has resolved.
 */
export async function supervise(
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  log: Log,
  onReady: (pid: number, ready: Ready) => Promise<void>,
): Promise<Supervised> {
  let stopping = false;
  let child = await launch(name, environment, onReady);
  const stopped = new AbortController();
  const keepRunning = async () => {
    let pauseMs = RESTART_AFTER_MS;
    while (true) {
      await ended(child);
      if (stopping) return;
      log.warn({ process: name, pid: child.pid }, 'process ended, restarting it');
      restarts.inc({ kind: name });
      // A process that ends at once must not be started in a tight loop.
      await delay(pauseMs, undefined, { signal: stopped.signal }).catch(() => {});
      pauseMs = Math.min(2 * pauseMs, RESTART_AFTER_MS_MAX);
      if (stopping) return;
      try {
        child = await launch(name, environment, onReady);
        pauseMs = RESTART_AFTER_MS;
        // A stop that was requested during the launch has not reached the new process.
        if (stopping) child.kill('SIGTERM');
      } catch (error) {
        log.error({ err: error, process: name }, 'process did not start');
      }
    }
  };
  const running = keepRunning();
  return {
    restart: () => void child.kill('SIGTERM'),
    async stop(signal = 'SIGTERM') {
      stopping = true;
      stopped.abort();
      child.kill(signal);
      const kill = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
      await running;
      clearTimeout(kill);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/**
 * A worker's nice value above that of this process: beside an API that is always busy a worker keeps a third of its share (a
 * tenth with 10).
 */
const WORKER_NICE = 5;
const NICE_MAX = 19;

/**
 * Lowers the priority of a worker that was just started, and so of the threads that it starts. An API whose caller waits for one
 * record then gets the processor first.
 */
function yieldToApi({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, Math.min(getPriority() + WORKER_NICE, NICE_MAX));
  } catch {
    // It has ended, or the system does not allow it: the worker works all the same.
  }
}

async function launch(
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  onReady: (pid: number, ready: Ready) => Promise<void>,
): Promise<ChildProcess> {
  const entry = path.join(import.meta.dirname, `${name}.js`);
  const child = fork(entry, [SUPERVISED], {
    env: environment,
    execArgv: [...process.execArgv, ...nodeFlags[name]],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  if (name === 'worker') yieldToApi(child);
  const ready = await Promise.race([
    once(child, 'message').then(([message]) => {
      const { ready, failed } = message as { ready: Ready } & { failed?: AppErrorInput };
      if (failed !== undefined) throw new AppError(failed);
      return ready;
    }),
    once(child, 'exit').then(([code]) => {
      throw unavailable(
        'not_started',
        `The ${name} process ended with code ${code} before it was ready.`,
      );
    }),
  ]);
  await onReady(child.pid ?? 0, ready);
  // It may have ended meanwhile.
  if (child.connected) child.send('known');
  return child;
}
