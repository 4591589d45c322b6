/** `batch run|status|results`: the client side; talks to the service over HTTP alone. */
import { access } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Batch } from '../../src/client/api-types.ts';
import type { Client, ClientReport, ControlAction } from '../../src/client/client.ts';
import { conflict } from '../../src/core/lib/errors.ts';
import { readGlobals } from '../global-options.ts';
import { openClient } from '../open-client.ts';
import { countOf, printResult } from '../output.ts';
import { enrichedName, type FormOptions, formOf, type OutputForm } from '../output-form.ts';
import { retryWhenLost, retryWhileUnavailable } from '../retry-while-unavailable.ts';
import { addDecisionCommands } from './decide.ts';
import { describeBatch } from './describe-batch.ts';
import { download, follow, newerOf, POLL_MS } from './follow.ts';

interface RunOptions extends FormOptions {
  operation: string;
  map?: Columns;
  output?: string;
  fields?: string;
  defaultRegion?: string;
  country?: string;
  maxCredits?: string;
  name?: string;
  encoding?: string;
  delimiter?: string;
  header?: boolean;
  headerRow?: string;
  sheet?: string;
  dedupe?: boolean;
  match?: string;
  minProbability?: string;
  requireAgreement?: boolean;
  required?: string;
  hold?: boolean;
  allowUnmapped?: boolean;
  wait?: boolean;
}

interface ResultOptions extends FormOptions {
  output: string;
  outcomes?: string;
  search?: string;
  reruns?: boolean;
}

const FORMAT_HELP =
  'csv, csv-safe (for spreadsheets), jsonl or xlsx; default: by the name of the file';

export function addBatchCommands(program: Command): void {
  const batch = program.command('batch').description('upload, follow, control and download lists');
  addRunCommand(batch);
  addListCommand(batch);
  addReadCommands(batch);
  addControlCommands(batch);
  addDecisionCommands(batch);
}

function addListCommand(batch: Command): void {
  batch
    .command('list')
    .description('list the latest lists')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const page = await (await openClient(config)).listBatches();
      const lines = page.data.map(
        ({ id, state, created_at, rows, name }) =>
          `${id}  ${created_at}  ${state.padEnd(10)} ${rows.matched} of ${rows.total ?? '?'} rows matched  ${name}`,
      );
      printResult(json, page, lines.length > 0 ? lines : ['No lists yet.']);
    });
}

function addRunCommand(batch: Command): void {
  batch
    .command('run')
    .description('upload a list, wait for it, and write the enriched list')
    .argument('<file>', 'CSV or .xlsx, gzip too')
    .requiredOption('--operation <name>', 'operation, such as people.enrich')
    .option(
      '--map <identifier=column...>',
      'column of an identifier, such as email="Work Email"',
      collectMap,
    )
    .option(
      '-o, --output <file>',
      'file to write the result to; default: next to the list, in its format',
    )
    .option('--format <form>', FORMAT_HELP)
    .option('--gzip', 'compress the file')
    .option('--fields <list>', 'comma-separated fields to add; default: all')
    .option('--default-region <country>', 'country of phone numbers without a country code')
    .option('--country <country>', 'country of rows that state none')
    .option('--max-credits <number>', 'maximum credits to spend; the list pauses there')
    .option('--name <text>', 'name of the list; default: the name of the file')
    .option('--encoding <name>', 'encoding, such as windows-1252; default: detected')
    .option('--delimiter <character>', 'one of , ; | tab; default: detected')
    .option('--no-header', 'the first line is a row; default: detected')
    .option(
      '--header-row <number>',
      'number of the row with the column names, as a spreadsheet counts; default: detected',
    )
    .option('--sheet <name>', 'sheet of a workbook, by name or number; default: detected')
    .option('--match <mode>', 'exact (identifiers alone) or likely (also by name and company)')
    .option('--min-probability <number>', 'probability that a likely match needs; default: 0.95')
    .option('--dedupe', 'charge each record once; its later rows are duplicates')
    .option(
      '--require-agreement',
      'treat a match that disagrees with the name in the list as no match',
    )
    .option('--required <list>', 'comma-separated fields without which a record is no match')
    .option('--hold', 'upload and read the list, then hold it for `batch start`')
    .option(
      '--allow-unmapped',
      'with --hold: hold a list without a column to match on, until it is mapped in the console',
    )
    .option('--wait', 'when credits run out, wait for more instead of exiting')
    .action(async (file: string, options: RunOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const output = options.output ?? enrichedName(file, options);
      const form = formOf(output, options);
      const client = await openClient(config);
      if (options.hold) {
        const held = await upload(client, file, options, ['ready', 'completed'], !json);
        printResult(json, held, describeBatch(held, null));
        return;
      }
      const batch = await runBatch(client, file, { output, form }, options, !json);
      const hints = describeHints(batch, await client.getReport(batch.id));
      printResult(json, { ...batch, output }, [...describeBatch(batch, output), ...hints]);
    });
}

function addReadCommands(batch: Command): void {
  batch
    .command('status')
    .description('show state, counts and credits')
    .argument('<id>', 'batch id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const batch = await (await openClient(config)).getBatch(id);
      printResult(json, batch, describeBatch(batch, null));
    });
  batch
    .command('results')
    .description('write the finished rows')
    .argument('<id>', 'batch id')
    .requiredOption('-o, --output <file>', 'file to write the result to')
    .option('--format <form>', FORMAT_HELP)
    .option('--gzip', 'compress the file')
    .option('--outcomes <list>', 'only rows with these outcomes, such as no_match,ambiguous')
    .option('--search <text>', 'only rows that contain this text')
    .option('--reruns', 'write each row with its latest answer, from the list or its reruns')
    .action(async (id: string, options: ResultOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const { outcomes, search, reruns } = options;
      const form = {
        ...formOf(options.output, options),
        ...(outcomes ? { outcomes } : {}),
        ...(search ? { search } : {}),
        ...(reruns ? { reruns: 'true' } : {}),
      };
      const client = await openClient(config);
      const complete = await download(() => client.getResults(id, form), options.output);
      const line = complete ? options.output : `${options.output} (not complete yet)`;
      printResult(json, { output: options.output, complete }, [line]);
    });
  batch
    .command('failures')
    .description('count unusable rows by reason, with the first lines of each')
    .argument('<id>', 'batch id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const { unusable } = await (await openClient(config)).getReport(id);
      const lines = Object.entries(unusable).map(
        ([reason, { rows, lines }]) => `${reason}: ${countRows(rows)} (${namedLines(lines, rows)})`,
      );
      printResult(json, unusable, lines.length > 0 ? lines : ['No unusable rows.']);
    });
}

const actions: Record<ControlAction, string> = {
  pause: 'pause a list until it is resumed',
  resume: 'resume a paused list',
  cancel: 'cancel a list and stop charging',
  start: 'start a held list',
};

function addControlCommands(batch: Command): void {
  for (const action of Object.keys(actions) as ControlAction[]) {
    batch
      .command(action)
      .description(actions[action])
      .argument('<id>', 'batch id')
      .action(async (id: string, _options, command: Command) => {
        const { config, json } = readGlobals(command);
        const after = await (await openClient(config)).controlBatch(id, action);
        printResult(json, after, describeBatch(after, null));
      });
  }
  batch
    .command('quote')
    .description('show the price of a held list by matching it, for free')
    .argument('<id>', 'batch id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const quoted = await quote(await openClient(config), id);
      const { credits, credits_is, affordable } = quoted.quote ?? {};
      const price = `${credits_is === 'at_most' ? 'at most ' : ''}${countOf(credits ?? 0, 'credit')}`;
      const { max } = quoted.credits;
      const limit = max === null ? '' : `; max_credits is ${max}`;
      const line = `${price}${limit}${affordable ? '' : ' (more than the wallet has)'}`;
      printResult(json, quoted, [line]);
    });
  batch
    .command('cap')
    .description('change the maximum credits of a list; one that is paused at its maximum resumes')
    .argument('<id>', 'batch id')
    .argument('<credits>', 'maximum credits in all, or `none`', parseCap)
    .action(async (id: string, credits: number | null, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const after = await (await openClient(config)).capBatch(id, credits);
      printResult(json, after, describeBatch(after, null));
    });
  batch
    .command('rerun')
    .description('create a new list of the rows with these outcomes')
    .argument('<id>', 'batch id')
    .option('--outcomes <list>', 'comma-separated outcomes', 'error')
    .option('--hold', 'hold it for `batch quote` and `batch start`')
    .action(async (id: string, options: { outcomes: string; hold?: boolean }, command: Command) => {
      const { config, json } = readGlobals(command);
      const body = { outcomes: options.outcomes.split(','), hold: options.hold ?? false };
      const client = await openClient(config);
      const again = await retryWhenLost((once) => client.rerunBatch(id, body, once));
      printResult(json, again, describeBatch(again, null));
    });
}

/** Maximum credits, or null for `none`. */
function parseCap(text: string): number | null {
  if (text === 'none') return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number, or none.');
}

/** Asks for a quote and waits until it is there. Throws `AppError` when the batch is started instead. */
async function quote(client: Client, id: string): Promise<Batch> {
  let batch = await client.controlBatch(id, 'quote');
  while (batch.quote?.state !== 'done') {
    if (batch.quote === null) {
      throw conflict(
        'quote_dropped',
        `Batch ${id} was changed, started or cancelled (${batch.state}) before its price was known, or cannot be priced.`,
      );
    }
    await setTimeout(POLL_MS);
    batch = newerOf(batch, await retryWhileUnavailable(() => client.getBatch(id)));
  }
  return batch;
}

/**
 * Uploads a list, follows it to its end and writes the result. Throws `AppError` when the batch fails,
 * is cancelled, or pauses for credits (unless `wait`).
 */
export async function runBatch(
  client: Client,
  file: string,
  { output, form }: { output: string; form: OutputForm },
  options: RunOptions,
  progress: boolean,
): Promise<Batch> {
  const batch = await upload(client, file, options, ['completed'], progress);
  await download(() => client.getResults(batch.id, { ...form }), output);
  return batch;
}

/** Uploads a list and follows it until it is in one of these states. */
async function upload(
  client: Client,
  file: string,
  options: RunOptions,
  until: readonly string[],
  progress: boolean,
): Promise<Batch> {
  const { map, fields, defaultRegion, country, maxCredits, name, encoding, delimiter } = options;
  // Names the file, which the upload's own error does not.
  await access(file);
  const form = {
    operation: options.operation,
    ...(map ? { mapping: JSON.stringify(map) } : {}),
    ...(fields ? { fields } : {}),
    ...(defaultRegion ? { default_region: defaultRegion } : {}),
    ...(country ? { country } : {}),
    ...(maxCredits ? { max_credits: maxCredits } : {}),
    ...(name ? { name } : {}),
    ...(encoding ? { encoding } : {}),
    ...(delimiter ? { delimiter } : {}),
    ...(options.header === false ? { header: 'false' } : {}),
    ...(options.headerRow ? { header_row: options.headerRow } : {}),
    ...(options.sheet ? { sheet: options.sheet } : {}),
    ...(options.match ? { match: options.match } : {}),
    ...(options.minProbability ? { min_probability: options.minProbability } : {}),
    ...(options.dedupe ? { dedupe: 'true' } : {}),
    ...(options.required ? { required: options.required } : {}),
    ...(options.requireAgreement ? { require_agreement: 'true' } : {}),
    ...(options.hold ? { hold: 'true' } : {}),
    ...(options.allowUnmapped ? { allow_unmapped: 'true' } : {}),
  };
  const { id } = await retryWhenLost((once) => client.createBatch(file, form, once));
  const read = () => client.getBatch(id);
  return follow({ noun: 'batch', id, read }, { until, wait: options.wait ?? false, progress });
}

/** The options that help with unusable rows of a list, by reason; undefined where none does. */
const remedies: Record<string, (batch: Batch) => string | undefined> = {
  phone_without_country: () => 'name their country, such as --default-region GB',
  no_identifier: remedyWithoutIdentifier,
  empty_name: remedyWithoutIdentifier,
};

/** Says by what else the rows of a list of people may be found, as far as it has columns for that. */
function remedyWithoutIdentifier({ operation, mapping, match }: Batch): string | undefined {
  if (!operation.startsWith('people.')) return undefined;
  const has = (kind: string) => mapping[kind] !== undefined;
  const isNamed = has('person_name') && (has('company_name') || has('city') || has('country'));
  const ways = [
    ...(match === 'exact' && isNamed
      ? ['those with a name and a company or place again with --match likely']
      : []),
    ...(has('company_name') ? ['those about a company with --operation companies.enrich'] : []),
  ];
  return ways.length === 0 ? undefined : `run ${ways.join(', ')}`;
}

function describeHints(batch: Batch, { unusable }: ClientReport): string[] {
  return Object.entries(unusable).map(([reason, { rows, lines }]) => {
    const remedy = remedies[reason]?.(batch);
    const where = namedLines(lines.slice(0, 5), rows);
    return `Unusable   ${countRows(rows)}: ${reason} (${where})${remedy === undefined ? '' : `; ${remedy}`}`;
  });
}

const countRows = (rows: number) => `${rows} row${rows === 1 ? '' : 's'}`;

/** `line 3`, `lines 2, 4, ...`: the first lines of so many rows. */
const namedLines = (lines: readonly number[], rows: number) =>
  `line${lines.length === 1 ? '' : 's'} ${lines.join(', ')}${rows > lines.length ? ', ...' : ''}`;

type Columns = Record<string, string | number | (string | number)[]>;

/** Several columns of one kind are those of its parts, in this order. */
function collectMap(text: string, before: Columns = {}): Columns {
  const at = text.indexOf('=');
  const column = text.slice(at + 1);
  const value = /^\d+$/.test(column) ? Number(column) : column;
  const kind = text.slice(0, at);
  const others = before[kind];
  return { ...before, [kind]: others === undefined ? value : [others, value].flat() };
}
