/** `status`: the service at a glance, for whoever is on call. */
import type { Command } from 'commander';
import type { Config } from '../../src/core/config.ts';
import { openContext } from '../../src/core/context.ts';
import { assertSchemaUsable } from '../../src/core/db/migrate.ts';
import { isUnavailable } from '../../src/core/db/pg-errors.ts';
import { type CopyReport, sayShare } from '../../src/core/graph-copy/report-copy.ts';
import { AppError, unavailable } from '../../src/core/lib/errors.ts';
import { isSeen } from '../../src/jobs/monitor/heartbeat.ts';
import {
  listPausedWallets,
  type OldestBatch,
  type PausedWallet,
  readOldestBatch,
} from '../../src/jobs/monitor/monitor.sql.ts';
import { type Parts, readParts } from '../../src/jobs/monitor/read-parts.ts';
import { openQueueBackend, queueStoreOf } from '../../src/jobs/queue/open-backend.ts';
import { openQueues } from '../../src/jobs/queue/queues.ts';
import { findDatabaseUrl } from '../find-service.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult } from '../output.ts';

const WALLETS_MAX = 20;

export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description(
      'show processes, queue, lag, the oldest list and paused wallets; exit 1 on a problem',
    )
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const status = await readStatus(config);
      printResult(json, view(status, config), sayStatus(status, config));
      if (status.problems.length > 0) process.exitCode = 1;
    });
}

interface Status extends Parts {
  oldest: OldestBatch | null;
  paused: PausedWallet[];
}

/**
 * Reads the status without changing anything. Throws `AppError` 503 `database_unavailable`, and those of a database that is
 * not the service's or not migrated.
 */
async function readStatus(config: Config): Promise<Status> {
  const url = await findDatabaseUrl(config);
  await using context = await openContext({ ...config, logLevel: 'silent' }, url, 'status');
  const { log, watchSql } = context;
  const backend = openQueueBackend(queueStoreOf(config, url), log, 0);
  const queues = openQueues(backend, log);
  try {
    await assertSchemaUsable(watchSql);
    const parts = await readParts({ ...context, queues, config });
    const [oldest = null, paused] = await Promise.all([
      readOldestBatch(watchSql),
      listPausedWallets(watchSql, WALLETS_MAX),
    ]);
    return { ...parts, oldest, paused };
  } catch (error) {
    if (error instanceof AppError || !isUnavailable(error)) throw error;
    throw unavailable(
      'database_unavailable',
      `The database does not respond (${(error as Error).message}). See "Postgres is away or full" in docs/operations.md.`,
      { cause: error },
    );
  } finally {
    await queues.close().catch(() => {});
    await backend.close();
  }
}

function view({ jobs, storage, state, server, problems, oldest, paused }: Status, config: Config) {
  return {
    ok: problems.length === 0,
    problems,
    processes: state.processes.map((one) => ({ ...one, seen: isSeen(one) })),
    queue: {
      kept_in: config.redisUrl === undefined ? 'postgres' : 'redis',
      answers: jobs.value !== null,
      jobs: jobs.value,
      chunks: state.chunks,
    },
    lag: {
      oldest_chunk_seconds: state.oldestChunkSeconds,
      oldest_progress_seconds: state.oldestProgressSeconds,
      oldest_schedule_seconds: state.oldestDueSeconds,
      oldest_delivery_seconds: state.oldestDeliverySeconds,
      replicas: server.replicas,
    },
    batches: state.batches,
    oldest_batch: oldest,
    paused_wallets: paused,
    database: { version: server.version, bytes: server.bytes },
    storage: { kept_in: config.storage.provider, answers: storage.value !== null },
    audits: state.audits,
  };
}

function sayStatus(status: Status, config: Config): string[] {
  const { jobs, storage, state, server, problems, oldest, paused } = status;
  const seen = state.processes.filter(isSeen);
  const count = (counts: { state: string; count: number }[]) =>
    counts.map(({ state: name, count: number }) => `${number} ${name}`).join(', ') || 'none';
  const seconds = (value: number) => `${Math.round(value)} s`;
  const kinds = ['api', 'worker'].map((kind) => {
    const own = seen.filter((one) => one.kind === kind);
    const versions = [...new Set(own.map(({ version }) => version))].join(' and ');
    return `${own.length} ${kind}${versions === '' ? '' : ` (${versions})`}`;
  });
  const replicas = server.replicas.map(
    ({ name, lag_seconds: lag }) => `${name} ${lag === null ? 'lag unknown' : seconds(lag)}`,
  );
  return [
    problems.length === 0 ? 'No problems.' : `${countOf(problems.length, 'problem')}:`,
    ...problems.map((problem) => `  ${problem}`),
    `Processes   ${kinds.join(', ')}`,
    `Database    Postgres ${server.version}, ${Math.ceil(server.bytes / 1_000_000)} MB` +
      (replicas.length === 0 ? '' : `; standbys: ${replicas.join(', ')}`),
    `Queue       in ${config.redisUrl === undefined ? 'Postgres' : 'Redis'}: ${jobs.value === null ? 'does not respond' : 'responds'}; chunks: ${count(state.chunks)}`,
    `Copy        ${sayCopies(seen.flatMap(({ local_copy: report }) => report ?? []))}`,
    `Storage     ${config.storage.provider}: ${sayStorage(storage)}`,
    `Lag         chunk ${seconds(state.oldestChunkSeconds)}, progress ${seconds(state.oldestProgressSeconds)}, schedule ${seconds(state.oldestDueSeconds)}, webhook ${seconds(state.oldestDeliverySeconds)}`,
    `Lists       ${count(state.batches.map((one) => ({ ...one, state: `${one.state} ${one.reason}`.trim() })))}`,
    `Oldest      ${oldest === null ? 'none' : `${oldest.batch_id} of ${oldest.account_id}, ${oldest.state} since ${seconds(oldest.age_seconds)}, ${oldest.rows_processed} of ${oldest.rows_total ?? '?'} rows`}`,
    `Paused      ${paused.length === 0 ? 'no wallet' : `${countOf(paused.length, 'wallet')} without credits`}`,
    ...paused.map(
      ({ account_id: account, batches, credits, since }) =>
        `  ${account}: ${countOf(batches, 'list')} since ${since}, ${countOf(credits, 'credit')}`,
    ),
  ];
}

function sayStorage({ value, failure }: Parts['storage']): string {
  if (value === null) return failure === null ? 'does not respond' : 'cannot be read';
  return value.isOwn ? 'responds' : 'responds, but belongs to another database';
}

/** Describes the local copies of the processes that are seen. */
function sayCopies(reports: readonly CopyReport[]): string {
  const copies = reports.flatMap(({ copy }) => copy ?? []);
  const building = reports.some((report) => report.building)
    ? ', one is being built or published'
    : '';
  if (copies.length === 0) return `no process has one${building}`;
  const changed = Math.max(...copies.map((copy) => copy.changed));
  return `${copies.length} of ${reports.length} processes have one${building}; at most ${changed} records changed since; ${sayShare(reports)}`;
}
