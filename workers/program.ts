/** All commands of `enrich`. */
import { Command } from 'commander';
import { addCompletionCommand } from './commands/completion.ts';
import { addGlobalOptions } from './global-options.ts';

type AddCommands = (program: Command) => void;

/**
 * The commands of each file, in the order of the help. Loading all files takes a second of a processor, so a call loads those
 * of its command alone.
 */
const files: readonly [commands: string, load: () => Promise<AddCommands>][] = [
  ['demo', async () => (await import('./commands/demo.ts')).addDemoCommand],
  ['up api worker migrate', async () => (await import('./commands/server.ts')).addServerCommands],
  ['status', async () => (await import('./commands/status.ts')).addStatusCommand],
  ['backup restore doctor', async () => (await import('./commands/backup.ts')).addBackupCommands],
  ['generate', async () => (await import('./commands/graph.ts')).addGraphCommands],
  ['graph', async () => (await import('./commands/graph-copy.ts')).addGraphCopyCommands],
  ['import', async () => (await import('./commands/import.ts')).addImportCommands],
  ['account credits', async () => (await import('./commands/accounts.ts')).addAccountCommands],
  ['audit', async () => (await import('./commands/audit.ts')).addAuditCommand],
  ['match', async () => (await import('./commands/match.ts')).addMatchCommands],
  ['suppress person company', async () => (await import('./commands/person.ts')).addPersonCommands],
  ['key', async () => (await import('./commands/keys.ts')).addKeyCommands],
  ['batch', async () => (await import('./commands/batch.ts')).addBatchCommands],
  ['search', async () => (await import('./commands/search.ts')).addSearchCommand],
  ['export', async () => (await import('./commands/exports.ts')).addExportCommands],
  ['schedule', async () => (await import('./commands/schedules.ts')).addScheduleCommands],
  ['webhook', async () => (await import('./commands/webhooks.ts')).addWebhookCommands],
];

/** Builds the whole command line; the caller parses. A wrong use throws `CommanderError`. */
export async function buildProgram(): Promise<Command> {
  return assemble(files.map(([, load]) => load));
}

/** The part of the command line that these arguments call; the whole when they begin with no command. */
export async function buildProgramFor(words: readonly string[]): Promise<Command> {
  const [called] = addGlobalOptions(new Command()).parseOptions([...words]).operands;
  const file = files.find(([commands]) => commands.split(' ').includes(called ?? ''));
  return file === undefined ? buildProgram() : assemble([file[1]]);
}

async function assemble(loads: readonly (() => Promise<AddCommands>)[]): Promise<Command> {
  const program = new Command('enrich')
    .description('Enrich lists of people and companies from a graph in Postgres.')
    .showHelpAfterError('(see --help)')
    .exitOverride();
  addGlobalOptions(program);
  for (const add of await Promise.all(loads.map((load) => load()))) add(program);
  addCompletionCommand(program);
  return program;
}
