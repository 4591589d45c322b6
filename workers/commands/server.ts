/** `up`, `api`, `worker`, `migrate`. */
import type { Command } from 'commander';
import { conflict, unavailable } from '../../src/core/lib/errors.ts';
import { createLog } from '../../src/core/log.ts';
import { checkRedis } from '../../src/core/redis/check-redis.ts';
import { runApi } from '../api.ts';
import { wholeNumber } from '../arguments.ts';
import { findRunningUp, withDatabase } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';
import { startStack } from '../stack.ts';
import { runWorker } from '../worker.ts';

export function addServerCommands(program: Command): void {
  program
    .command('up')
    .description('run the whole service on this machine')
    .option('--port <number>', 'port of the API (PORT)', wholeNumber(0))
    .option('--workers <number>', 'number of worker processes', wholeNumber(1), 1)
    .action(async (options: { port?: number; workers: number }, command: Command) => {
      const { config } = readGlobals(command);
      await up({ ...config, port: options.port ?? config.port }, options.workers);
    });
  program
    .command('api')
    .description('run one API process (needs DATABASE_URL)')
    .action((_options, command: Command) => runApi(readGlobals(command).config));
  program
    .command('worker')
    .description('run one worker process (needs DATABASE_URL)')
    .action((_options, command: Command) => runWorker(readGlobals(command).config));
  program
    .command('migrate')
    .description('migrate the database to the schema of this version')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const applied = await withDatabase(config, async (_sql, _url, done) => done);
      printResult(json, { applied }, [`Schema is up to date (${applied.length} applied).`]);
    });
}

async function up(config: Parameters<typeof startStack>[0], workers: number): Promise<void> {
  const running = await findRunningUp(config);
  if (running !== null) {
    throw conflict(
      'data_folder_in_use',
      `A service is already running on ${config.dataDir} (pid ${running.pids.up}, ${running.url}).`,
    );
  }
  const log = createLog(config.logLevel, 'up');
  await checkRedis(config.redisUrl, log);
  const stack = await startStack(config, workers, log);
  say(`The service is running at ${stack.up.url}. Stop it with Ctrl-C.`);
  say(
    'Open it in a browser and sign in with an API key, or with a password from `account create --sign-in`.',
  );
  const reason = await Promise.race([untilSignal(), stack.failed.then((why) => ({ failed: why }))]);
  await stack.stop();
  if (reason === null) return;
  throw unavailable('database_ended', `The embedded database ended: ${reason.failed}`);
}

/** Resolves at the first SIGINT or SIGTERM; later ones are ignored while the stack ends. */
function untilSignal(): Promise<null> {
  return new Promise((resolve) => {
    process.on('SIGINT', () => resolve(null));
    process.on('SIGTERM', () => resolve(null));
  });
}
