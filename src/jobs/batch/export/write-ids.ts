/**
 * The beginning of an export: the ids of the people that its filter means, in order, as one object. They
 * come from one statement, so they are those of one state of the graph, and no import changes them.
 */
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { needsOnlyBrief, outputColumns } from '../../../core/enrich/answer.ts';
import { assert } from '../../../core/lib/assert.ts';
import { AppError } from '../../../core/lib/errors.ts';
import { parseFilter } from '../../../core/search/parse.ts';
import { prepareFilter } from '../../../core/search/prepare.ts';
import type { JobContext } from '../../queue/job-context.ts';
import { type ExportBatch, insertSplit, type NewChunk } from '../queries.ts';
import { type IdSlice, readMatchingIds } from './queries.ts';

/**
 * The id in an export of nobody; no record has it. Such an export is held, paused, paid and ended like one of a few
 * people, so that its course does not tell them apart before anything is paid.
 */
const NOBODY = 0;

/** A brief record is a third of a full one, and nothing is matched: so many make a chunk of the same weight. */
const BRIEF_ROWS = 3;

/**
 * Writes the ids and records them as chunks. Safe to run twice, also at once: each run writes an object of
 * its own, and only one is recorded. Throws `AppError` 422 `too_many_results` for more people than an
 * export may hold.
 */
export async function writeIds(context: JobContext, batch: ExportBatch): Promise<void> {
  const { chunkRows, batchRowsMax } = context.config;
  const graph = batch.live ? context.sql : context.testSql;
  // One more than may be there tells that there are more.
  const max = batch.maxResults ?? batchRowsMax + 1;
  const people = await prepareFilter(graph, parseFilter(batch.filter), batch, batch.createdAt);
  const notDeliveredBy = batch.onlyNew ? batch.scheduleId : null;
  const columns = outputColumns(batch.operation, batch.fields);
  const isBrief = needsOnlyBrief(batch.operation, columns);
  const sliceRows = isBrief ? chunkRows * BRIEF_ROWS : chunkRows;
  const slices = readMatchingIds(graph, { people, notDeliveredBy, sliceRows, max });
  const canonicalKey = `batches/${batch.id}/ids-${uuidv7()}`;
  const chunks: NewChunk[] = [];
  await context.store.putStream(canonicalKey, Readable.from(cutChunks(slices, chunks)));
  const last = chunks.at(-1);
  const rowsTotal = last === undefined ? 0 : last.firstRow - 1 + last.rows;
  if (rowsTotal > batchRowsMax) {
    await context.store.delete(canonicalKey);
    throw tooManyResults(batchRowsMax);
  }
  const writtenBytes = last?.byteTo ?? 0;
  const totals = {
    hold: batch.hold,
    canonicalKey,
    rowsTotal,
    blankLines: 0,
    width: 0,
    writtenBytes,
  };
  if (!(await insertSplit(context.sql, batch.id, totals, chunks))) {
    await context.store.delete(canonicalKey);
  }
}

/** Passes the bytes on and notes each slice as a chunk. Throws when there are fewer than were announced. */
async function* cutChunks(
  slices: AsyncIterable<IdSlice[]>,
  chunks: NewChunk[],
): AsyncGenerator<Buffer> {
  let byteFrom = 0;
  let firstRow = 1;
  let announced = 0;
  for await (const fetched of slices) {
    for (const { ids, rows, total } of fetched) {
      announced = total;
      const bytes = Buffer.from(`${ids}\n`);
      const byteTo = byteFrom + bytes.length;
      const number = chunks.length + 1;
      chunks.push({ number, byteFrom, byteTo, firstRow, firstLine: firstRow, rows });
      byteFrom = byteTo;
      firstRow += rows;
      yield bytes;
    }
  }
  assert(firstRow - 1 === announced, 'all ids were read');
  if (chunks.length > 0) return;
  const nobody = Buffer.from(`${NOBODY}\n`);
  chunks.push({
    number: 1,
    byteFrom: 0,
    byteTo: nobody.length,
    firstRow: 1,
    firstLine: 1,
    rows: 1,
  });
  yield nobody;
}

function tooManyResults(max: number): AppError {
  return new AppError({
    code: 'too_many_results',
    status: 422,
    message: `The filter means more than ${max} people, the most that one export may hold. Narrow it, or set max_results.`,
  });
}
