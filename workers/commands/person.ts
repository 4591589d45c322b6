/** `suppress` and `person`: what a data subject may ask for. */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { type Context, openContext } from '../../src/core/context.ts';
import type { Database } from '../../src/core/db/client.ts';
import { showSources } from '../../src/core/graph/sources/show-sources.ts';
import { splitRecords } from '../../src/core/graph/sources/split.ts';
import { AppError } from '../../src/core/lib/errors.ts';
import { suppress, suppressHashes } from '../../src/core/suppression/suppress.ts';
import { erasePerson } from '../../src/jobs/erasure/erase-person.ts';
import type { PersonAsked } from '../../src/jobs/erasure/find-person.ts';
import { showPerson } from '../../src/jobs/erasure/show-person.ts';
import { readLines } from '../../src/sources/text-lines.ts';
import { wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printRecord, printResult } from '../output.ts';
import { withDatabase } from '../with-database.ts';

export function addPersonCommands(program: Command): void {
  addSuppress(program);
  const person = program.command('person').description('subject access and erasure');
  addShow(person);
  addErase(person);
  addSplitPerson(person);
  const company = program.command('company').description('companies of the graph');
  addCompanyShow(company);
  addSplitCompany(company);
}

function addSplitPerson(person: Command): void {
  person
    .command('split')
    .description('split records out of a person that they were wrongly merged into')
    .requiredOption('--id <number>', 'id of the person', wholeNumber(1))
    .requiredOption(
      '--records <list>',
      'numbers of the records, as `show --sources` has them',
      numbers,
    )
    .action(async ({ id, records }: { id: number; records: number[] }, command: Command) => {
      await printSplit(command, (sql) => splitRecords(sql, 'person', id, records));
    });
}

function addSplitCompany(company: Command): void {
  company
    .command('split')
    .description('split records out of a company that they were wrongly merged into')
    .argument('<id>', 'id of the company', wholeNumber(1))
    .requiredOption(
      '--records <list>',
      'numbers of the records, as `show --sources` has them',
      numbers,
    )
    .action(async (id: number, { records }: { records: number[] }, command: Command) => {
      await printSplit(command, (sql) => splitRecords(sql, 'company', id, records));
    });
}

async function printSplit(
  command: Command,
  change: (sql: Database) => Promise<{ split: number; ids: number[] }>,
): Promise<void> {
  const { config, json } = readGlobals(command);
  const done = await withDatabase(config, change);
  printResult(json, done, [`split ${done.split}: the records are now ${done.ids.join(', ')}`]);
}

function numbers(text: string): number[] {
  return text.split(',').map((one) => wholeNumber(1)(one.trim()));
}

function addCompanyShow(company: Command): void {
  company
    .command('show')
    .description('print the record of a company, as JSON')
    .argument(
      '<id>',
      'id of the record; the id of a merged record shows the one that stayed',
      wholeNumber(1),
    )
    .option('--sources', 'also show its sources, and the origin of each value')
    .action(async (id: number, options: { sources?: boolean }, command: Command) => {
      const { config } = readGlobals(command);
      const shown = await withDatabase(config, (sql) => showSources(sql, 'company', id));
      const printed = options.sources === true ? shown : shown.record;
      printRecord(printed);
    });
}

function addSuppress(program: Command): void {
  program
    .command('suppress')
    .description('opt out the person with this email, phone, profile or handle')
    .argument('[identifier]', 'email, phone, profile URL or @handle, as the person gave it')
    .option(
      '--sha256-file <file>',
      'instead: SHA-256 of normalised emails or phones in hexadecimal, one per line',
    )
    .action(
      async (
        identifier: string | undefined,
        options: { sha256File?: string },
        command: Command,
      ) => {
        const { config, json } = readGlobals(command);
        const { sha256File } = options;
        if ((identifier === undefined) === (sha256File === undefined)) {
          throw usage('Give an identifier or --sha256-file.');
        }
        const result = await withDatabase(config, (sql) =>
          sha256File === undefined
            ? suppress(sql, identifier ?? '')
            : suppressHashes(sql, linesOf(sha256File)),
        );
        const reached =
          result.persons === 0
            ? 'No stored record has it.'
            : `Suppressed ${countOf(result.persons, 'stored record')}.`;
        printResult(json, result, [
          `${reached} The opt-out is kept: records that arrive later are suppressed too.`,
        ]);
      },
    );
}

async function* linesOf(file: string): AsyncGenerator<string> {
  for await (const lines of readLines(createReadStream(file), 'utf8')) {
    for (const { text } of lines) yield text;
  }
}

interface AskedOptions {
  identifier?: string;
  id?: number;
}

function addAsked(command: Command): Command {
  return command
    .option('--identifier <text>', 'email, phone, profile URL or @handle, as the person gave it')
    .option('--id <number>', 'id of the record', wholeNumber(1));
}

function addShow(person: Command): void {
  addAsked(person.command('show'))
    .description('print everything that is stored about a person, as JSON')
    .option(
      '--sources',
      'instead: the record of --id with its sources, and the origin of each value',
    )
    .action(async (options: AskedOptions & { sources?: boolean }, command: Command) => {
      if (options.sources === true) {
        const { id } = options;
        if (id === undefined) throw usage('Give --id with --sources.');
        const { config } = readGlobals(command);
        const record = await withDatabase(config, (sql) => showSources(sql, 'person', id));
        printRecord(record);
        return;
      }
      const asked = readAsked(options);
      const shown = await withContext(command, (context) => showPerson(context, asked));
      printRecord(shown);
    });
}

function addErase(person: Command): void {
  addAsked(person.command('erase'))
    .description('erase a person, rewrite results, and check that nothing is left; exit 1 if not')
    .action(async (options: AskedOptions, command: Command) => {
      const asked = readAsked(options);
      const erasure = await withContext(command, (context) => erasePerson(context, asked));
      printRecord(erasure);
      if (erasure.left.length > 0) process.exitCode = 1;
    });
}

function readAsked({ identifier, id }: AskedOptions): PersonAsked {
  if (identifier !== undefined && id === undefined) return { identifier };
  if (id !== undefined && identifier === undefined) return { id };
  throw usage('Give --identifier or --id.');
}

function usage(message: string): AppError {
  return new AppError({ code: 'usage', status: 400, message });
}

/** Runs `work` with database and storage of the stack. */
function withContext<T>(command: Command, work: (context: Context) => Promise<T>): Promise<T> {
  const { config } = readGlobals(command);
  return withDatabase(config, async (_sql, url) => {
    await using context = await openContext(config, url, 'cli');
    return await work(context);
  });
}
