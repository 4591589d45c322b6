/**
 * Deletes what belongs to no batch: the upload of a process that died before it recorded one. Nothing names it,
 * so all objects have to be listed; the id that it lies under says how old it is. A bucket is left alone,
 * because another installation may share it: what is unknown here may be known there.
 */

import { listUnknownBatches } from '../batch/stored-bytes.sql.ts';
import type { JobContext } from '../queue/job-context.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Ids that are looked up together. */
const BLOCK = 1000;

/**
 * Deletes those that are older than files are kept, and returns how many uploads they were. Safe to repeat, and
 * in several processes at once.
 */
export async function deleteOrphans({
  sql,
  store,
  config,
}: Pick<JobContext, 'sql' | 'store' | 'config'>): Promise<number> {
  if (config.storage.provider !== 'files') return 0;
  const bornBefore = Date.now() - config.filesKeepDays * DAY_MS;
  let deleted = 0;
  let ids = new Set<string>();
  const flush = async () => {
    for (const id of await listUnknownBatches(sql, [...ids])) {
      await store.deletePrefix(`batches/${id}/`);
      deleted++;
    }
    ids = new Set();
  };
  for await (const key of store.list()) {
    const [, id] = /^batches\/([0-9a-f-]{36})\//.exec(key) ?? [];
    if (id === undefined || bornAt(id) > bornBefore) continue;
    ids.add(id);
    if (ids.size === BLOCK) await flush();
  }
  await flush();
  return deleted;
}

/** The milliseconds since 1970 that a UUID of version 7 begins with (RFC 9562, section 5.7). */
function bornAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
