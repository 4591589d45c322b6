/**
 * A process of the service that is restarted whenever it exits, as by `up` or a service manager, and to which
 * faults are applied. Its log goes to a file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { environmentWithOnly, type OptionTexts } from '../../src/core/config.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { SUPERVISED } from '../../workers/process-life.ts';
import type { History } from './history.ts';

const RESTART_AFTER_MS = 500;
const STOP_MS_MAX = 35_000;
/** The compiled code of this version. */
const ownCode = path.join(packageRoot, 'dist');

/** The end of this process ends them. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** The shutdown of a process: its exit code, and how long it took. */
export interface Drain {
  process: string;
  code: number | null;
  seconds: number;
}

export class KeptProcess {
  readonly name: string;
  readonly logFile: string;
  readonly #entry: string;
  readonly #options: OptionTexts;
  readonly #history: History;
  #child: ChildProcess | null = null;
  #stopping = false;
  #ready: Promise<void> = Promise.resolve();
  #isReady = false;
  #isFrozen = false;
  /** True if it was frozen at any time since it was told to shut down. */
  #frozeAtEnd = false;
  /** Number of exits with a failure on its own. */
  crashes = 0;
  /** Milliseconds of clock shift from the next start on. */
  clockShiftMs = 0;

  /** `code` is the folder of the compiled version that it runs. */
  constructor(
    kind: 'api' | 'worker',
    name: string,
    options: OptionTexts,
    history: History,
    code = ownCode,
  ) {
    this.name = name;
    this.logFile = path.join(history.folder, `${name}.log`);
    this.#entry = path.join(code, 'workers', `${kind}.js`);
    this.#options = options;
    this.#history = history;
  }

  /** Resolves when the process reports that it is ready. */
  start(): Promise<void> {
    const output = openSync(this.logFile, 'a');
    const child = spawn(process.execPath, [this.#entry, SUPERVISED], {
      env: this.#environment(),
      // The channel also ties it: without its supervisor a process exits.
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
    living.add(child);
    this.#child = child;
    this.#isReady = false;
    this.#isFrozen = false;
    child.on('error', (error) => this.#history.note('process error', { error: String(error) }));
    child.once('exit', (code, signal) => {
      living.delete(child);
      if (code !== null && code !== 0) this.crashes += 1;
      this.#history.note('process ended', { process: this.name, code, signal });
      if (this.#stopping) return;
      setTimeout(() => {
        if (!this.#stopping) void this.start();
      }, RESTART_AFTER_MS);
    });
    this.#ready = new Promise((resolve) => {
      child.once('message', (message) => {
        if (!isReadyMessage(message)) {
          this.#history.tell('process not started', { process: this.name, message });
          return;
        }
        this.#history.note('process ready', { process: this.name, pid: child.pid });
        this.#isReady = true;
        // An API answers once its supervisor can say where it is.
        if (child.connected) child.send('known');
        resolve();
      });
    });
    return this.#ready;
  }

  /** True since it reported that it is ready, until it ends. */
  get isReady(): boolean {
    const child = this.#child;
    return this.#isReady && child?.exitCode === null && child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGSTOP') this.#isFrozen = this.#frozeAtEnd = true;
    if (signal === 'SIGCONT') this.#isFrozen = false;
    this.#child?.kill(signal);
  }

  /**
   * Stops the current process; null when none was ready, another signal was faster, or it was frozen meanwhile,
   * as then its time is meaningless. Kills it if it does not exit.
   */
  async end(signal: NodeJS.Signals): Promise<Drain | null> {
    const child = this.#child;
    if (child === null || !this.isReady) return null;
    const asked = performance.now();
    this.#frozeAtEnd = this.#isFrozen;
    const ended = once(child, 'exit');
    child.kill(signal);
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    const [code, by] = (await ended) as [number | null, NodeJS.Signals | null];
    clearTimeout(killer);
    const seconds = (performance.now() - asked) / 1000;
    if (this.#frozeAtEnd) return null;
    // Killed by another fault meanwhile; if killed by the timeout, it was late.
    if (by !== null && seconds * 1000 < STOP_MS_MAX) return null;
    return { process: this.name, code, seconds };
  }

  /** Stops it for good, as `end`. */
  async stop(): Promise<Drain | null> {
    this.signal('SIGCONT');
    await Promise.race([this.#ready, delay(STOP_MS_MAX, undefined, { ref: false })]);
    this.#stopping = true;
    return await this.end('SIGTERM');
  }

  #environment(): NodeJS.ProcessEnv {
    const environment = environmentWithOnly(this.#options);
    if (this.clockShiftMs === 0) return environment;
    const preload = pathToFileURL(path.join(ownCode, 'bench', 'chaos', 'shift-clock.js'));
    return {
      ...environment,
      NODE_OPTIONS: `--import=${preload.href}`,
      CHAOS_CLOCK_SHIFT_MS: String(this.clockShiftMs),
    };
  }
}

function isReadyMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'ready' in message;
}
