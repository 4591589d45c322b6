/** `schedule create|list|show|runs|run|enable|disable|delete`: recurring exports. */
import type { Command } from 'commander';
import type { Schedule } from '../../src/client/api-types.ts';
import { readGlobals } from '../global-options.ts';
import { openClient } from '../open-client.ts';
import { countOf, printResult, sayUnknownValues } from '../output.ts';
import { retryWhenLost } from '../retry-while-unavailable.ts';
import { addExportOptions, type ExportOptions, toExportBody } from './exports.ts';

interface CreateOptions extends ExportOptions {
  cron: string;
  timeZone: string;
  new?: boolean;
  disabled?: boolean;
}

export function addScheduleCommands(program: Command): void {
  const group = program.command('schedule').description('recurring exports');
  addCreateCommand(group);
  addReadCommands(group);
  addChangeCommands(group);
}

function addCreateCommand(group: Command): void {
  const create = group
    .command('create')
    .description('create a recurring export')
    .argument('<filter>', 'filter of a person search, such as "gender=2&isX=1"')
    .requiredOption('--cron <expression>', 'minute, hour, day, month, weekday: "30 2 * * *"')
    .option('--time-zone <name>', 'time zone of the expression, such as Europe/London', 'UTC')
    .option('--new', 'leave out people that this schedule delivered before')
    .option('--disabled', 'create it disabled; `schedule enable` enables it');
  addExportOptions(create).action(
    async (filter: string, options: CreateOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const made = await (await openClient(config)).createSchedule({
        ...toExportBody(filter, options),
        cron: options.cron,
        time_zone: options.timeZone,
        mode: options.new ? 'new' : 'all',
        enabled: !options.disabled,
      });
      sayUnknownValues(made.unknown_values);
      printResult(json, made, describeSchedule(made));
    },
  );
}

function addReadCommands(group: Command): void {
  group
    .command('list')
    .description('list all schedules, newest first')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const page = await (await openClient(config)).listSchedules();
      const lines = page.data.map(
        ({ id, name, cron, time_zone, next_run_at }) =>
          `${id}  ${cron} ${time_zone}  next ${next_run_at ?? 'never (disabled)'}  ${name}`,
      );
      printResult(json, page, lines.length > 0 ? lines : ['No schedules.']);
    });
  group
    .command('show')
    .description('show a schedule')
    .argument('<id>', 'schedule id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const found = await (await openClient(config)).getSchedule(id);
      printResult(json, found, describeSchedule(found));
    });
  group
    .command('runs')
    .description('list the latest runs; `export results` writes the file of a run')
    .argument('<id>', 'schedule id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const page = await (await openClient(config)).listRuns(id);
      const lines = page.data.map(
        ({ slot, state, reason, export_id, rows, credits }) =>
          `${slot}  ${state}${reason === null ? '' : ` (${reason})`}  ${countOf(rows, 'person', 'people')}, ${countOf(credits, 'credit')}  ${export_id ?? ''}`,
      );
      printResult(json, page, lines.length > 0 ? lines : ['No runs yet.']);
    });
}

function addChangeCommands(group: Command): void {
  for (const [action, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    group
      .command(action)
      .description(`${action} a schedule`)
      .argument('<id>', 'schedule id')
      .action(async (id: string, _options, command: Command) => {
        const { config, json } = readGlobals(command);
        const after = await (await openClient(config)).changeSchedule(id, { enabled });
        if (enabled) sayUnknownValues(after.unknown_values);
        printResult(json, after, describeSchedule(after));
      });
  }
  group
    .command('run')
    .description('run a schedule now, in addition to its times')
    .argument('<id>', 'schedule id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const client = await openClient(config);
      const run = await retryWhenLost((once) => client.runSchedule(id, once));
      printResult(json, run, [`Started export ${run.export_id}.`]);
    });
  group
    .command('delete')
    .description('delete a schedule and its history; its exports stay')
    .argument('<id>', 'schedule id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      await (await openClient(config)).deleteSchedule(id);
      printResult(json, { id, deleted: true }, [`Deleted schedule ${id}.`]);
    });
}

function describeSchedule(schedule: Schedule): string[] {
  const { id, name, cron, time_zone, filter, mode, next_run_at } = schedule;
  return [
    `Schedule   ${id} (${name})`,
    `Filter     ${filter}`,
    `Runs       ${cron}, ${time_zone}${mode === 'new' ? ', new people only' : ''}`,
    `Next       ${next_run_at ?? 'never: it is disabled'}`,
  ];
}
