/** Options that every command takes, and the configuration that follows from them. */
import type { Command } from 'commander';
import { type Config, environmentWith, readConfig } from '../src/core/config.ts';

interface GlobalOptions {
  json?: boolean;
  dataDir?: string;
}

/** The configuration of a command, with the folder that its command line names. */
export interface CommandConfig extends Config {
  readonly namedFolder?: string | undefined;
}

export function addGlobalOptions(program: Command): Command {
  return program
    .option('--json', 'print one JSON value on stdout')
    .option('--data-dir <folder>', 'folder of the embedded stack (ENRICH_DATA_DIR)');
}

/** The output format and the configuration. Throws `AppError` `invalid_configuration`. */
export function readGlobals(command: Command): { json: boolean; config: CommandConfig } {
  const { json = false, dataDir } = command.optsWithGlobals<GlobalOptions>();
  const config = readConfig(environmentWith(dataDir === undefined ? {} : { dataDir }));
  return { json, config: { ...config, namedFolder: dataDir } };
}
