/** The target of a restore: checked before the backup is read, which takes long. */
import { assertNewFolder, assertWritable } from '../infra/embedded/restored-folder.ts';
import type { Config } from '../src/core/config.ts';
import { openStore } from '../src/core/context.ts';
import type { Sql } from '../src/core/db/client.ts';
import { describeStorage } from '../src/core/storage-config.ts';
import { assertRestorable } from '../src/jobs/backup/restore-backup.ts';
import { assertNewStore } from '../src/jobs/batch/own-store.ts';
import { withUnchangedDatabase } from './with-database.ts';

/**
 * Throws the error with which a restore into the service of this configuration would fail: for a folder, a database or a store
 * that is not empty, a folder that cannot be written, a database or a bucket that does not respond. Changes nothing.
 */
export async function checkTarget(config: Config): Promise<void> {
  const { databaseUrl, dataDir, storage } = config;
  const checkStore = async (sql: Sql | null) => {
    if (storage.provider === 'files') await assertWritable(storage.folder);
    await assertNewStore({ sql, store: await openStore(storage) }, describeStorage(storage));
  };
  if (databaseUrl === undefined) {
    await assertNewFolder(dataDir);
    return checkStore(null);
  }
  await withUnchangedDatabase(config, async (sql) => {
    await assertRestorable(sql);
    await checkStore(sql);
  });
}
