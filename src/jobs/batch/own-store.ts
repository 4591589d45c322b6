/**
 * The mark by which a service knows its object store: an object with the id of the installation, as the database has it.
 * It is written by the first process, a restore and the doctor.
 */
import type { Sql } from '../../core/db/client.ts';
import { readUnfinishedRestore } from '../../core/db/unfinished-restore.ts';
import { AppError, conflict, unavailable } from '../../core/lib/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { hasStoredFiles, readInstallationId } from './stored-bytes.sql.ts';

/** Key of the mark. */
export const INSTALLATION_KEY = 'installation';
export const INSTALLATION_ID_LENGTH = 36;
/** Pause before a new store that did not respond is asked again for its mark. */
const MARK_RETRY_MS = 1_000;

interface StoreContext {
  sql: Sql;
  store: Pick<ObjectStore, 'get' | 'head' | 'put'>;
}

/** Writes the mark of this installation, or of the restore that fills its store, whatever was there. */
export async function markStore({ sql, store }: StoreContext, restore?: string): Promise<void> {
  await store.put(INSTALLATION_KEY, [Buffer.from(restore ?? (await readInstallationId(sql)))]);
}

/** Returns true when the store has the mark of this installation. */
export async function isOwnStore(context: StoreContext): Promise<boolean> {
  return (await readMark(context)) === (await readInstallationId(context.sql));
}

/**
 * Checks that the store belongs to the database, before a command relies on it. Throws `AppError` as `assertOwnStore`, and
 * 503 `store_unavailable`. A store without a mark is accepted while no list has files, and when their files are lost.
 */
export async function requireOwnStore(
  context: StoreContext & { store: Pick<ObjectStore, 'list'> },
  named: string,
  { filesLost = false }: { filesLost?: boolean } = {},
): Promise<void> {
  const found = await naming(named, async () => {
    const mark = await readMark(context);
    // To S3 an object of a bucket that does not exist is one that is missing.
    if (mark === null) await context.store.list()[Symbol.asyncIterator]().next();
    return mark;
  });
  if (found === null && filesLost) return;
  const mistake = await findStoreMistake(context.sql, found, named);
  if (mistake !== null) throw mistake;
}

/**
 * Checks that the store belongs to the database, and marks a new one. Throws `AppError` 409 `another_store` when it is
 * that of another installation, or has no mark although the database has lists with files, and 503 `store_unavailable` for
 * a bucket that does not exist. A store that does not respond is logged, with what `explain` knows of the error, and checked at
 * the next start: everything else works without it. While the database has no list with files, it is marked once it responds:
 * after the first list it would be refused.
 */
export async function assertOwnStore(
  context: StoreContext & { log: Pick<Log, 'error'> },
  named: string,
  explain: (error: unknown) => Promise<string | null> = async () => null,
): Promise<void> {
  const found = await readMark(context).catch(async (error: unknown) => {
    const reason = await explain(error);
    context.log.error({ err: error }, reason ?? 'the object store cannot be checked');
    return undefined;
  });
  if (found === undefined) {
    if (!(await hasStoredFiles(context.sql))) markOnceItResponds(context, named);
    return;
  }
  const mistake = await findStoreMistake(context.sql, found, named);
  if (mistake !== null) throw mistake;
  if (found === null) await naming(named, () => markStore(context));
}

/** Marks a new store as soon as it responds, unless it has a mark. Keeps no process running. */
function markOnceItResponds(
  context: StoreContext & { log: Pick<Log, 'error'> },
  named: string,
): void {
  const attempt = async () => {
    try {
      const found = await readMark(context);
      if (found === null) await markStore(context);
      else if (found !== (await readInstallationId(context.sql)))
        context.log.error({ err: anotherInstallation(named) }, 'the object store is another one');
    } catch {
      markOnceItResponds(context, named);
    }
  };
  setTimeout(attempt, MARK_RETRY_MS).unref();
}

/**
 * Returns `another_store` for a mark of another installation, and for a store without one (null) when the database has lists
 * with files; null for a store of its own or a new one.
 */
export async function findStoreMistake(
  sql: Sql,
  mark: string | null,
  named: string,
): Promise<AppError | null> {
  if (mark === (await readInstallationId(sql))) return null;
  if (mark !== null) return anotherInstallation(named);
  return (await hasStoredFiles(sql)) ? unmarked(named) : null;
}

/**
 * Checks the store that a restore is to fill: files of a service would be mixed with those of the backup, and the doctor
 * would delete them afterwards. What a restore into this database began and did not finish is accepted. Throws `AppError`
 * 409 `not_empty`.
 */
export async function assertNewStore(
  { sql, store }: { sql: Sql | null; store: Pick<ObjectStore, 'get' | 'head' | 'list' | 'put'> },
  named: string,
): Promise<void> {
  const mark = await naming(named, () => readMark({ store }));
  if (sql !== null && mark !== null && mark === (await readUnfinishedRestore(sql))) return;
  const first = await naming(named, () => store.list()[Symbol.asyncIterator]().next());
  if (first.done === true) return;
  const owner = mark === null ? '' : ' of an installation';
  throw conflict(
    'not_empty',
    `${named} is not empty: it has files${owner}, such as ${first.value}. Restore into an empty bucket (S3_BUCKET), another ` +
      'S3_PREFIX or a new data folder: a backup brings its files with it. Nothing was restored.',
  );
}

/**
 * Adds the name of the store, and what to correct, to 503 `store_unavailable`. The error itself has neither, because callers
 * of the API read it too.
 */
async function naming<T>(named: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'store_unavailable') throw error;
    const message = `${named} cannot be used. ${error.message} Create the bucket, or correct S3_BUCKET, S3_ENDPOINT, S3_REGION and the key (S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY).`;
    throw unavailable('store_unavailable', message, { cause: error.cause });
  }
}

/** Returns the id in the store; null for a store without one. */
async function readMark({
  store,
}: {
  store: Pick<ObjectStore, 'get' | 'head'>;
}): Promise<string | null> {
  if ((await store.head(INSTALLATION_KEY)) === null) return null;
  return (await store.get(INSTALLATION_KEY, { from: 0, to: INSTALLATION_ID_LENGTH })).toString(
    'utf8',
  );
}

function anotherInstallation(named: string): AppError {
  return conflict(
    'another_store',
    `${named} is the object store of another installation: its object \`${INSTALLATION_KEY}\` has another id than the ` +
      'database. Correct S3_BUCKET, ENRICH_DATA_DIR or DATABASE_URL; for a bucket that several installations share, give ' +
      'each an S3_PREFIX.',
  );
}

function unmarked(named: string): AppError {
  return conflict(
    'another_store',
    `${named} is not the object store of this database: it has no object \`${INSTALLATION_KEY}\`, and the database has ` +
      'lists with files. Correct S3_BUCKET, S3_PREFIX, ENRICH_DATA_DIR or DATABASE_URL; if the files are lost, run ' +
      '`enrich doctor --fix --files-lost`.',
  );
}
