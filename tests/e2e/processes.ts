/** Real processes of the compiled code: started, watched, and ended with the test. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import { readProcessStart } from '../../infra/embedded/process-identity.ts';
import { environmentWithOnly, type OptionTexts } from '../../src/core/config.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';

const run = promisify(execFile);
const cli = path.join(packageRoot, 'dist', 'workers', 'cli.js');

/** A running command. Its outputs grow as they arrive. */
export interface Command {
  child: ChildProcess;
  pid: number;
  stdout: string;
  stderr: string;
  /** Resolves when it has ended and all its output has arrived: its exit code, null after a signal. */
  ended: Promise<number | null>;
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Rows of a chunk: few, so that a list of some seconds has many, and is seen midway. */
export const CHUNK_ROWS = 500;

/** Starts `enrich` with these words, in a process group of its own, as a terminal does. */
export function startCommand(words: string[], options: OptionTexts = {}): Command {
  const child = spawn(process.execPath, [cli, ...words], {
    env: environmentWithOnly({
      logLevel: 'warn',
      port: '0',
      chunkRows: String(CHUNK_ROWS),
      ...options,
    }),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return watch(child);
}

/** The same, with an IPC channel to this process, as `node --watch` and process managers open one. */
export function startWithChannel(words: string[], options: OptionTexts = {}): Command {
  const child = spawn(process.execPath, [cli, ...words], {
    env: environmentWithOnly(options),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return watch(child);
}

/** The same at a terminal of its own, whose screen is the command's stdout and whose keys are the child's stdin. */
export function startInTerminal(words: string[], options: OptionTexts = {}): Command {
  const line = ['exec', process.execPath, cli, ...words].join(' ');
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    env: environmentWithOnly(options),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return watch(child);
}

function watch(child: ChildProcess): Command {
  const command: Command = {
    child,
    pid: child.pid ?? 0,
    stdout: '',
    stderr: '',
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    command.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    command.stderr += text;
  });
  return command;
}

/** Runs `enrich` with these words to its end. */
export async function runCommand(words: string[], apiKey?: string): Promise<Ended> {
  const command = startCommand(words, apiKey === undefined ? {} : { apiKey });
  const code = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

/** Runs `enrich --json` with these words and returns its value. Throws when it fails or prints more. */
export async function runJson<T>(words: string[], apiKey?: string): Promise<T> {
  const { code, stdout, stderr } = await runCommand([...words, '--json'], apiKey);
  if (code !== 0) throw new Error(`enrich ${words.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** A process, distinguishable from a later one with the same pid. */
export interface KnownProcess {
  pid: number;
  start: string;
  command: string;
}

/** The process and all its live descendants. */
export async function listTree(root: number): Promise<KnownProcess[]> {
  const { stdout } = await run('ps', ['-axww', '-o', 'pid=,ppid=,command=']);
  const rows = [...stdout.matchAll(/^ *(\d+) +(\d+) +(.*)$/gm)].map(
    ([, pid, parent, command = '']) => ({ pid: Number(pid), parent: Number(parent), command }),
  );
  const tree = new Set([root]);
  // Each round finds the children of the last one.
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of rows) if (tree.has(parent)) tree.add(pid);
  }
  const known = rows
    .filter(({ pid }) => tree.has(pid))
    .map(async ({ pid, command }) => ({ pid, command, start: await readProcessStart(pid) }));
  return (await Promise.all(known)).flatMap(({ start, ...rest }) =>
    start === null ? [] : [{ ...rest, start }],
  );
}

/** The processes that are still alive. */
export async function stillAlive(known: readonly KnownProcess[]): Promise<KnownProcess[]> {
  const starts = await Promise.all(known.map(({ pid }) => readProcessStart(pid)));
  return known.filter(({ start }, index) => starts[index] === start);
}
