/** The processes of the machine, read from `/proc`: empty without it. */
import { readdir, readFile } from 'node:fs/promises';

/** The kernel counts CPU time for user space in hundredths of a second (USER_HZ of proc(5)). */
const TICKS_PER_SECOND = 100;

interface Process {
  parent: number;
  /** True when it has ended, and its parent has not waited for it yet. */
  isEnded: boolean;
  /** CPU seconds of the process, and of its children that have ended. */
  own: number;
  endedChildren: number;
}

/** Reads all processes, by pid. */
export async function readProcesses(): Promise<Map<number, Process>> {
  const processes = new Map<number, Process>();
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((name) => /^\d+$/.test(name));
  await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      const process = parseStat(text);
      if (process !== null) processes.set(Number(pid), process);
    }),
  );
  return processes;
}

/** Stops a process and all its descendants, also those that they start meanwhile; returns their pids. */
export async function stopTree(root: number): Promise<number[]> {
  const stopped = new Set<number>();
  for (;;) {
    const started = (await listTree(root)).filter((pid) => !stopped.has(pid));
    if (started.length === 0) return [...stopped];
    signalAll(started, 'SIGSTOP');
    for (const pid of started) stopped.add(pid);
  }
}

async function listTree(root: number): Promise<number[]> {
  const processes = [...(await readProcesses())];
  const pids = [root];
  // The list grows while it is read.
  for (const pid of pids) {
    for (const [child, { parent }] of processes) if (parent === pid) pids.push(child);
  }
  return pids;
}

/** Lists those of the processes that have not ended. */
export async function listLiving(pids: readonly number[]): Promise<number[]> {
  const processes = await readProcesses();
  return pids.filter((pid) => processes.get(pid)?.isEnded === false);
}

/** Sends a signal to those of the processes that are still there. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Fields 3 (state), 4 (parent), 14 to 17 (times) of proc(5); the name before them may contain any character. */
function parseStat(text: string): Process | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 15) return null;
  const seconds = (field: number) => Number(fields[field - 3]) / TICKS_PER_SECOND;
  return {
    parent: Number(fields[1]),
    isEnded: fields[0] === 'Z' || fields[0] === 'X',
    own: seconds(14) + seconds(15),
    endedChildren: seconds(16) + seconds(17),
  };
}
