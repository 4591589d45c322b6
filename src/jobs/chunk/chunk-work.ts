/** The differences between lists and exports in a run: the outcomes of their rows, and their format. */
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import type { GraphState } from '../../core/graph/graph-state.ts';
import type { BatchKind, BatchOf } from '../batch/batch.ts';
import type { PartReport } from '../batch/report.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { ChunkPhases } from './chunk-metrics.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';

interface RenderedRows {
  /** The part of the result that holds the rows. */
  bytes: Buffer;
  /** Bytes of its longest row, an upper bound for its cells. */
  rowBytesMax: number;
  report: PartReport;
  /** Call when `bytes` are stored and no longer read. */
  release(): void;
}

/** The unfinished rows of a chunk, up to the maximum of the part, before payment. */
export interface ChunkWork {
  outcomes: Outcome[];
  /** The state of the graph in which a local copy answered; null when Postgres did. */
  graph: GraphState | null;
  /** Writes the first rows, one for each of these outcomes. Those at the indexes `owned` cost nothing. */
  render(outcomes: readonly Outcome[], owned: ReadonlySet<number>): RenderedRows;
  /** The outcomes that are lines of the part. */
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
