/** The commands of `enrich`, as an operator runs them: processes of the compiled code. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { environmentWithOnly } from '../../src/core/config.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { listLiving, signalAll, stopTree } from '../process-table.ts';

const cli = path.join(packageRoot, 'dist', 'workers', 'cli.js');
const START_MS_MAX = 120_000;
const LOOK_AGAIN_MS = 100;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const environment = environmentWithOnly({
  logLevel: 'warn',
  port: '0',
  backupPassphrase: 'a passphrase of a drill',
});

export interface Ran<Value> {
  /** The JSON on stdout; null when there is none. */
  value: Value | null;
  code: number;
  stderr: string;
}

/** Runs a command on a data folder to its end. */
export async function run<Value>(folder: string, ...words: string[]): Promise<Ran<Value>> {
  const all = [cli, ...words, '--json', '--data-dir', folder];
  const ended = await promisify(execFile)(process.execPath, all, {
    env: environment,
    maxBuffer: OUTPUT_BYTES_MAX,
  }).then(
    ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
  const { stdout, stderr, code } = ended;
  return { value: stdout.trim() === '' ? null : (JSON.parse(stdout) as Value), code, stderr };
}

/** As `run`. Throws with its output when it fails. */
export async function must<Value>(folder: string, ...words: string[]): Promise<Value> {
  const { value, code, stderr } = await run<Value>(folder, ...words);
  if (code !== 0 || value === null) throw new Error(`enrich ${words.join(' ')}: ${stderr}`);
  return value;
}

export interface Up {
  url: string;
  /** Ends every process of the service at once, as a machine that is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the service on a data folder. */
export async function startUp(folder: string): Promise<Up> {
  const child = spawn(process.execPath, [cli, 'up', '--data-dir', folder], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'exit');
  const { pid } = child;
  if (pid === undefined) throw new Error('enrich up did not start');
  const url = await Promise.race([
    ended.then(() => {
      throw new Error(`enrich up: ${stderr}`);
    }),
    readUrl(folder, child),
  ]);
  return {
    url,
    async kill() {
      // The processes of Postgres are in no group with it, and would work on for a while.
      const pids = await stopTree(pid);
      signalAll(pids, 'SIGKILL');
      while ((await listLiving(pids)).length > 0) await delay(LOOK_AGAIN_MS);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Waits for `up.json` of this process. */
async function readUrl(folder: string, child: ChildProcess): Promise<string> {
  const until = Date.now() + START_MS_MAX;
  while (Date.now() < until) {
    const text = await readFile(path.join(folder, 'up.json'), 'utf8').catch(() => '{}');
    const up = JSON.parse(text || '{}') as { url?: string; pids?: { up: number } };
    if (up.pids?.up === child.pid && up.url !== undefined) return up.url;
    await delay(LOOK_AGAIN_MS);
  }
  throw new Error('enrich up did not start');
}
