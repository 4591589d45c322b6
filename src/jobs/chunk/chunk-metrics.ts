/**
 * Metrics of chunks. Measures the phases of a chunk as metrics and spans. Phases are sequential, so each one ends the one before.
 */
import { Counter, Histogram } from 'prom-client';
import type { RowsMatched } from '../../core/graph-copy/report-copy.ts';
import type { Log } from '../../core/log.ts';
import { metrics } from '../../core/metrics.ts';
import { recordSpan } from '../../core/tracing.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';

/**
 * In order: `claim` is the lease and the key's rows per minute, `read` the bytes and their identifiers,
 * `look_up` and `fetch` the two statements with their decisions, `compare` the list's own names and duplicates,
 * `write` the object store.
 */
export type ChunkPhase =
  | 'claim'
  | 'read'
  | 'look_up'
  | 'fetch'
  | 'compare'
  | 'reserve'
  | 'render'
  | 'write'
  | 'commit';

/** Read by heartbeats too. */
export const leasesReclaimed = new Counter({
  name: 'enrich_leases_reclaimed_total',
  help: 'Chunks that this process reclaimed after their lease expired, because a worker died or froze.',
  registers: [metrics],
});

const chunkSeconds = new Histogram({
  name: 'enrich_chunk_seconds',
  help: 'Duration of a chunk from its claim to its commit.',
  labelNames: ['kind'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [metrics],
});

const phaseSeconds = new Histogram({
  name: 'enrich_chunk_phase_seconds',
  help: 'Duration of each phase of a chunk.',
  labelNames: ['phase'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [metrics],
});

const partEnds = new Counter({
  name: 'enrich_parts_total',
  help: 'Parts of chunks, by how they ended: committed, refused (another worker has the chunk), repeated (another charge paid for one of its people, or the graph changed after a local copy had answered), unpaid or failed.',
  labelNames: ['end'],
  registers: [metrics],
});

const ends = ['committed', 'refused', 'repeated', 'unpaid', 'failed'] as const;
// Starts each counter at 0, so that an alert on its growth sees the first event.
for (const end of ends) partEnds.inc({ end }, 0);

export function countPart(end: (typeof ends)[number]): void {
  partEnds.inc({ end });
}

/** Counts and logs a part that does not count: another worker has its chunk, or the batch was cancelled. */
export function warnRefused(log: Log, { batchId: batch, number, epoch }: ClaimedChunk): void {
  countPart('refused');
  log.warn({ batch, chunk: number, epoch }, 'part refused');
}

const partsMatched = new Counter({
  name: 'enrich_list_parts_matched_total',
  help: 'Parts of lists and exports and chunks of quotes, by what answered for their records: copy (the local copy of the graph) or postgres.',
  labelNames: ['by'],
  registers: [metrics],
});

const rowsMatched = new Counter({
  name: 'enrich_list_rows_matched_total',
  help: 'Rows of these parts and chunks, by what answered for their records.',
  labelNames: ['by'],
  registers: [metrics],
});

/** Returns the rows that this process has matched, for its heartbeat. */
export async function readRowsMatched(): Promise<RowsMatched> {
  const { values } = await rowsMatched.get();
  const by = (name: keyof RowsMatched) =>
    values.find(({ labels }) => labels.by === name)?.value ?? 0;
  return { copy: by('copy'), postgres: by('postgres') };
}

for (const by of ['copy', 'postgres'] as const) countMatchedPart(by, 0, 0);

export function countMatchedPart(by: keyof RowsMatched, rows: number, parts = 1): void {
  partsMatched.inc({ by }, parts);
  rowsMatched.inc({ by }, rows);
}

/** The clock of one chunk. */
export interface ChunkPhases {
  /** Start time by `performance.now`. */
  start: number;
  /** Ends a phase, which began when the previous one ended. */
  endPhase(phase: ChunkPhase): void;
  /** The chunk is committed. */
  end(kind: 'list' | 'export'): void;
}

export function startPhases(): ChunkPhases {
  const start = performance.now();
  let last = start;
  return {
    start,
    endPhase(phase) {
      const now = performance.now();
      phaseSeconds.observe({ phase }, (now - last) / 1000);
      recordSpan(phase, last, now);
      last = now;
    },
    end: (kind) => chunkSeconds.observe({ kind }, (performance.now() - start) / 1000),
  };
}
