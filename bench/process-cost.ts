/**
 * The cost of a measured step in addition to its time: CPU seconds and peak memory of processes, read from
 * `/proc`. Without `/proc` every figure is null.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { getuid } from 'node:process';
import type { Run } from './interleave.ts';
import { readProcesses } from './process-table.ts';

/** CPU seconds since each process started. */
export interface CpuSeconds {
  /** The processes of the service. */
  node: number;
  /** The server, with its live and ended backends. */
  postgres: number;
  /** Other servers that the service uses: Redis, S3. */
  others: number;
  /** This process and its finished children. */
  client: number;
}

/** Processes to measure. */
export interface CostlyPids {
  node: readonly number[];
  postgres: number;
  others?: readonly number[];
}

/** The CPU time of the service's processes, of the whole server, and of this process; null without /proc. */
export async function readCpu(pids: CostlyPids): Promise<CpuSeconds | null> {
  const stats = await readProcesses();
  const server = stats.get(pids.postgres);
  if (server === undefined) return null;
  let postgres = server.own + server.endedChildren;
  for (const stat of stats.values()) if (stat.parent === pids.postgres) postgres += stat.own;
  const client = stats.get(process.pid);
  const sum = (of: readonly number[]) =>
    of.reduce((seconds, pid) => seconds + (stats.get(pid)?.own ?? 0), 0);
  return {
    node: sum(pids.node),
    postgres,
    others: sum(pids.others ?? []),
    client: (client?.own ?? 0) + (client?.endedChildren ?? 0),
  };
}

/** Bytes that these processes and the server have read from the disk since they started; NaN without /proc. */
export async function readDiskBytes(pids: CostlyPids): Promise<number> {
  const stats = await readProcesses();
  const servers = [...stats].filter(([, { parent }]) => parent === pids.postgres);
  const bytes = await Promise.all(
    [...pids.node, ...servers.map(([pid]) => pid)].map(async (pid) => {
      const text = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
      return Number(/^read_bytes: (\d+)$/m.exec(text)?.[1] ?? 0);
    }),
  );
  return bytes.reduce((sum, count) => sum + count, 0);
}

/** The difference between two readings, in seconds. */
export function cpuBetween(before: CpuSeconds | null, after: CpuSeconds | null): CpuSeconds | null {
  if (before === null || after === null) return null;
  const used = (name: keyof CpuSeconds) => Number((after[name] - before[name]).toFixed(2));
  return {
    node: used('node'),
    postgres: used('postgres'),
    others: used('others'),
    client: used('client'),
  };
}

/** CPU seconds of all processes of a run except its client; NaN without /proc. */
export function cpuOf({ cpuSeconds }: Run): number {
  const { node, postgres, others } = (cpuSeconds ?? {}) as Partial<CpuSeconds>;
  return node === undefined ? Number.NaN : node + (postgres ?? 0) + (others ?? 0);
}

/** Starts a new reading of peak memory. Where the kernel refuses, the peak is that of the whole life. */
export async function resetPeakMemory(pid: number): Promise<void> {
  // "5" resets the peak resident set size (proc(5), clear_refs); the owner may do it.
  if (getuid === undefined) return;
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {});
}

/** Peak resident memory of a process in MiB, or null. */
export async function readPeakMemory(pid: number): Promise<number | null> {
  return readMemory(pid, 'VmHWM');
}

/** Resident memory of a process in MiB, or null. */
export async function readResidentMemory(pid: number): Promise<number | null> {
  return readMemory(pid, 'VmRSS');
}

/** Memory of a process in MiB in which shared pages count in proportion (PSS of proc(5)), or null. */
export async function readSharedOut(pid: number): Promise<number | null> {
  return readMemory(pid, 'Pss', 'smaps_rollup');
}

async function readMemory(
  pid: number,
  field: 'VmRSS' | 'VmHWM' | 'Pss',
  file: 'status' | 'smaps_rollup' = 'status',
): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return kibibytes === undefined ? null : Math.round(Number(kibibytes) / 1024);
}
