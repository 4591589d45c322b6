/** Processes a list's chunk: matches its records and writes them with their outcomes. */
import { outputColumns } from '../../core/enrich/match-data.ts';
import { must } from '../../core/lib/assert.ts';
import { priceOf } from '../../core/operations.ts';
import type { ListBatch } from '../batch/batch.ts';
import { reportPart } from '../batch/report.ts';
import type { ChunkPhases } from '../chunk/chunk-metrics.ts';
import type { ChunkWork } from '../chunk/chunk-work.ts';
import type { ClaimedChunk } from '../chunk/claim-chunk.sql.ts';
import { matchChunk } from '../chunk/match-chunk.ts';
import { readFromCopy } from '../chunk/read-from-copy.ts';
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
  const matched = await readFromCopy(context, batch, chunk, async (copy) => ({
    ...(await matchChunk(context, batch, chunk, { copy })),
    graph: copy?.state ?? null,
  }));
  const { piece, records, repairs, outcomes, graph } = matched;
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
    graph,
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
