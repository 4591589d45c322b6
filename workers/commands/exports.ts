/** `export run|status|list|results|pause|resume|cancel|start`: people by a filter, written to a file. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Export } from '../../src/client/api-types.ts';
import type { ControlAction } from '../../src/client/client.ts';
import { PERSON_PRICE_TEXT } from '../../src/core/operations.ts';
import { readGlobals } from '../global-options.ts';
import { openClient } from '../open-client.ts';
import { countOf, printResult, sayTotal, sayUnknownValues } from '../output.ts';
import { endingOf, type FormOptions, formOf } from '../output-form.ts';
import { retryWhenLost } from '../retry-while-unavailable.ts';
import { download, follow } from './follow.ts';

/** Options that exports and schedules share. */
export interface ExportOptions {
  fields?: string[];
  format?: string;
  maxResults?: number;
  maxCredits?: number;
  name?: string;
}

interface RunOptions extends ExportOptions, FormOptions {
  output?: string;
  hold?: boolean;
  wait?: boolean;
}

interface ResultOptions extends FormOptions {
  output: string;
}

export function addExportCommands(program: Command): void {
  const group = program.command('export').description('export everyone who matches a filter');
  addRunCommand(group);
  addReadCommands(group);
  addControlCommands(group);
}

/** Adds the options that describe an export. */
export function addExportOptions(command: Command): Command {
  return command
    .option('--fields <list>', 'comma-separated fields; default: all', toList)
    .option('--format <form>', 'csv, csv-safe (for spreadsheets), jsonl or xlsx')
    .option('--max-results <number>', 'maximum number of people', toCount)
    .option('--max-credits <number>', 'maximum credits to spend', toCount)
    .option('--name <text>', 'name of the export');
}

/** The options as the body of an API call. */
export function toExportBody(filter: string, options: ExportOptions): Record<string, unknown> {
  const { fields, format, maxResults, maxCredits, name } = options;
  return {
    // As in a URL, with or without the question mark.
    filter: filter.replace(/^\?/, ''),
    ...(format === undefined ? {} : { format }),
    ...(fields === undefined ? {} : { fields }),
    ...(maxResults === undefined ? {} : { max_results: maxResults }),
    ...(maxCredits === undefined ? {} : { max_credits: maxCredits }),
    ...(name === undefined ? {} : { name }),
  };
}

function addRunCommand(group: Command): void {
  const run = group
    .command('run', { isDefault: true })
    .description('export matching people, wait, and write the file; the word `run` may be left out')
    .argument('<filter>', 'filter of a person search, such as "gender=2&isX=1"')
    .option('-o, --output <file>', 'file to write to; default: people.<format>')
    .option('--gzip', 'compress the file')
    .option('--hold', 'find the people and show the price, then hold for `export start`')
    .option('--wait', 'when credits run out, wait for more instead of exiting');
  addExportOptions(run).action(async (filter: string, options: RunOptions, command: Command) => {
    const { config, json } = readGlobals(command);
    const client = await openClient(config);
    const { hold = false, wait = false } = options;
    const output = options.output ?? peopleName(options);
    const { format, gzip } = formOf(output, options);
    const body = {
      ...toExportBody(filter, { ...options, format }),
      gzip: gzip === 'true',
      hold,
    };
    const { id, unknown_values } = await retryWhenLost((once) => client.createExport(body, once));
    sayUnknownValues(unknown_values);
    const read = () => client.getExport(id);
    const until = hold ? ['ready', 'completed'] : ['completed'];
    const made = await follow({ noun: 'export', id, read }, { until, wait, progress: !json });
    if (hold) {
      printResult(json, made, describeExport(made, null));
      return;
    }
    await download(() => client.getExportResults(id), output);
    printResult(json, { ...made, output }, describeExport(made, output));
  });
}

function addReadCommands(group: Command): void {
  group
    .command('status')
    .description('show state, counts and credits')
    .argument('<id>', 'export id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const found = await (await openClient(config)).getExport(id);
      printResult(json, found, describeExport(found, null));
    });
  group
    .command('list')
    .description('list the latest exports')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const page = await (await openClient(config)).listExports();
      const lines = page.data.map(
        ({ id, state, created_at, rows, name }) =>
          `${id}  ${created_at}  ${state.padEnd(10)} ${countOf(rows.matched, 'person', 'people')}  ${name}`,
      );
      printResult(json, page, lines.length > 0 ? lines : ['No exports.']);
    });
  group
    .command('results')
    .description('write the finished rows')
    .argument('<id>', 'export id')
    .requiredOption('-o, --output <file>', 'file to write to')
    .option(
      '--format <form>',
      'csv, csv-safe, jsonl or xlsx; default: by the name of the file, else that of the export',
    )
    .option('--gzip', 'compress the file')
    .action(async (id: string, options: ResultOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const { output } = options;
      const client = await openClient(config);
      const form = formOf(output, options, (await client.getExport(id)).format);
      const complete = await download(() => client.getExportResults(id, { ...form }), output);
      const line = complete ? output : `${output} (not complete yet)`;
      printResult(json, { output, complete }, [line]);
    });
}

const actions: Record<ControlAction, string> = {
  pause: 'pause an export until it is resumed',
  resume: 'resume a paused export',
  cancel: 'cancel an export; nothing more is charged',
  start: 'start a held export',
};

function addControlCommands(group: Command): void {
  for (const action of Object.keys(actions) as ControlAction[]) {
    group
      .command(action)
      .description(actions[action])
      .argument('<id>', 'export id')
      .action(async (id: string, _options, command: Command) => {
        const { config, json } = readGlobals(command);
        const after = await (await openClient(config)).controlExport(id, action);
        printResult(json, after, describeExport(after, null));
      });
  }
}

function describeExport(made: Export, output: string | null): string[] {
  const { id, state, reason, rows, credits, estimated_credits: price } = made;
  const is = made.total_is ?? 'exact';
  const lines = [
    `Export     ${id} (${state}${reason ? `, ${reason}` : ''})`,
    `People     ${rows.matched} of ${rows.total === null ? '?' : sayTotal({ total: rows.total, total_is: is })}`,
    `Credits    ${credits.charged} charged`,
  ];
  if (state === 'ready') {
    const total_is = price === 0 ? 'exact' : is;
    const said =
      price === null
        ? `${PERSON_PRICE_TEXT} for each person found`
        : `${sayTotal({ total: price, total_is })} credits`;
    lines.push(`Price      ${said}`);
  }
  if (output !== null) lines.push(`Result     ${output}`);
  return lines;
}

function peopleName(options: FormOptions): string {
  const { format, gzip } = formOf('', options);
  return `people${endingOf(format, gzip === 'true')}`;
}

function toList(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

function toCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
