/** Fetches or builds the local copy without an operator when lists are worth it, and rolls it forward when much has changed. */
import type { Database } from '../db/client.ts';
import { AppError } from '../lib/errors.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { type BuildOptions, buildCopy, rollForward } from './build-copy.ts';
import { CHANGED_MAX } from './changed-records.ts';
import { estimateRecords } from './copy.sql.ts';
import { deleteHalfBuilds } from './copy-folder.ts';
import { fetchCopy } from './fetch-copy.ts';
import type { LocalCopy } from './local-copy.ts';
import type { Manifest } from './manifest.ts';
import { deletePublished, readPublished } from './published.sql.ts';

/** Postgres has the look-ups of a smaller graph in its memory, and a list of it is short. */
export const RECORDS_MIN = 200_000;
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
/** A fetch that failed is repeated after this time. */
const FETCH_RETRY_MS = 10 * 60 * 1000;

export interface KeepOptions extends Pick<BuildOptions, 'signal' | 'freeBytes'> {
  recordsMin?: number;
  changedMax?: number;
  now?: () => number;
}

export interface KeepContext {
  sql: Database;
  localCopy: LocalCopy;
  log: Log;
  store: ObjectStore;
}

/** Permissions of a process to write a copy that no operator asked for. */
export interface KeepPermissions {
  mayBuild: boolean;
  /** Also that its copy is published. */
  mayFetch: boolean;
}

/**
 * Returns the function that does one round of maintenance, and resolves to true when it wrote a copy. A round
 * - drops a copy that cannot be used, overwrites people who withdrew, and deletes what killed builds left,
 * - rolls the copy forward when much has changed, even without lists: that costs less than the import did,
 * - fetches the published copy where there is none (`mayFetch`),
 * - builds a copy when the lists of this process are worth it, or when too much of the present one has changed (`mayBuild`).
 * A failure has one line in the log.
 */
export function openKeeper(
  { sql, localCopy, log, store }: KeepContext,
  { mayBuild, mayFetch }: KeepPermissions,
  {
    recordsMin = RECORDS_MIN,
    changedMax = CHANGED_KEPT,
    now = () => performance.now(),
    ...options
  }: KeepOptions = {},
): () => Promise<boolean> {
  const { folder } = localCopy;
  let notBefore = Number.NEGATIVE_INFINITY;
  let fetchNotBefore = Number.NEGATIVE_INFINITY;
  /** Id of the published copy that was fetched last. */
  let fetched: string | null = null;

  const isWorthBuild = async (rows: number): Promise<boolean> => {
    if (!mayBuild || now() < notBefore || rows < recordsMin * ROWS_PER_RECORD) return false;
    const records = await estimateRecords(sql);
    return records >= recordsMin && rows >= records * ROWS_PER_RECORD;
  };

  const write = async (done: string, work: () => Promise<Manifest>): Promise<Written> => {
    const started = performance.now();
    localCopy.isBuilding = true;
    try {
      const { people, companies, delta } = await work();
      const seconds = Math.round((performance.now() - started) / 1000);
      const counts = { people: people.count, companies: companies.count };
      const changed = delta === null ? 0 : delta.people.covered + delta.companies.covered;
      log.info({ folder, ...counts, changed, seconds }, `the local copy of the graph is ${done}`);
      await localCopy.read(sql, async () => null);
      return 'written';
    } catch (error) {
      if (options.signal?.aborted) return 'left';
      if (error instanceof AppError && error.code === 'copy_is_built') return 'left';
      const why = (error as Error).message;
      log.warn(
        { folder },
        `the local copy of the graph cannot be ${done}, Postgres answers: ${why}`,
      );
      return 'failed';
    } finally {
      localCopy.isBuilding = false;
    }
  };

  const fetch = async (): Promise<boolean> => {
    if (!mayFetch || now() < fetchNotBefore) return false;
    const published = await readPublished(sql);
    if (published === null || !published.isReachable) return false;
    // It was dropped since, and may have been damaged before it was published.
    if (published.id === fetched) {
      await deletePublished(sql, published.id);
      fetchNotBefore = now() + RETRY_MS;
      return false;
    }
    const end = await write('fetched', () =>
      fetchCopy({ sql, store }, published, { folder, ...options }),
    );
    if (end === 'written') fetched = published.id;
    if (end === 'failed') fetchNotBefore = now() + FETCH_RETRY_MS;
    return end === 'written';
  };

  const writeUnlessFailed = async (done: string, work: () => Promise<Manifest>) => {
    const end = await write(done, work);
    if (end === 'failed') notBefore = now() + RETRY_MS;
    return end === 'written';
  };

  return async () => {
    await localCopy.read(sql, async () => null);
    await deleteHalfBuilds(sql, folder);
    const { text, changed, isBehind, rows } = localCopy.describe();
    if (text === null) {
      if (await fetch()) return true;
      if (!(await isWorthBuild(rows))) return false;
      return writeUnlessFailed('built', () =>
        buildCopy(sql, { folder, replaces: text, ...options }),
      );
    }
    if (now() < notBefore || (changed <= changedMax && !isBehind)) return false;
    const shareMax = mayBuild ? DELTA_SHARE_MAX : Number.POSITIVE_INFINITY;
    return writeUnlessFailed('rolled forward', () =>
      rollForward(sql, { folder, replaces: text, shareMax, ...options }),
    );
  };
}

/** How an attempt to write a copy ended; `left` to another process, or to the next one after a shutdown. */
type Written = 'written' | 'failed' | 'left';
