/** All commands of `enrich`. */
import { Command } from 'commander';
import { addAccountCommands } from './commands/accounts.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addBatchCommands } from './commands/batch.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addExportCommands } from './commands/exports.ts';
import { addGraphCommands } from './commands/graph.ts';
import { addImportCommands } from './commands/import.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addMatchCommands } from './commands/match.ts';
import { addPersonCommands } from './commands/person.ts';
import { addScheduleCommands } from './commands/schedules.ts';
import { addSearchCommand } from './commands/search.ts';
import { addServerCommands } from './commands/server.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { addGlobalOptions } from './global-options.ts';

/** Builds the command line; the caller parses. A wrong use throws `CommanderError`. */
export function buildProgram(): Command {
  const program = new Command('enrich')
    .description('Enrich lists of people and companies from a graph in Postgres.')
    .showHelpAfterError('(see --help)')
    .exitOverride();
  addGlobalOptions(program);
  addDemoCommand(program);
  addServerCommands(program);
  addBackupCommands(program);
  addGraphCommands(program);
  addImportCommands(program);
  addAccountCommands(program);
  addMatchCommands(program);
  addPersonCommands(program);
  addKeyCommands(program);
  addBatchCommands(program);
  addSearchCommand(program);
  addExportCommands(program);
  addScheduleCommands(program);
  addWebhookCommands(program);
  addCompletionCommand(program);
  return program;
}
