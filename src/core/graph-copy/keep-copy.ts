/** Builds the local copy by itself where lists gain by it, and rolls it forward when much of it has changed. */
import type { Database } from '../db/client.ts';
import { AppError } from '../lib/errors.ts';
import type { Log } from '../log.ts';
import { type BuildOptions, buildCopy, rollForward } from './build-copy.ts';
import { CHANGED_MAX } from './changed-records.ts';
import { estimateRecords } from './copy.sql.ts';
import { deleteHalfBuilds } from './copy-folder.ts';
import type { LocalCopy } from './local-copy.ts';
import type { Manifest } from './manifest.ts';

/** Postgres has the look-ups of a smaller graph in its memory, and a list of it is short. */
const RECORDS_MIN = 200_000;
/**
 * Rows of lists for each record after which a copy is built: about what its build costs, so that it pays for itself when
 * as many rows follow, and costs at most as much again when none do.
 */
const ROWS_PER_RECORD = 4;
/** A copy is rolled forward before its changes are so many that Postgres answers for all. */
const CHANGED_KEPT = CHANGED_MAX / 2;
/** When more of the graph has changed, a build costs little more than a delta, and look-ups in one cost less. */
const DELTA_SHARE_MAX = 1 / 4;
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
 * Returns the function that looks after the copy once. It drops one that cannot be used, removes people who withdrew, deletes what killed
 * builds left, and rolls the copy forward when much has changed, whatever lists there are: that costs less than the import did. With
 * `mayBuild` it builds one when the lists of this process were worth it, and in place of one of which too much has changed.
 * It resolves to true when it wrote one. A build that fails is said in one line of the log.
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

  const isWorthBuild = async (rows: number): Promise<boolean> => {
    if (!mayBuild || rows < recordsMin * ROWS_PER_RECORD) return false;
    const records = await estimateRecords(sql);
    return records >= recordsMin && rows >= records * ROWS_PER_RECORD;
  };

  const write = async (done: string, work: () => Promise<Manifest>): Promise<boolean> => {
    const started = performance.now();
    localCopy.isBuilding = true;
    try {
      const { people, companies, delta } = await work();
      const seconds = Math.round((performance.now() - started) / 1000);
      const counts = { people: people.count, companies: companies.count };
      const changed = delta === null ? 0 : delta.people.covered + delta.companies.covered;
      log.info({ folder, ...counts, changed, seconds }, `the local copy of the graph is ${done}`);
      await localCopy.read(sql, async () => null);
      return true;
    } catch (error) {
      if (options.signal?.aborted) return false;
      if (error instanceof AppError && error.code === 'copy_is_built') return false;
      notBefore = now() + RETRY_MS;
      const why = (error as Error).message;
      log.warn(
        { folder },
        `the local copy of the graph cannot be ${done}, Postgres answers: ${why}`,
      );
      return false;
    } finally {
      localCopy.isBuilding = false;
    }
  };

  return async () => {
    await localCopy.read(sql, async () => null);
    await deleteHalfBuilds(sql, folder);
    const { text, changed, isBehind, rows } = localCopy.describe();
    if (now() < notBefore) return false;
    if (text === null) {
      if (!(await isWorthBuild(rows))) return false;
      return write('built', () => buildCopy(sql, { folder, replaces: text, ...options }));
    }
    if (changed <= changedMax && !isBehind) return false;
    const shareMax = mayBuild ? DELTA_SHARE_MAX : Number.POSITIVE_INFINITY;
    return write('rolled forward', () =>
      rollForward(sql, { folder, replaces: text, shareMax, ...options }),
    );
  };
}
