/** `import`: fills the graph from files of one's own and from sources. */
import { createReadStream } from 'node:fs';
import { access, constants, type FileHandle, lstat, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import type { Database } from '../../src/core/db/client.ts';
import { openRecords } from '../../src/core/graph/import/open-records.ts';
import {
  type ImportEntity,
  type ImportReport,
  importEntities,
  importRecords,
} from '../../src/core/graph/sources/import-records.ts';
import { importSource, type SourceInput } from '../../src/core/graph/sources/import-source.ts';
import { AppError } from '../../src/core/lib/errors.ts';
import { keepMapping, readGivenMapping, readKeptMapping } from '../../src/sources/kept-mapping.ts';
import { readFileHead } from '../../src/sources/mapped-file.ts';
import { openMapped, openSource, sourceNames } from '../../src/sources/read-source.ts';
import { guessMapping, type SourceMapping } from '../../src/sources/source-mapping.ts';
import { isLaterThanTomorrow, isoDate } from '../../src/sources/values.ts';
import { oneOf } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult, say } from '../output.ts';
import { isSpecialFile } from '../special-file.ts';
import { withDatabase } from '../with-database.ts';
import { addImportHistory } from './import-history.ts';

interface ImportOptions {
  source?: string;
  map?: string;
  asOf?: string;
  dryRun?: boolean;
  allowGone?: boolean;
  rejects?: string;
}

export function addImportCommands(program: Command): void {
  const importing = program.command('import');
  addImportHistory(importing);
  importing
    .hook('preAction', refuseForeignOptions)
    .description(
      'import records from CSV or JSONL files, gzip too, or the files of a source as they are; repeating an import changes nothing',
    )
    .usage('[options] <entity> <file> | --source <name> <file...> | --map <mapping> <file...>')
    .argument(
      '[arguments...]',
      `entity (${importEntities.join(', ')}) and file; with --source or --map the files`,
    )
    .option(
      '--source <name>',
      `files of a source in their own form: ${sourceNames.join(', ')}`,
      oneOf(sourceNames),
    )
    .option(
      '--map <mapping>',
      'any other CSV or JSONL, read by the mapping of this name (if there is none, one is guessed from the file, shown and kept) or by the mapping in a .json file',
    )
    .option(
      '--as-of <day>',
      'day of the data of a source; default: the day in the file name, or today',
      day,
    )
    .option('--dry-run', 'with --source or --map: count what would change, and change nothing')
    .option('--allow-gone', 'with --source: accept a file that lacks many of the earlier records')
    .option(
      '--rejects <file>',
      'file for bad records, with line and reason; default: FILE.rejects.jsonl',
    )
    .action(async (given: string[], options: ImportOptions, command: Command) => {
      if (options.source !== undefined && options.map !== undefined) {
        throw usage('Give --source or --map.');
      }
      if (options.source !== undefined)
        await importSourced(options.source, given, options, command);
      else if (options.map !== undefined) await importMapped(options.map, given, options, command);
      else await importOwn(given, options, command);
    });
}

/** `import` takes its options from every place in the line: one that a subcommand lacks would be passed over. */
function refuseForeignOptions(importing: Command, called: Command): void {
  if (called === importing) return;
  const own = new Set(called.options.map((option) => option.attributeName()));
  for (const option of importing.options) {
    const name = option.attributeName();
    if (importing.getOptionValue(name) === undefined || own.has(name)) continue;
    throw usage(`${option.long} does not go with import ${called.name()}.`);
  }
}

async function importOwn(
  [entityName = '', file, ...more]: string[],
  options: ImportOptions,
  command: Command,
): Promise<void> {
  if (file === undefined || more.length > 0) {
    throw usage(
      'Give --source auto and files, --map NAME and files, or an entity (such as persons) and one file.',
    );
  }
  if (options.dryRun === true) throw usage('--dry-run goes with --source or --map.');
  const entity = parseEntity(entityName);
  const { config, json } = readGlobals(command);
  const rejectsFile = options.rejects ?? `${file}.rejects.jsonl`;
  const { report, reasons } = await withDatabase(config, (sql) =>
    importFile(sql, entity, file, rejectsFile),
  );
  const rejects = report.rejected > 0 ? rejectsFile : null;
  printResult(json, { ...report, rejects }, [
    `${report.read} read: ${report.inserted} new, ${report.updated} changed, ` +
      `${report.unchanged} unchanged, ${report.rejected} rejected${rejects === null ? '' : ` (${rejects})`}`,
    ...sayReasons(reasons),
    `${report.seconds.toFixed(1)} s`,
    ...(report.read > 0 && report.rejected === report.read ? [WITHOUT_IDS] : []),
  ]);
}

const WITHOUT_IDS =
  'Every record was rejected. If they have no ids of yours, import the file with --source or --map.';

async function importSourced(
  source: string,
  files: string[],
  options: ImportOptions,
  command: Command,
): Promise<void> {
  if (files.length === 0) throw usage('Give the files of the source.');
  const input = await openSource({ source, files, asOf: options.asOf });
  const { config } = readGlobals(command);
  await withDatabase(config, (sql) => importInput(sql, input, files, options, command));
}

async function importMapped(
  given: string,
  files: string[],
  options: ImportOptions,
  command: Command,
): Promise<void> {
  const [first] = files;
  if (first === undefined) throw usage('Give the files of the mapping.');
  const asked = await readGivenMapping(given);
  const { config } = readGlobals(command);
  await withDatabase(config, async (sql) => {
    const kept = await readKeptMapping(sql, asked.name);
    const known = asked.mapping ?? kept;
    const mapping = known ?? (await guess(first, asked.name));
    const input = await openMapped(asked.name, mapping, { files, asOf: options.asOf });
    const isOther = kept !== undefined && !isDeepStrictEqual(kept, mapping);
    const given = isOther ? 'given, replaces the kept one' : 'given';
    const origin = asked.mapping === undefined ? 'kept' : given;
    if (known !== undefined) say(`mapping ${asked.name} (${origin}): ${JSON.stringify(mapping)}`);
    await importInput(sql, input, files, options, command);
    if (options.dryRun !== true) await keepMapping(sql, asked.name, mapping);
  });
}

/** Guesses the mapping of a file; shows it, and the columns that it leaves out. */
async function guess(file: string, name: string): Promise<SourceMapping> {
  const head = await readFileHead(file);
  const mapping = guessMapping(head);
  const used = new Set(Object.values(mapping.columns).flat());
  const unused = head.header.filter((column) => column !== '' && !used.has(column));
  say(`mapping ${name} (guessed): ${JSON.stringify(mapping)}`);
  if (unused.length > 0) say(`not imported: ${unused.join(', ')}`);
  return mapping;
}

/** Imports opened files and prints the report. */
async function importInput(
  sql: Database,
  input: SourceInput,
  files: readonly string[],
  options: ImportOptions,
  command: Command,
): Promise<void> {
  const { json } = readGlobals(command);
  const rejectsFile = options.rejects ?? `${files[0] ?? ''}.rejects.jsonl`;
  const { dryRun = false, allowGone = false } = options;
  const { rejects, reasons } = await openRejects(rejectsFile, files);
  let report: Awaited<ReturnType<typeof importSource>>;
  const steps = { read: 'rows read', build: 'records left to build' };
  const sayNow = everySecond((text: string) => say(text));
  try {
    report = await importSource(sql, input, {
      rejects,
      isDryRun: dryRun,
      allowsGone: allowGone,
      onProgress: (step, count) => sayNow(`${count} ${steps[step]}`),
    });
  } finally {
    rejects.end();
    await finished(rejects);
  }
  printResult(json, report, [
    `${dryRun ? 'would import' : `import ${report.import_id}:`} ${report.source} as of ${input.asOf}`,
    `${report.rows} rows: ${report.new} new, ${report.changed} changed, ${report.same} the same, ` +
      `${report.rejected} rejected${report.rejected > 0 ? ` (${rejectsFile})` : ''}, ${report.suppressed} suppressed`,
    ...sayReasons(reasons),
    `${report.merged} joined records of other sources, ${report.gone} earlier records ended`,
  ]);
}

/** Returns a line for each of the most frequent reasons. */
function sayReasons(reasons: ReadonlyMap<string, number>): string[] {
  const all = [...reasons].sort(([, one], [, other]) => other - one);
  const lines = all.slice(0, REASONS_MAX).map(([reason, count]) => `  ${count} ${reason}`);
  const left = all.length - lines.length;
  return left === 0 ? lines : [...lines, `  and ${countOf(left, 'other reason')}`];
}

const REASONS_MAX = 10;
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
  if (isoDate(text) !== text) {
    throw new InvalidArgumentError('It must be a day such as 2026-10-01.');
  }
  if (isLaterThanTomorrow(text)) {
    throw new InvalidArgumentError(
      'It must not be later than tomorrow: until then no newer file would count.',
    );
  }
  return text;
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
): Promise<{ report: ImportReport; reasons: ReadonlyMap<string, number> }> {
  const { rejects, reasons } = await openRejects(rejectsFile, [file]);
  try {
    const report = await importRecords(sql, {
      entity,
      ...(await openRecords(createReadStream(file))),
      rejects,
      onProgress: ({ read }) => say(`${read} records read`),
    });
    return { report, reasons };
  } finally {
    rejects.end();
    await finished(rejects);
  }
}

/**
 * Opens a stream into a file that exists only when something was written to it, one record at a time, and counts the records
 * by their reason. A device or a link, such as `/dev/null` or `/dev/stderr`, is written to and never replaced. Throws `AppError`
 * before the import when the file cannot be written, or is one of those that are imported; a disk that fills up fails the stream
 * with one.
 */
async function openRejects(
  file: string,
  imported: readonly string[],
): Promise<{ rejects: Writable; reasons: ReadonlyMap<string, number> }> {
  const notWritten = (error: unknown) =>
    usage(
      `Rejected records cannot be written to ${file} (${(error as Error).message}). Name another file with --rejects.`,
    );
  for (const one of imported) {
    if (!(await isSameFile(file, one))) continue;
    throw usage(
      `${file} is imported: rejected records would replace it. Name another file with --rejects.`,
    );
  }
  try {
    const isLink = (await lstat(file).catch(() => null))?.isSymbolicLink() === true;
    // What an earlier import rejected is not true of this one.
    if (!isLink && !(await isSpecialFile(file))) await rm(file, { force: true });
    await access(path.dirname(file), constants.W_OK);
  } catch (error) {
    throw notWritten(error);
  }
  let output: FileHandle | undefined;
  const reasons = new Map<string, number>();
  const rejects = new Writable({
    async write(chunk: Buffer, _encoding, done) {
      try {
        const { reason } = JSON.parse(chunk.toString('utf8')) as { reason: string };
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        output ??= await open(file, 'w');
        await output.writeFile(chunk);
        done();
      } catch (error) {
        done(notWritten(error));
      }
    },
    async final(done) {
      await Promise.resolve(output?.close()).then(
        () => done(),
        (error: unknown) => done(notWritten(error)),
      );
    },
  });
  // Thrown at the next record, or when the stream is ended; until then it must not end the process.
  rejects.on('error', () => {});
  return { rejects, reasons };
}

/** True for two paths of one file, by a link too. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const found = await Promise.all([one, other].map((path) => stat(path).catch(() => null)));
  const [left, right] = found;
  return left?.isFile() === true && left.dev === right?.dev && left.ino === right.ino;
}
