/** What lists and exports differ in while they run: what their rows come to, and how they are written. */
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import type { BatchKind, BatchOf } from '../batch/batch.ts';
import type { PartReport } from '../batch/report.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { ChunkPhases } from './chunk-phases.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';

interface RenderedRows {
  /** The part of the result that holds the rows. */
  bytes: Buffer;
  /** Bytes of its longest row: no cell is longer. */
  rowBytesMax: number;
  report: PartReport;
  /** Call it when `bytes` are stored and no longer read. */
  release(): void;
}

/** The rows of a chunk that are not done, or as many as the part may hold, before anything is paid. */
export interface ChunkWork {
  outcomes: Outcome[];
  /** Writes the first of the rows, one for each of these outcomes. */
  render(outcomes: readonly Outcome[]): RenderedRows;
  /** Those of the outcomes that are lines of the part. */
  lines(outcomes: readonly Outcome[]): readonly Outcome[];
}

/** Reads the work of a chunk, for each kind of batch. */
export type ReadChunk = {
  [Kind in BatchKind]: (
    context: JobContext & ChunkPhases,
    batch: BatchOf<Kind>,
    chunk: ClaimedChunk,
  ) => Promise<ChunkWork>;
};
