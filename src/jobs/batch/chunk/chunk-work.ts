/** What lists and exports differ in while they run: what their rows come to, and how they are written. */
import type { Outcome } from '../../../core/enrich/enrich-many.ts';
import type { PartReport } from '../report.ts';

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
