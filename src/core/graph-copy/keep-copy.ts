/** Builds the local copy by itself where lists gain by it, and again when much of it has changed. */
import type { Database } from '../db/client.ts';
import { AppError } from '../lib/errors.ts';
import type { Log } from '../log.ts';
import { type BuildOptions, buildCopy, deleteHalfBuilds } from './build-copy.ts';
import { CHANGED_MAX } from './changed-records.ts';
import { estimateRecords } from './copy.sql.ts';
import type { LocalCopy } from './local-copy.ts';

/** Postgres has the look-ups of a smaller graph in its memory, and a list of it is short. */
const RECORDS_MIN = 200_000;
/**
 * Rows of lists for each record after which a copy is built: about what its build costs, so that it pays for itself when
 * as many rows follow, and costs at most as much again when none do.
 */
const ROWS_PER_RECORD = 4;
/** A copy is built again before its changes are so many that it is dropped. */
const CHANGED_KEPT = CHANGED_MAX / 2;
/** A build that failed is repeated after this time: what stopped it seldom passes by itself. */
const RETRY_MS = 60 * 60 * 1000;

export interface KeepOptions extends Pick<BuildOptions, 'signal' | 'freeBytes'> {
  recordsMin?: number;
  changedMax?: number;
  now?: () => number;
}

interface KeepContext {
  sql: Database;
  localCopy: LocalCopy;
  log: Log;
}

/**
 * Returns the function that looks after the copy once. It drops one that cannot be used, deletes what killed builds left, and builds
 * with `mayBuild` when the lists of this process were worth it since the last copy. It resolves to true when it built
 * one. A build that fails is said in one line of the log.
 */
export function openKeeper(
  { sql, localCopy, log }: KeepContext,
  mayBuild: boolean,
  {
    recordsMin = RECORDS_MIN,
    changedMax = CHANGED_KEPT,
    now = Date.now,
    ...options
  }: KeepOptions = {},
): () => Promise<boolean> {
  const { folder } = localCopy;
  let notBefore = 0;
  return async () => {
    await localCopy.read(sql, async () => null);
    await deleteHalfBuilds(sql, folder);
    const { copy, text, changed, rows } = localCopy.describe();
    if (!mayBuild || now() < notBefore) return false;
    if (copy !== null && changed <= changedMax) return false;
    if (rows < recordsMin * ROWS_PER_RECORD) return false;
    const records = await estimateRecords(sql);
    if (records < recordsMin || rows < records * ROWS_PER_RECORD) return false;
    const started = performance.now();
    localCopy.isBuilding = true;
    try {
      const built = await buildCopy(sql, { folder, replaces: text, ...options });
      const seconds = Math.round((performance.now() - started) / 1000);
      const counts = { people: built.people.count, companies: built.companies.count };
      log.info({ folder, ...counts, seconds }, 'the local copy of the graph is built');
      await localCopy.read(sql, async () => null);
      return true;
    } catch (error) {
      if (options.signal?.aborted) return false;
      if (error instanceof AppError && error.code === 'copy_is_built') return false;
      notBefore = now() + RETRY_MS;
      const why = (error as Error).message;
      log.warn({ folder }, `the local copy of the graph cannot be built, Postgres answers: ${why}`);
      return false;
    } finally {
      localCopy.isBuilding = false;
    }
  };
}
