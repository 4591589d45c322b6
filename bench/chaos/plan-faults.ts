/** Plans the faults and their times. Pure: depends only on the seed and the stack. */
import type { Random } from './random.ts';
import type { Toxic } from './tcp-proxy.ts';

export type ProcessKind = 'api' | 'worker';

export type Fault =
  | { kind: 'kill'; process: ProcessKind; index: number }
  | { kind: 'terminate'; process: ProcessKind; index: number }
  | { kind: 'freeze'; process: ProcessKind; index: number; ms: number }
  | { kind: 'shift-clock'; index: number; ms: number }
  | { kind: 'restart-postgres'; awayMs: number }
  | { kind: 'restart-redis'; awayMs: number }
  | { kind: 'lose-queue' }
  | { kind: 'network'; line: string; toxic: Toxic; ms: number }
  | { kind: 'fill-storage'; ms: number };

export interface PlannedFault {
  atMs: number;
  fault: Fault;
}

export interface FaultyStack {
  apis: number;
  workers: number;
  /** Names of the connections that can be disturbed. */
  lines: readonly string[];
  hasRedis: boolean;
  canFillStorage: boolean;
}

/** A frozen worker has lost its leases (12 s) when it resumes. */
const FREEZE_BEYOND_LEASE_MS = [17_000, 24_000] as const;
/** The interval between faults, uniform between the two. */
const GAP_MS = [1_500, 5_500] as const;

/** Faults for `durationMs`. Each kind occurs once before any occurs again. */
export function planFaults(random: Random, stack: FaultyStack, durationMs: number): PlannedFault[] {
  const planned: PlannedFault[] = [];
  let deck: ((random: Random) => Fault)[] = [];
  for (let atMs = 1_000; atMs < durationMs; atMs += random.between(...GAP_MS)) {
    if (deck.length === 0) deck = shuffle(random, faultsOf(stack));
    const draw = deck.pop();
    if (draw !== undefined) planned.push({ atMs, fault: draw(random) });
  }
  return planned;
}

function faultsOf(stack: FaultyStack): ((random: Random) => Fault)[] {
  const { workers, apis, lines } = stack;
  const worker = (random: Random) => ({
    process: 'worker' as const,
    index: random.between(0, workers - 1),
  });
  const api = (random: Random) => ({ process: 'api' as const, index: random.between(0, apis - 1) });
  return [
    (random) => ({ kind: 'kill', ...worker(random) }),
    (random) => ({ kind: 'kill', ...worker(random) }),
    (random) => ({ kind: 'kill', ...api(random) }),
    (random) => ({ kind: 'terminate', ...worker(random) }),
    (random) => ({ kind: 'terminate', ...api(random) }),
    (random) => ({
      kind: 'freeze',
      ...worker(random),
      ms: random.between(...FREEZE_BEYOND_LEASE_MS),
    }),
    (random) => ({ kind: 'freeze', ...worker(random), ms: random.between(500, 4_000) }),
    (random) => ({ kind: 'freeze', ...api(random), ms: random.between(500, 6_000) }),
    (random) => ({
      kind: 'shift-clock',
      index: random.between(0, workers - 1),
      ms: random.pick([-60_000, 60_000]),
    }),
    (random) => ({ kind: 'restart-postgres', awayMs: random.between(0, 3_000) }),
    () => ({ kind: 'lose-queue' }),
    ...lines.map((line) => (random: Random) => disturb(random, line)),
    ...(stack.hasRedis
      ? [
          (random: Random): Fault => ({
            kind: 'restart-redis',
            awayMs: random.between(0, 5_000),
          }),
        ]
      : []),
    ...(stack.canFillStorage
      ? [(random: Random): Fault => ({ kind: 'fill-storage', ms: random.between(1_000, 6_000) })]
      : []),
  ];
}

function disturb(random: Random, line: string): Fault {
  const toxics: Toxic[] = [
    { kind: 'latency', ms: random.between(20, 300) },
    { kind: 'slice', bytes: random.between(1, 50), ms: random.between(0, 5) },
    { kind: 'blackhole' },
    { kind: 'cut' },
    { kind: 'reset' },
    ...(line === 's3' ? [{ kind: 'unavailable' } as const] : []),
  ];
  const toxic = random.pick(toxics);
  return { kind: 'network', line, toxic, ms: random.between(1_000, 8_000) };
}

function shuffle<T>(random: Random, list: T[]): T[] {
  const left = [...list];
  const shuffled: T[] = [];
  while (left.length > 0) shuffled.push(...left.splice(random.between(0, left.length - 1), 1));
  return shuffled;
}
