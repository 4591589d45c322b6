/** Runs a check on every batch that has files. */
import pLimit from 'p-limit';
import type { Batch } from '../batch/batch.ts';
import type { PartsContext } from '../result/read-part.ts';
import { listBatchesWithFiles, listRecordedParts, type RecordedPart } from './audit.sql.ts';

/** A page has the headers of its lists, 128 KiB at most, and all their recorded parts. */
const PAGE = 50;
/** Most lists are small, and reading one is mostly waiting. */
const AT_ONCE = 8;
/** Batches with a larger part are read one at a time: each has a part in memory. */
const SMALL_BYTES_MAX = 1024 * 1024;

/**
 * Calls `check` with every batch that has files and its recorded parts, several at once, and yields the results by the id of
 * the batch. A batch may have changed since its page was read: what is wrong with it has to be looked at again.
 */
export async function* checkBatches<Result>(
  { sql }: Pick<PartsContext, 'sql'>,
  check: (batch: Batch, parts: readonly RecordedPart[]) => Promise<Result>,
): AsyncGenerator<[Batch, Result]> {
  const limit = pLimit(AT_ONCE);
  let page = await listBatchesWithFiles(sql, null, PAGE);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    const parts = await readParts(sql, page);
    const checked = (batch: Batch) => check(batch, parts.get(batch.id) ?? []);
    const isSmall = ({ id }: Batch) =>
      (parts.get(id) ?? []).every(({ bytes }) => bytes <= SMALL_BYTES_MAX);
    const results = new Map<Batch, Result>();
    const work = page.filter(isSmall).map((batch) =>
      limit(async () => {
        results.set(batch, await checked(batch));
      }),
    );
    await Promise.all(work);
    for (const batch of page) yield [batch, results.get(batch) ?? (await checked(batch))];
    page = await listBatchesWithFiles(sql, last.id, PAGE);
  }
}

async function readParts(sql: PartsContext['sql'], batches: readonly Batch[]) {
  const ids = batches.map(({ id }) => id);
  const parts = new Map<string, RecordedPart[]>(ids.map((id) => [id, []]));
  for (const part of await listRecordedParts(sql, ids)) parts.get(part.batchId)?.push(part);
  return parts;
}
