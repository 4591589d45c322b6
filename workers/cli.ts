#!/usr/bin/env node
/** The `enrich` command line. Exit codes: 0 done, 1 failed, 2 used wrongly. */
import { Command, CommanderError } from 'commander';
import { ProblemError } from '../src/client/client.ts';
import { AppError } from '../src/core/lib/errors.ts';
import { addAccountCommands } from './commands/accounts.ts';
import { addBatchCommands } from './commands/batch.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addExportCommands } from './commands/exports.ts';
import { addGraphCommands } from './commands/graph.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addPersonCommands } from './commands/person.ts';
import { addScheduleCommands } from './commands/schedules.ts';
import { addSearchCommand } from './commands/search.ts';
import { addServerCommands } from './commands/server.ts';
import { addGlobalOptions } from './global-options.ts';
import { say } from './output.ts';

const program = new Command('enrich')
  .description('Enrich lists of people and companies from a graph in Postgres.')
  .showHelpAfterError('(see --help)')
  .exitOverride();

addGlobalOptions(program);
addDemoCommand(program);
addServerCommands(program);
addGraphCommands(program);
addAccountCommands(program);
addPersonCommands(program);
addKeyCommands(program);
addBatchCommands(program);
addSearchCommand(program);
addExportCommands(program);
addScheduleCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** Says what went wrong in a sentence; returns the exit code. */
function explain(error: unknown): number {
  // Help and version end like errors, with code 0; commander has said the rest already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof AppError || error instanceof ProblemError) {
    say(`error: ${error.message}`);
    return error instanceof AppError && error.code === 'usage' ? 2 : 1;
  }
  say(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}
