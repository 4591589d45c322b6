/** Publishes the local copy for other machines, and deletes published copies that must go. */
import { AppError } from '../lib/errors.ts';
import { type KeepContext, RECORDS_MIN } from './copy-keeper.ts';
import { lastLayer, type Manifest, parseManifest } from './manifest.ts';
import { publishCopy } from './publish-copy.ts';
import { deleteOutdated, type PublishedCopy, readPublished } from './published.sql.ts';
import { deleteUnnamedObjects } from './published-objects.ts';

/** A copy that follows the graph is published so often at most: a machine that fetches it rolls it forward. */
const EVERY_SECONDS = 60 * 60;
/** The same with people overwritten: that takes two objects for each, and one reading of the files. */
const WIPED_EVERY_SECONDS = 20 * 60;
/** Objects that no published copy names are looked for so often; those of one that has just ended, at once. */
const CLEAN_EVERY_MS = 10 * 60 * 1000;
const RETRY_MS = 10 * 60 * 1000;

export interface ShareOptions {
  recordsMin?: number;
  signal?: AbortSignal;
  now?: () => number;
}

/**
 * Returns the function that does one round of maintenance of the published copy. It ends copies that must go, and with
 * `mayPublish` publishes the copy of this machine when it is due; it resolves to true then. A failure has one line in the log.
 */
export function openSharing(
  { sql, localCopy, log, store }: KeepContext,
  mayPublish: boolean,
  { recordsMin = RECORDS_MIN, signal, now = () => performance.now() }: ShareOptions = {},
): () => Promise<boolean> {
  let cleanAt = Number.NEGATIVE_INFINITY;
  let publishAt = Number.NEGATIVE_INFINITY;

  const clean = async () => {
    if ((await deleteOutdated(sql)) > 0) cleanAt = Number.NEGATIVE_INFINITY;
    if (now() < cleanAt) return;
    await deleteUnnamedObjects({ sql, store });
    cleanAt = now() + CLEAN_EVERY_MS;
  };

  const publish = async (): Promise<boolean> => {
    await localCopy.read(sql, async () => null);
    const used = localCopy.describe();
    const { copy, text, reached, isBehind } = used;
    if (copy === null || text === null || reached === null || isBehind) return false;
    if (copy.people.count + copy.companies.count < recordsMin) return false;
    const published = await readPublished(sql);
    if (!isDue(copy, published)) return false;
    const started = performance.now();
    localCopy.isPublishing = true;
    try {
      const { folder } = localCopy;
      const options = { folder, text, wipedTo: reached, replaces: published?.id ?? null, signal };
      const objects = await publishCopy({ sql, store }, options);
      const seconds = Math.round((performance.now() - started) / 1000);
      const { number } = lastLayer(copy);
      log.info({ number, objects, seconds }, 'the local copy of the graph is published');
      return true;
    } finally {
      localCopy.isPublishing = false;
      // The objects of the copy that it replaced, or of this attempt.
      cleanAt = Number.NEGATIVE_INFINITY;
    }
  };

  return async () => {
    await clean();
    if (!mayPublish || now() < publishAt) return false;
    try {
      const isPublished = await publish();
      await clean();
      return isPublished;
    } catch (error) {
      if (signal?.aborted) return false;
      if (error instanceof AppError && error.code === 'copy_is_published') return false;
      publishAt = now() + RETRY_MS;
      const why = (error as Error).message;
      log.warn({}, `the local copy of the graph cannot be published: ${why}`);
      return false;
    }
  };
}

/** Returns true when a copy is to take the place of the published one. */
function isDue(copy: Manifest, published: PublishedCopy | null): boolean {
  if (published === null) return true;
  const { secondsAgo, hasWithdrawn } = published;
  const { number } = lastLayer(copy);
  // A time to come is that of a clock that was set back.
  const isOld = (seconds: number) => secondsAgo < 0 || secondsAgo >= seconds;
  if (number > published.number && isOld(EVERY_SECONDS)) return true;
  const other = readManifest(published.manifest);
  if (other === null) return isOld(EVERY_SECONDS);
  // Of the same build most objects are the same.
  const isOfBuild = other.built_at === copy.built_at && other.seed === copy.seed;
  return hasWithdrawn && number >= published.number && isOld(WIPED_EVERY_SECONDS) && isOfBuild;
}

/** Returns null for a manifest of another version. */
function readManifest(text: string): Manifest | null {
  try {
    return parseManifest(text);
  } catch {
    return null;
  }
}
