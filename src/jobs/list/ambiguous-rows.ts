/** Lists the ambiguous rows of a list with their candidates, so that a caller can decide them. */
import { z } from 'zod';
import { mayDescribeCandidates } from '../../core/enrich/free-outcomes.ts';
import { lookUpInTurn } from '../../core/enrich/look-up-turns.ts';
import { graphOf } from '../../core/graph/graph-of.ts';
import {
  type CandidateDescription,
  describeCandidates,
} from '../../core/likely/describe-candidates.ts';
import { subjectOf } from '../../core/operations.ts';
import { readLikelyCells } from '../../mapping/read-rows.ts';
import type { ListBatch } from '../batch/batch.ts';
import type { RowCandidate } from '../result/candidates-cell.ts';
import { type MergedRow, mergedRows } from '../result/merge-reruns.ts';
import { scanPart } from '../result/part-records.ts';
import type { PartsContext } from '../result/read-part.ts';

const described =
  'Null in a list that was charged for fewer matches than it has ambiguous rows: free responses must not add up to records.';

/** The JSON of an ambiguous row. */
export const ambiguousRowSchema = z.strictObject({
  row: z.number().int(),
  cells: z.array(z.string()).meta({ description: "The list's own cells." }),
  candidates: z.array(
    z.strictObject({
      id: z.number().int(),
      probability: z.number(),
      evidence: z
        .string()
        .nullable()
        .meta({
          description: `The agreement of the row with the record. ${described}`,
        }),
      traits: z
        .record(z.string(), z.string().nullable())
        .nullable()
        .meta({
          description: `Of a person \`title\`, \`industry\` and \`country\`, where ten people or more have the value; of a company \`name\`, \`city\`, \`country\` and \`industry\`. ${described}`,
        }),
    }),
  ),
});
export type AmbiguousRow = z.output<typeof ambiguousRowSchema>;

/** A decidable row: an ambiguous one that has candidates. */
export function isDecidable({ status, candidates }: MergedRow): boolean {
  return status === 'ambiguous' && candidates.length > 0;
}

/** A page of rows: those after the row number `after`. */
interface RowPage {
  after: number;
  limit: number;
  /** The page may end after the row with which their cells have more bytes. */
  bytesMax: number;
}

/**
 * Returns the first undecided rows of a page. Ends when the signal aborts, with its reason. Records that are gone or have opted
 * out are not among the candidates. Throws as `mergedRows` and `lookUpInTurn`.
 */
export async function listAmbiguousRows(
  context: PartsContext & { signal: AbortSignal },
  batch: ListBatch,
  { after, limit, bytesMax }: RowPage,
): Promise<AmbiguousRow[]> {
  const rows: MergedRow[] = [];
  let bytes = 0;
  for await (const row of mergedRows(context, batch, after + 1)) {
    context.signal.throwIfAborted();
    if (row.row <= after || !isDecidable(row)) continue;
    const cells = row.cells.slice(0, batch.width ?? 0);
    // A copy: the part that the row is a piece of may be a thousand times as long.
    rows.push({ ...row, cells, text: Buffer.from(row.text) });
    bytes += cells.reduce((sum, cell) => sum + Buffer.byteLength(cell), 0);
    if (rows.length === limit || bytes > bytesMax) break;
  }
  const about = await lookUpInTurn(batch.accountId, context.signal, () =>
    describe(context, batch, rows),
  );
  const isDescribed = mayDescribeCandidates(batch);
  return rows.map(({ row, cells, candidates }, index) => {
    const view = ({ id, probability }: RowCandidate) => {
      const { evidence, traits } = about[index]?.get(id) ?? {};
      if (evidence === undefined || traits === undefined) return [];
      return [{ id, probability, ...(isDescribed ? { evidence, traits } : undescribed) }];
    };
    return { row, cells, candidates: candidates.flatMap(view) };
  });
}

const undescribed = { evidence: null, traits: null };

/** The descriptions of each row's candidates, by id. */
async function describe(
  context: PartsContext,
  batch: ListBatch,
  rows: readonly MergedRow[],
): Promise<Map<number, CandidateDescription>[]> {
  if (rows.length === 0) return [];
  const { delimiter } = batch.dialect;
  const text = Buffer.concat(rows.flatMap((row) => [row.text, Buffer.from('\n')]));
  const records = scanPart(text, delimiter);
  const cells = readLikelyCells(text, records, { ...batch, delimiter });
  return describeCandidates(
    graphOf(context, batch.live),
    subjectOf(batch.operation),
    rows.map(({ candidates }, index) => ({
      cells: cells[index] ?? {},
      ids: candidates.map(({ id }) => id),
    })),
  );
}
