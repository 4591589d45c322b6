/** The local copy of the graph, for the chunks that it can answer for. */
import type { GraphInState } from '../../core/graph-copy/local-copy.ts';
import type { Batch } from '../batch/batch.ts';
import type { JobContext } from '../queue/job-context.ts';
import { countMatchedPart } from './chunk-metrics.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';

type CopyContext = Pick<JobContext, 'sql' | 'localCopy'>;

/** Rows as either of the readers answered for them. */
interface AnsweredRows {
  outcomes: readonly unknown[];
}

/**
 * Runs `work` on the local copy, or with null, for Postgres: without a copy, in test mode, and for a part that was claimed
 * before without effect, as after a change of the graph. Counts the rows.
 */
export async function readFromCopy<Answered extends AnsweredRows>(
  { sql, localCopy }: CopyContext,
  batch: Batch,
  chunk: ClaimedChunk,
  work: (copy: GraphInState | null) => Promise<Answered>,
): Promise<Answered> {
  // A quote claims no chunk.
  const isFirstClaim = chunk.epoch <= chunk.parts + 1;
  const copied = batch.live && isFirstClaim ? await localCopy.read(sql, work) : null;
  const read = copied ?? (await work(null));
  const { length } = read.outcomes;
  countMatchedPart(copied === null ? 'postgres' : 'copy', length);
  // An export gains too little to be a reason to build one.
  if (batch.live && batch.kind === 'list') localCopy.countRows(length);
  return read;
}
