/** `up`, `api`, `worker`, `migrate`. */
import type { Command } from 'commander';
import { type PlannedMigration, planMigrations } from '../../src/core/db/migration-plan.ts';
import { availableCores } from '../../src/core/lib/available-cores.ts';
import { conflict } from '../../src/core/lib/errors.ts';
import { createLog } from '../../src/core/log.ts';
import { checkRedis } from '../../src/core/redis/check-redis.ts';
import { wholeNumber } from '../arguments.ts';
import { findRunningUp, noteDatabase } from '../find-service.ts';
import { type CommandConfig, readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';
import { startStack } from '../stack.ts';
import { migrateDatabase, withUnchangedDatabase } from '../with-database.ts';

/** More of them would need a machine that has Postgres to itself elsewhere. */
const WORKERS_BY_DEFAULT_MAX = 4;

/** With a local copy a worker keeps its own core busy, and Postgres little more than the rest of one. */
function workersByDefault(): number {
  return Math.min(availableCores(), WORKERS_BY_DEFAULT_MAX);
}

export function addServerCommands(program: Command): void {
  program
    .command('up')
    .description('run the whole service on this machine')
    .option('--port <number>', 'port of the API (PORT)', wholeNumber(0))
    .option(
      '--workers <number>',
      `number of worker processes; default: one for each available core, at most ${WORKERS_BY_DEFAULT_MAX}; 0: lists wait`,
      wholeNumber(0),
    )
    .action(async (options: { port?: number; workers?: number }, command: Command) => {
      const { config } = readGlobals(command);
      await up(
        { ...config, port: options.port ?? config.port },
        options.workers ?? workersByDefault(),
      );
    });
  program
    .command('api')
    .description('run one API process (needs DATABASE_URL)')
    .action(async (_options, command: Command) => {
      const { runApi } = await import('../api.ts');
      await runApi(readGlobals(command).config);
    });
  program
    .command('worker')
    .description('run one worker process (needs DATABASE_URL)')
    .action(async (_options, command: Command) => {
      const { runWorker } = await import('../worker.ts');
      await runWorker(readGlobals(command).config);
    });
  program
    .command('migrate')
    .description('migrate the database to the schema of this version')
    .option('--plan', 'only print what would be done, with its locks and an estimate of its time')
    .action(async ({ plan = false }: { plan?: boolean }, command: Command) => {
      const { config, json } = readGlobals(command);
      if (plan) {
        const pending = await withUnchangedDatabase(config, (sql) => planMigrations(sql));
        printResult(json, { pending }, sayPlan(pending));
        return;
      }
      const applied = await migrateDatabase(config);
      printResult(json, { applied }, [`Schema is up to date (${applied.length} applied).`]);
    });
}

function sayPlan(pending: readonly PlannedMigration[]): string[] {
  if (pending.length === 0) return ['The schema is up to date.'];
  return pending.flatMap(({ name, runs_with, in_transaction, steps }) => {
    const seconds = steps.reduce((sum, step) => sum + step.seconds, 0);
    const runs =
      runs_with === null ? 'no older version can start afterwards' : `runs with ${runs_with}`;
    const how = in_transaction ? 'one transaction' : 'statement by statement';
    const locked = steps.filter((step) => step.table !== null);
    return [
      `${name}: about ${seconds.toFixed(1)} s, ${how}; ${runs}`,
      ...locked.map(
        ({ table, lock, work, waits, rows, bytes, seconds: own, problem }) =>
          `  ${table} (${rows} rows, ${Math.ceil(bytes / 1_000_000)} MB): ${lock}, ${work}, ${own} s; waiting: ${waits}` +
          (problem === null ? '' : `. Warning: it ${problem}`),
      ),
    ];
  });
}

async function up(config: CommandConfig, workers: number): Promise<void> {
  await noteDatabase(config);
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
  say(`Ready. Open ${stack.up.url} in your browser. Press Ctrl-C to stop.`);
  say(
    'Sign in with an API key (`key create`), or with a password (`account password`): see README.md.',
  );
  const failure = await Promise.race([untilSignal(), stack.failed]);
  await stack.stop();
  if (failure !== null) throw failure;
}

/** Resolves at the first SIGINT or SIGTERM; later ones are ignored while the stack ends. */
function untilSignal(): Promise<null> {
  return new Promise((resolve) => {
    process.on('SIGINT', () => resolve(null));
    process.on('SIGTERM', () => resolve(null));
  });
}
