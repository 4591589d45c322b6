/**
 * Starts an export: writes the ids of the matching people, in order, as one object. One statement reads them,
 * so they are of one state of the graph, and no import changes them.
 */

import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { uuidv7 } from 'uuidv7';
import { findOwned, paysOnce } from '../../core/credits/owned.ts';
import { readCancellable } from '../../core/db/cancellable.ts';
import type { Sql } from '../../core/db/client.ts';
import { limitTime, limitTransaction, StatementTimeout } from '../../core/db/read-rows.ts';
import { needsOnlyBrief, outputColumns } from '../../core/enrich/match-data.ts';
import { graphOf } from '../../core/graph/graph-of.ts';
import { must } from '../../core/lib/assert.ts';
import { type AppError, conflict, unprocessable } from '../../core/lib/errors.ts';
import { countedIdBytes } from '../../core/search/free-responses.ts';
import { parseFilter } from '../../core/search/parse.ts';
import { prepareFilter } from '../../core/search/prepare.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import type { ExportBatch } from '../batch/batch.ts';
import { insertSplit, type NewChunk } from '../batch/batches.sql.ts';
import { isFinal } from '../batch/states.ts';
import { POLL_MS, watchBatches } from '../batch/watch-batches.ts';
import type { JobContext } from '../queue/job-context.ts';
import { hasSchedule, readMatchingIds } from './matching-ids.sql.ts';

/**
 * The id in an export without matching people; no record has it. Such an export is held, paused, paid and ended
 * like one of a few people, so that its progress does not reveal the difference before payment.
 */
const NOBODY = 0;

/**
 * A brief record is a third of a full one, and nothing is matched: this many times the rows make a chunk of the
 * same weight.
 */
const BRIEF_ROWS = 3;

/** Maximum pause between two pages of ids, which occurs only while the store accepts none. */
const PAUSE_MS_MAX = 60_000;

/**
 * Writes the ids and records them as chunks. Safe to run twice, also concurrently: each run writes its own object, and only
 * one is recorded. Throws `AppError`
 * - 422 `too_many_results` for more people than the maximum of an export,
 * - 422 `search_timeout` when the database takes too long to find a page,
 * - 409 `cancelled` when the export was cancelled or deleted meanwhile, which cancels the statement in the database, or when
 * the schedule whose new people it was to have is deleted.
 */
export async function writeIds(context: JobContext, batch: ExportBatch): Promise<void> {
  const { chunkRows, batchRowsMax, exportSearchTimeoutMs: statementMsMax } = context.config;
  const graph = graphOf(context, batch.live);
  // One more than the maximum reveals that there are more.
  const max = batch.maxResults ?? batchRowsMax + 1;
  const notDeliveredBy = batch.onlyNew ? batch.scheduleId : null;
  const columns = outputColumns(batch.operation, batch.fields);
  const isBrief = needsOnlyBrief(batch.operation, columns);
  const sliceRows = isBrief ? chunkRows * BRIEF_ROWS : chunkRows;
  const filter = parseFilter(must(batch.filter, 'filter of an open export'));
  const canonicalKey = `batches/${batch.id}/ids-${uuidv7()}`;
  const chunks: NewChunk[] = [];
  let ownedFound = 0;
  const cancellation = new AbortController();
  const watcher = watchBatches(context.sql, context.log, POLL_MS);
  watcher.watch(batch, ({ state }) => {
    if (isFinal(state)) cancellation.abort();
  });
  let canonical: ObjectSum;
  try {
    const { signal } = cancellation;
    const cancel = { signal, control: context.watchSql };
    canonical = await readCancellable(graph, cancel, async (tx) => {
      await limitTransaction(tx, { statementMsMax, pauseMsMax: PAUSE_MS_MAX });
      const people = await limitTime(statementMsMax, () =>
        prepareFilter(tx, filter, batch, batch.createdAt),
      );
      const pages = readMatchingIds(tx, { people, notDeliveredBy, max, statementMsMax });
      const counted = countOwned(context.sql, batch, pages, (owned) => {
        ownedFound += owned;
      });
      const bytes = Readable.from(cutChunks(counted, sliceRows, chunks));
      return context.store.putStream(canonicalKey, bytes);
    });
  } catch (error) {
    if (cancellation.signal.aborted) throw cancelled(batch.id);
    throw error instanceof StatementTimeout ? searchTimeout(statementMsMax, error) : error;
  } finally {
    watcher.stop();
  }
  const last = chunks.at(-1);
  const rowsTotal = last === undefined ? 0 : last.firstRow - 1 + last.rows;
  if (rowsTotal > batchRowsMax) {
    await context.store.delete(canonicalKey);
    throw tooManyResults(batchRowsMax);
  }
  // Asked last: what the schedule has delivered was known as long as there was the schedule.
  if (notDeliveredBy !== null && !(await hasSchedule(context.sql, notDeliveredBy))) {
    await context.store.delete(canonicalKey);
    throw scheduleDeleted();
  }
  const totals = {
    hold: batch.hold,
    canonicalKey,
    canonical,
    rowsTotal,
    ownedFound,
    blankLines: 0,
    width: 0,
    writtenBytes: countedIdBytes(batch.maxResults ?? batchRowsMax),
    resultBytesMax: 0,
    notAsXlsx: null,
  };
  if (!(await insertSplit(context.sql, batch, totals, chunks))) {
    await context.store.delete(canonicalKey);
  }
}

/** Yields the pages; `add` gets the number of people in each whom the account owns, and for whom it does not pay. */
async function* countOwned(
  sql: Sql,
  batch: ExportBatch,
  pages: AsyncIterable<{ id: number }[]>,
  add: (owned: number) => void,
): AsyncGenerator<{ id: number }[]> {
  const isOnce = await paysOnce(sql, batch);
  for await (const page of pages) {
    const ids = page.map(({ id }) => id);
    if (isOnce) add((await findOwned(sql, batch, ids)).size);
    yield page;
  }
}

/** Yields the ids as lines, and adds every `sliceRows` of them as a chunk. */
async function* cutChunks(
  pages: AsyncIterable<{ id: number }[]>,
  sliceRows: number,
  chunks: NewChunk[],
): AsyncGenerator<Buffer> {
  let byteFrom = 0;
  let firstRow = 1;
  const cut = (ids: number[]) => {
    const bytes = Buffer.from(`${ids.join('\n')}\n`);
    const byteTo = byteFrom + bytes.length;
    const number = chunks.length + 1;
    const [rows, sum] = [ids.length, crc32(bytes)];
    chunks.push({ number, byteFrom, byteTo, firstRow, firstLine: firstRow, rows, crc32: sum });
    byteFrom = byteTo;
    firstRow += rows;
    return bytes;
  };
  let slice: number[] = [];
  for await (const page of pages) {
    for (const { id } of page) {
      slice.push(id);
      if (slice.length < sliceRows) continue;
      yield cut(slice);
      slice = [];
    }
  }
  if (slice.length > 0) yield cut(slice);
  if (chunks.length === 0) yield cut([NOBODY]);
}

function cancelled(id: string): AppError {
  return conflict('cancelled', `Export ${id} was cancelled.`);
}

function scheduleDeleted(): AppError {
  return conflict(
    'cancelled',
    'The schedule was deleted before this export had found its people, and with it the record of those it had delivered. Nothing was charged.',
  );
}

function searchTimeout(ms: number, cause: unknown): AppError {
  return unprocessable(
    'search_timeout',
    `The database searched for ${ms / 1000} s without finding the next people of this export. Add a filter that few people match (a position, place, company, skill or surname), and ask for fewer texts in \`experience.text\`.`,
    { cause },
  );
}

function tooManyResults(max: number): AppError {
  return unprocessable(
    'too_many_results',
    `The filter matches more than ${max} people, the maximum of one export. Narrow it, or set max_results.`,
  );
}
