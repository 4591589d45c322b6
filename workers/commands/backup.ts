/** `backup`, `restore`, `doctor`. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../src/core/config.ts';
import { type Context, openContext } from '../../src/core/context.ts';
import { AppError, unavailable } from '../../src/core/lib/errors.ts';
import { createLog } from '../../src/core/log.ts';
import { diagnose, type Finding } from '../../src/jobs/backup/doctor.ts';
import type { LeftPast } from '../../src/jobs/backup/leave-the-past.ts';
import { checkBackup, restoreBackup } from '../../src/jobs/backup/restore-backup.ts';
import { writeBackup } from '../../src/jobs/backup/write-backup.ts';
import { noteBackup } from '../../src/jobs/monitor/monitor.sql.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult, say } from '../output.ts';
import { checkTarget } from '../restore-target.ts';
import { isSpecialFile } from '../special-file.ts';
import { withDatabase, withNewDatabase } from '../with-database.ts';
import { writeWholeFile } from '../write-whole-file.ts';

export function addBackupCommands(program: Command): void {
  program
    .command('backup <file>')
    .description('write the database and the stored files to one file, while the service runs')
    .option('--encrypt', 'encrypt it with ENRICH_BACKUP_PASSPHRASE')
    .action(async (file: string, options: { encrypt?: boolean }, command: Command) => {
      const { config, json } = readGlobals(command);
      const end = await onContext(config, (context) => backup(context, config, file, options));
      const left = end.missing === 0 ? '' : ` ${end.missing} had been deleted meanwhile.`;
      printResult(json, { file, ...end }, [
        `Backup ${file} of ${end.created_at}: all that was committed before, with ${countOf(end.objects, 'file')}.${left}`,
        `A restore needs ${Math.ceil(end.restore_bytes / 1024 ** 2)} MB of free disk: 64 MB for a new server, three times the database for its tables and its log, and the files.`,
        'Keep this moment with the file: a restore goes back to it, and its last steps repeat what was done since.',
      ]);
    });
  program
    .command('restore <file>')
    .description('restore a backup into a new data folder (--data-dir) or an empty database')
    .action(async (file: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const passphrase = config.backupPassphrase?.reveal() ?? null;
      await checkTarget(config);
      // Before a database is made for it.
      const checked = await checkBackup(() => createReadStream(file), passphrase, say);
      const fill = (context: Context) => restoreBackup({ ...context, config }, checked, say);
      const restored = await onContext(config, fill, withNewDatabase);
      printResult(json, restored, [
        `Restored ${file} of ${restored.createdAt}: ${restored.objects} files. ${describeSkipped(restored)}`,
        'Before you start the service, take the steps of “After every restore” in docs/backup.md, with the same options: `enrich doctor --restored`, `enrich audit --log api.log --since MOMENT` (the one above), `enrich doctor --fix --restored`, `enrich audit --deep`; then repeat the commands of your journal since (keys that were revoked work again), and the actions and changes that the audit named, before a worker starts; grants last.',
      ]);
    });
  addDoctor(program);
}

interface DoctorOptions {
  fix?: boolean;
  restored?: boolean;
  filesLost?: boolean;
}

function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('find lists whose stored files are missing, as after a restore; exit 1 if any')
    .option(
      '--fix',
      'refund them and run them again, and delete files that belong to no list and are older than a day',
    )
    .option(
      '--restored',
      'after a restore, before the service starts: first skip what may have happened since the backup (numbers given out, webhooks sent, due schedules run); with --fix, delete files of later lists, however many and young',
    )
    .option(
      '--files-lost',
      'accept a store without the mark of this database: all files are lost, and --fix refunds all lists',
    )
    .action(async (options: DoctorOptions, command: Command) => {
      const { fix = false, restored = false, filesLost = false } = options;
      const { config, json } = readGlobals(command);
      // The embedded Postgres stops while idle connections close, which would look like an error.
      const log = createLog('silent', 'doctor');
      const diagnosis = await onContext(config, async (context, url) => {
        // Loaded only here: other commands start earlier without it.
        const { withQueues } = await import('../with-queues.ts');
        return withQueues(config, url, log, (queues) =>
          diagnose({ ...context, config, queues }, { fix, restored, filesLost, onProgress: say }),
        );
      });
      const { batches, findings, unknown_batches: unknown, left_past: left } = diagnosis;
      const untouched = findings.filter(({ action }) => action === 'unreadable').length;
      printResult(json, diagnosis, [
        ...(left === null ? [] : [describeLeft(left)]),
        `${countOf(batches, 'batch', 'batches')} with files, ${findings.length} with missing, damaged or unreadable ones.`,
        ...findings.map(describeFinding),
        `${countOf(unknown.length, 'stored batch', 'stored batches')} not in the database${fix && unknown.length > 0 ? '; deleted' : ''}.`,
        ...unknown.map((id) => `${id}: accepted ${acceptedAt(id)}, and unknown to the database.`),
        ...(!fix && findings.length - untouched + unknown.length > 0
          ? [
              `Repair it with \`enrich doctor --fix${restored ? ' --restored' : ''}${filesLost ? ' --files-lost' : ''}\`.`,
            ]
          : []),
      ]);
      const open = fix
        ? findings.filter(({ action }) => action === 'open').length + untouched
        : findings.length + unknown.length;
      if (open > 0) process.exitCode = 1;
    });
}

function describeLeft({ sequencesSkipped, ...skipped }: LeftPast): string {
  return `Numbers of ${countOf(sequencesSkipped, 'sequence')} skipped. ${describeSkipped(skipped)}`;
}

/** Describes deliveries and slots that may have happened since the moment, and do not happen again. */
function describeSkipped({
  deliveriesEnded,
  schedulesMoved,
}: Omit<LeftPast, 'sequencesSkipped'>): string {
  const ended = countOf(deliveriesEnded, 'webhook delivery', 'webhook deliveries');
  return `${ended} ended that may have arrived. ${countOf(schedulesMoved, 'schedule')} moved to the next slot, because the one that was due may have run.`;
}

/** The id of a batch (UUID 7) begins with the milliseconds of its creation. */
function acceptedAt(batchId: string): string {
  return new Date(Number.parseInt(batchId.replaceAll('-', '').slice(0, 12), 16)).toISOString();
}

function describeFinding({ batch_id: id, objects, action, ...found }: Finding): string {
  const lost = `${id}: ${countOf(objects, 'file')} missing or damaged`;
  const { credits_refunded: credits, rerun_id: rerun } = found;
  switch (action) {
    case 'found':
      return `${lost}.`;
    case 'open':
      return `${lost}; it has not ended, or a rerun of it: run the doctor again afterwards.`;
    case 'unreadable':
      return `${id}: ${countOf(objects, 'file')} missing, damaged or unreadable. Nothing was changed: make the unreadable ones readable, or delete them, and run the doctor again.`;
    case 'replaced':
      return `${lost}; an opt-out replaced them since: the new ones are the result, and nothing is refunded.`;
    case 'expired':
      return `${lost}; its files are no longer kept, and nothing is refunded.`;
    case 'rerun':
      return `${lost}; ${countOf(credits, 'credit')} refunded, it runs again as ${rerun}.`;
    case 'refunded':
      return `${lost}; ${countOf(credits, 'credit')} refunded, it is not run again.`;
  }
}

async function onContext<T>(
  config: Config,
  work: (context: Context, url: string) => Promise<T>,
  open: typeof withDatabase<T> = withDatabase,
): Promise<T> {
  return open(config, async (_sql, url) => {
    await using context = await openContext(config, url, 'backup');
    return await work(context, url);
  });
}

function diskFull(file: string, cause: unknown): AppError {
  const message = `${file}: the disk is full, and nothing of the backup was kept. Free some space, or write it to another disk.`;
  return unavailable('disk_full', message, { cause });
}

function isFolder(file: string): AppError {
  const message = `${file} is a folder. Name a file in it.`;
  return new AppError({ code: 'is_folder', status: 400, message });
}

function notAFile(file: string): AppError {
  const message = `${file} is a device or a pipe, where an incomplete backup would look like a complete one. Name a file.`;
  return new AppError({ code: 'not_a_file', status: 400, message });
}

function noFolder(folder: string): AppError {
  const message = `There is no folder ${folder}. Create it, or name a file in another one.`;
  return new AppError({ code: 'not_found', status: 404, message });
}

function missingPassphrase(): AppError {
  const message =
    'Set ENRICH_BACKUP_PASSPHRASE to the passphrase of the backup: it cannot be restored without it.';
  return new AppError({ code: 'missing_passphrase', status: 400, message });
}

async function backup(
  context: Context,
  config: Config,
  file: string,
  { encrypt: isEncrypted = false }: { encrypt?: boolean },
) {
  const passphrase = isEncrypted ? (config.backupPassphrase?.reveal() ?? null) : null;
  if (isEncrypted && passphrase === null) throw missingPassphrase();
  if ((await stat(file).catch(() => null))?.isDirectory()) throw isFolder(file);
  if (await isSpecialFile(file)) throw notAFile(file);
  const folder = path.dirname(file);
  if (!(await stat(folder).catch(() => null))?.isDirectory()) throw noFolder(folder);
  try {
    const { file: bytes, end } = await writeBackup({ ...context, config }, passphrase, say);
    await writeWholeFile(file, bytes);
    await noteBackup(context.sql);
    return await end;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? diskFull(file, error) : error;
  }
}
