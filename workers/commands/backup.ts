/** `backup`, `restore`. */
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Config } from '../../src/core/config.ts';
import { type Context, openContext } from '../../src/core/context.ts';
import { AppError } from '../../src/core/lib/errors.ts';
import { restoreBackup } from '../../src/jobs/backup/restore-backup.ts';
import { writeBackup } from '../../src/jobs/backup/write-backup.ts';
import { withDatabase } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';

export function addBackupCommands(program: Command): void {
  program
    .command('backup <file>')
    .description('write the database and the stored files to one file, while the service runs')
    .option('--encrypt', 'encrypt it with ENRICH_BACKUP_PASSPHRASE')
    .action(async (file: string, options: { encrypt?: boolean }, command: Command) => {
      const { config, json } = readGlobals(command);
      const end = await onContext(config, (context) => backup(context, config, file, options));
      const left = end.missing === 0 ? '' : ` ${end.missing} had been deleted meanwhile.`;
      printResult(json, { file, ...end }, [`Backup ${file}: ${end.objects} files.${left}`]);
    });
  program
    .command('restore <file>')
    .description('restore a backup into an empty data folder (--data-dir) or database')
    .action(async (file: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const passphrase = config.backupPassphrase?.reveal() ?? null;
      const restored = await onContext(config, (context) =>
        restoreBackup(context, () => createReadStream(file), passphrase, say),
      );
      printResult(json, restored, [
        `Restored ${file} of ${restored.createdAt}: ${restored.objects} files.`,
        'Revoke keys that were revoked since, repeat opt-outs and grants since, then run `enrich doctor` and `enrich audit --deep`.',
      ]);
    });
}

async function onContext<T>(config: Config, work: (context: Context) => Promise<T>): Promise<T> {
  return withDatabase(config, async (_sql, url) => {
    await using context = await openContext(config, url, 'backup');
    return await work(context);
  });
}

function missingPassphrase(): AppError {
  const message =
    'Set ENRICH_BACKUP_PASSPHRASE to the passphrase of the backup: it cannot be restored without it.';
  return new AppError({ code: 'missing_passphrase', status: 400, message });
}

/** The file has its name once it is whole and on the disk. */
async function backup(
  context: Context,
  config: Config,
  file: string,
  { encrypt: isEncrypted = false }: { encrypt?: boolean },
) {
  const passphrase = isEncrypted ? (config.backupPassphrase?.reveal() ?? null) : null;
  if (isEncrypted && passphrase === null) throw missingPassphrase();
  const partial = `${file}.partial`;
  try {
    const { file: bytes, end } = await writeBackup(context, passphrase, say);
    const handle = await open(partial, 'w', 0o600);
    await pipeline(bytes, handle.createWriteStream({ flush: true }));
    await rename(partial, file);
    return await end;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
