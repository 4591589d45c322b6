/** Processes a list's chunk: matches its records and writes them with their outcomes. */
import { outputColumns } from '../../core/enrich/match-data.ts';
import type { GraphState } from '../../core/graph-copy/local-copy.ts';
import { must } from '../../core/lib/assert.ts';
import { operations, priceOf } from '../../core/operations.ts';
import type { ListBatch } from '../batch/batch.ts';
import { reportPart } from '../batch/report.ts';
import { type ChunkPhases, countMatchedPart } from '../chunk/chunk-metrics.ts';
import type { ChunkWork } from '../chunk/chunk-work.ts';
import type { ClaimedChunk } from '../chunk/claim-chunk.sql.ts';
import { type MatchedChunk, matchChunk } from '../chunk/match-chunk.ts';
import type { JobContext } from '../queue/job-context.ts';
import { furtherMatchColumns, renderPart } from '../result/render-part.ts';

type ListContext = Pick<JobContext, 'sql' | 'testSql' | 'store' | 'config' | 'localCopy'> &
  Pick<ChunkPhases, 'endPhase'>;

/** Matches the rows of a chunk, from the local copy of the graph where it can. */
export async function readListChunk(
  context: ListContext,
  batch: ListBatch,
  chunk: ClaimedChunk,
): Promise<ChunkWork> {
  const fromCopy = await matchFromCopy(context, batch, chunk);
  const matched = fromCopy ?? (await matchChunk(context, batch, chunk));
  const { piece, records, repairs, outcomes } = matched;
  countMatchedPart(fromCopy === null ? 'postgres' : 'copy', outcomes.length);
  if (isCopied(batch)) context.localCopy.countRows(outcomes.length);
  const layout = {
    delimiter: batch.dialect.delimiter,
    newline: batch.dialect.newline,
    width: must(batch.width, 'width of a split batch'),
    columns: outputColumns(batch.operation, batch.fields),
    price: batch.live ? priceOf(batch.operation) : 0,
    further: furtherMatchColumns(batch),
  };
  const from = chunk.rowsDone;
  return {
    outcomes,
    graph: fromCopy?.graph ?? null,
    render(paid, owned) {
      const rows = { piece, records, from, to: from + paid.length };
      const { filled, ...rendered } = renderPart(rows, paid, layout, owned);
      const report = reportPart(records, from, paid, layout, { filled, repairs });
      // The part copied the bytes.
      matched.release();
      return { ...rendered, report };
    },
    lines: (paid) => paid,
  };
}

/**
 * Matches the rows from the local copy; null when there is none, or Postgres has to answer: about companies, in test
 * mode, and for a part that was claimed before without effect, as after a change of the graph.
 */
async function matchFromCopy(
  context: ListContext,
  batch: ListBatch,
  chunk: ClaimedChunk,
): Promise<(MatchedChunk & { graph: GraphState }) | null> {
  const isFirstClaim = chunk.epoch === chunk.parts + 1;
  if (!isFirstClaim || !isCopied(batch)) return null;
  return context.localCopy.read(context.sql, async (people) => {
    const matched = await matchChunk(context, batch, chunk, { people });
    const release = () => {
      matched.release();
      people.release();
    };
    return { ...matched, release, graph: people.state };
  });
}

/** Returns true when a local copy has what the rows are matched with. */
function isCopied({ live, operation }: ListBatch): boolean {
  return live && operations[operation].subject === 'person';
}
