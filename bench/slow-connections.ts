/** Measures the API under many nearly idle connections. */
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { BenchStack } from './bench-stack.ts';
import { askChild, startServant } from './child.ts';
import { secondsSince } from './measured-run.ts';
import type { Latencies, OpenLoop } from './open-loop.ts';
import {
  type CpuSeconds,
  cpuBetween,
  readCpu,
  readPeakMemory,
  readResidentMemory,
  resetPeakMemory,
} from './process-cost.ts';
import type { Held, SlowConnections } from './slow-connections-process.ts';

export interface Siege {
  /** Latencies of `/healthz` meanwhile. */
  health: Latencies;
  /**
   * Seconds from the last connection until the API held none of them; null when it still held one in the end,
   * or when unknown.
   */
  freedSeconds: number | null;
  /** The API's peak memory above its memory before. */
  growthMiB: number;
  /** CPU used by the API and the server meanwhile. */
  cpuSeconds: CpuSeconds | null;
  held: Held;
}

const HEALTH_PER_SECOND = 50;
const LOOK_MS = 100;

/**
 * Opens the connections and polls the API's health for `seconds`. Calls `meanwhile` when all are open; releases
 * the connections when it is done and the time is over.
 */
export async function besiege(
  stack: BenchStack,
  order: Omit<SlowConnections, 'port'>,
  seconds: number,
  meanwhile: (look: () => Promise<Held>) => Promise<void> = async () => {},
): Promise<Siege> {
  const { api } = stack.pids;
  const port = Number(new URL(stack.url).port);
  await resetPeakMemory(api);
  const before = Number(await readResidentMemory(api));
  const pids = { node: [api], postgres: stack.pids.postgres };
  const cpu = await readCpu(pids);
  await using servant = startServant('bench/slow-connections-process.js', {});
  const { ports } = await servant.ask<Held>({ open: { ...order, port } });
  const from = new Set(ports);
  const started = performance.now();
  const health = askChild<Latencies>('bench/open-loop-process.js', {
    addresses: [`${stack.url}/healthz`],
    headers: [{}],
    perSecond: HEALTH_PER_SECOND,
    seconds,
  } satisfies OpenLoop);
  let freedSeconds: number | null = null;
  let isOver = false;
  const watch = (async () => {
    while (!isOver && freedSeconds === null) {
      if ((await countHeld(port, from)) === 0) freedSeconds = secondsSince(started);
      await setTimeout(LOOK_MS);
    }
  })();
  const look = () => servant.ask<Held>({ look: true });
  const [latencies] = await Promise.all([health, meanwhile(look)]);
  isOver = true;
  await watch;
  const growthMiB = Number(await readPeakMemory(api)) - before;
  const cpuSeconds = cpuBetween(cpu, await readCpu(pids));
  return { health: latencies, freedSeconds, growthMiB, cpuSeconds, held: await look() };
}

/**
 * Number of connections from these ports that a process still holds on this one; NaN without /proc. Data that
 * only the kernel still sends belongs to no process (inode 0 in proc(5), net/tcp).
 */
async function countHeld(port: number, from: ReadonlySet<number>): Promise<number> {
  const table = await readFile('/proc/net/tcp', 'latin1').catch(() => null);
  if (table === null) return Number.NaN;
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16);
  return table.split('\n').filter((line) => {
    const fields = line.trim().split(/\s+/);
    return portOf(fields[1]) === port && from.has(portOf(fields[2])) && fields[9] !== '0';
  }).length;
}

/** The beginning of a request as bytes; its headers end with an empty line. */
export function requestHead(line: string, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...headers });
  return `${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;
}
