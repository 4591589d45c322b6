/** Options of the scripts of this folder, all read and refused in one way. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Parsed<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>;

/**
 * Returns what `read` makes of the words of the command line; null stands for a value that does not fit. Prints `usage` and ends
 * the process for `--help`, with 0, and for what is wrong, with 2.
 */
export function parseOptions<const Config extends ParseArgsConfig, Meant>(
  usage: string,
  config: Config,
  read: (parsed: Parsed<Config>) => Meant | null,
): Meant {
  const words = process.argv.slice(2);
  if (words.includes('--help')) end(usage, 0);
  return read(parse(usage, config)) ?? end(usage, 2);
}

function parse<Config extends ParseArgsConfig>(usage: string, config: Config): Parsed<Config> {
  try {
    return parseArgs(config);
  } catch (error) {
    return end(`${(error as Error).message}\n${usage}`, 2);
  }
}

function end(told: string, exitCode: number): never {
  (exitCode === 0 ? process.stdout : process.stderr).write(`${told}\n`);
  process.exit(exitCode);
}
