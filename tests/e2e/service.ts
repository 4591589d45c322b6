/** The service as users start it, `enrich up`, on its own folder. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { UpFile } from '../../workers/find-service.ts';
import {
  type Command,
  type KnownProcess,
  listTree,
  startCommand,
  stillAlive,
} from './processes.ts';
import { waitFor } from './wait-for.ts';

const readyMsMax = 60_000;
const endMsMax = 45_000;

export interface Service extends AsyncDisposable {
  dataDir: string;
  command: Command;
  up: UpFile;
  /** Stops it like Ctrl-C or a service manager; resolves with the exit code and processes left over. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; left: KnownProcess[] }>;
}

/** Starts the service and resolves once it is ready. Dispose of it whatever the test's outcome. */
export async function startService(dataDir: string, words: string[] = []): Promise<Service> {
  // One worker, unless the test has more to say: some wait for it by its pid.
  const one = ['--port', '0', '--data-dir', dataDir, '--workers', '1'];
  const command = startCommand(['up', ...one, ...words]);
  let code: number | null | undefined;
  const ended = command.ended.then((value) => {
    code = value;
    return value;
  });
  const up = await waitFor('the service is ready', readyMsMax, async () => {
    if (code !== undefined) throw new Error(`the service ended with ${code}: ${command.stderr}`);
    const found = await readUpFile(dataDir);
    return found?.pids.up === command.pid && found;
  });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const tree = await listTree(command.pid);
    // A frozen process would prevent the service from ending.
    for (const { pid } of tree) signalIfThere(pid, 'SIGCONT');
    signalIfThere(command.pid, signal);
    await waitFor('the service ends', endMsMax, async () => code !== undefined);
    return { code: await ended, left: await stillAlive(tree) };
  };
  const dispose = async () => {
    if (code === undefined) await stop().catch(() => signalIfThere(command.pid, 'SIGKILL'));
  };
  return { dataDir, command, up, stop, [Symbol.asyncDispose]: dispose };
}

/** The output of `up`, or undefined before it. */
export async function readUpFile(dataDir: string): Promise<UpFile | undefined> {
  const text = await readFile(path.join(dataDir, 'up.json'), 'utf8').catch(() => '');
  return text === '' ? undefined : (JSON.parse(text) as UpFile);
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
