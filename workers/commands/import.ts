/** `import`: fills the graph from files of one's own and from sources, and takes imports back. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Database } from '../../src/core/db/client.ts';
import {
  type ImportEntity,
  type ImportReport,
  importEntities,
  importRecords,
} from '../../src/core/graph/import/import-records.ts';
import { openRecords } from '../../src/core/graph/import/open-records.ts';
import { importSource } from '../../src/core/graph/sources/import-source.ts';
import { listImports, undoImport } from '../../src/core/graph/sources/undo-import.ts';
import { AppError } from '../../src/core/lib/errors.ts';
import { openSource, sourceNames } from '../../src/sources/read-source.ts';
import { oneOf, wholeNumber } from '../arguments.ts';
import { withDatabase } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';

interface ImportOptions {
  source?: string;
  asOf?: string;
  dryRun?: boolean;
  allowGone?: boolean;
  rejects?: string;
}

export function addImportCommands(program: Command): void {
  const importing = program.command('import');
  addHistory(importing);
  addUndo(importing);
  importing
    .description(
      'import records from CSV or JSONL files, gzip too, or the files of a source as they are; repeating an import changes nothing',
    )
    .usage('[options] <entity> <file> | --source <name> <file...>')
    .argument(
      '[arguments...]',
      `entity (${importEntities.join(', ')}) and file; with --source the files`,
    )
    .option(
      '--source <name>',
      `files of a source in their own form: ${sourceNames.join(', ')}`,
      oneOf(sourceNames),
    )
    .option(
      '--as-of <day>',
      'day of the data of a source; default: the day in the file name, or today',
      day,
    )
    .option('--dry-run', 'with --source: count what would change, and change nothing')
    .option('--allow-gone', 'with --source: take a file that lacks many of the records before')
    .option(
      '--rejects <file>',
      'file for bad records, with line and reason; default: FILE.rejects.jsonl',
    )
    .action(async (given: string[], options: ImportOptions, command: Command) => {
      if (options.source === undefined) await importOwn(given, options, command);
      else await importFromSource(options.source, given, options, command);
    });
}

function addHistory(importing: Command): void {
  importing
    .command('history')
    .description('list the imports of sources, the latest first')
    .option('--limit <number>', 'number of imports', wholeNumber(1), 20)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const { config, json } = readGlobals(command);
      const imports = await withDatabase(config, (sql) => listImports(sql, limit));
      const lines = imports.map(
        (one) =>
          `${one.id}  ${one.source} as of ${one.asOf}, ${one.state}: ${one.rowCount} rows, ${one.newCount} new, ` +
          `${one.changedCount} changed, ${one.goneCount} ended, ${one.rejectedCount} rejected (${one.files.join(', ')})`,
      );
      printResult(json, { data: imports.map(importView) }, lines);
    });
}

function addUndo(importing: Command): void {
  importing
    .command('undo')
    .description('take an import of a source back; opt-outs stay')
    .argument('<id>', 'id of the import', wholeNumber(1))
    .option('--with-later', 'also undo the later imports that build on it')
    .action(async (id: number, options: { withLater?: boolean }, command: Command) => {
      const { config, json } = readGlobals(command);
      const undone = await withDatabase(config, (sql) => undoImport(sql, id, options));
      printResult(json, { undone }, [`undone: ${undone.join(', ')}`]);
    });
}

function importView(one: Awaited<ReturnType<typeof listImports>>[number]) {
  return {
    import_id: one.id,
    source: one.source,
    files: one.files,
    as_of: one.asOf,
    state: one.state,
    started_at: one.startedAt,
    rows: one.rowCount,
    new: one.newCount,
    changed: one.changedCount,
    same: one.sameCount,
    gone: one.goneCount,
    merged: one.mergedCount,
    rejected: one.rejectedCount,
    suppressed: one.suppressedCount,
  };
}

async function importOwn(
  [entityName = '', file, ...more]: string[],
  options: ImportOptions,
  command: Command,
): Promise<void> {
  if (file === undefined || more.length > 0) {
    throw usage('Give an entity and one file, or --source and files.');
  }
  const entity = parseEntity(entityName);
  const { config, json } = readGlobals(command);
  const rejectsFile = options.rejects ?? `${file}.rejects.jsonl`;
  const report = await withDatabase(config, (sql) => importFile(sql, entity, file, rejectsFile));
  const rejects = report.rejected > 0 ? rejectsFile : null;
  printResult(json, { ...report, rejects }, [
    `${report.read} read: ${report.inserted} new, ${report.updated} changed, ` +
      `${report.unchanged} unchanged, ${report.rejected} rejected${rejects === null ? '' : ` (${rejects})`}`,
    `${report.seconds.toFixed(1)} s`,
  ]);
}

async function importFromSource(
  source: string,
  files: string[],
  options: ImportOptions,
  command: Command,
): Promise<void> {
  const [first] = files;
  if (first === undefined) throw usage('Give the files of the source.');
  const { config, json } = readGlobals(command);
  const rejectsFile = options.rejects ?? `${first}.rejects.jsonl`;
  const { asOf, dryRun = false, allowGone = false } = options;
  const input = await openSource({ source, files, ...(asOf === undefined ? {} : { asOf }) });
  const rejects = openWhenWritten(rejectsFile);
  let report: Awaited<ReturnType<typeof importSource>>;
  const steps = { read: 'rows read', build: 'records to build' };
  const sayNow = everySecond((text: string) => say(text));
  try {
    report = await withDatabase(config, (sql) =>
      importSource(sql, input, {
        rejects,
        isDryRun: dryRun,
        allowsGone: allowGone,
        onProgress: (step, count) => sayNow(`${count} ${steps[step]}`),
      }),
    );
  } finally {
    rejects.end();
    await finished(rejects);
  }
  printResult(json, report, [
    `${dryRun ? 'would import' : `import ${report.import_id}:`} ${report.source} as of ${input.asOf}`,
    `${report.rows} rows: ${report.new} new, ${report.changed} changed, ${report.same} the same, ` +
      `${report.rejected} rejected${report.rejected > 0 ? ` (${rejectsFile})` : ''}, ${report.suppressed} suppressed`,
    `${report.merged} joined records of other sources, ${report.gone} earlier records ended`,
  ]);
}

const PROGRESS_MS = 1_000;

function everySecond(write: (text: string) => void): (text: string) => void {
  let last = performance.now();
  return (text) => {
    if (performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    write(text);
  };
}

function day(text: string): string {
  const time = Date.parse(`${text}T00:00:00Z`);
  if (/^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(time)) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-10-01.');
}

function parseEntity(name: string): ImportEntity {
  const entity = importEntities.find((candidate) => candidate === name);
  if (entity === undefined) throw usage(`The entity must be one of ${importEntities.join(', ')}.`);
  return entity;
}

function usage(message: string): AppError {
  return new AppError({ code: 'usage', status: 400, message });
}

async function importFile(
  sql: Database,
  entity: ImportEntity,
  file: string,
  rejectsFile: string,
): Promise<ImportReport> {
  const rejects = openWhenWritten(rejectsFile);
  try {
    return await importRecords(sql, {
      entity,
      ...(await openRecords(createReadStream(file))),
      rejects,
      onProgress: ({ read }) => say(`${read} records read`),
    });
  } finally {
    rejects.end();
    await finished(rejects);
  }
}

/** A stream into a file that exists only when something was written to it. */
function openWhenWritten(file: string): Writable {
  let output: FileHandle | undefined;
  return new Writable({
    async construct(done) {
      // What an earlier import rejected is not true of this one.
      await rm(file, { force: true }).then(() => done(), done);
    },
    async write(chunk: Buffer, _encoding, done) {
      try {
        output ??= await open(file, 'w');
        await output.writeFile(chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    async final(done) {
      await Promise.resolve(output?.close()).then(() => done(), done);
    },
  });
}
