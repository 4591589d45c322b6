/**
 * The one postgres.js client, with one type map: bigint columns are JavaScript numbers (checked to be exact),
 * `date` and `timestamp` stay the text that Postgres sends, `timestamptz` is a `Date`, columns are camelCase.
 */
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { Gauge, Histogram } from 'prom-client';
import { assert } from '../lib/assert.ts';
import { toStorableJson } from '../lib/storable-json.ts';
import { metrics } from '../metrics.ts';
import { watchServers } from './watch-servers.ts';

interface TypeMap {
  bigint: number;
  [name: string]: unknown;
}

export type Database = postgres.Sql<TypeMap>;
/** A pool or a transaction: the first parameter of every query function. */
export type Sql = postgres.ISql<TypeMap>;

/** The graph of unqualified table names: `graph` for live keys, `graph_test` for test keys. */
export type GraphSchema = 'graph' | 'graph_test';

const OID = {
  int8: 20,
  int8Array: 1016,
  json: 114,
  jsonb: 3802,
  date: 1082,
  timestamp: 1114,
} as const;

const SEARCH_CONNECTION_SECONDS = 300;

export interface ConnectOptions {
  url: string;
  connections: number;
  graph?: GraphSchema;
  /** Milliseconds after which the server ends a session that is idle in a transaction. */
  idleTransactionMs?: number;
  /** Milliseconds after which the server ends a statement; 0 for never. */
  statementTimeoutMs?: number;
  /**
   * Plans every statement for its values: costs a fraction of a millisecond more, and is right where one value
   * matches ten people and another a million.
   */
  plansForValues?: boolean;
  /** Maximum seconds to open a connection; 30 by default. */
  connectSeconds?: number;
}

/** Upper bound of the measured wait, recorded when a pool does not respond. */
const POOL_WAIT_MS_MAX = 2_000;

/** A process that froze inside a transaction must not hold its locks forever; an import may take its time. */
const IDLE_TRANSACTION_MS = 30_000;

/**
 * Longest pause between two attempts to connect; each also waits for a random part of it. The driver's own limit of 20 s
 * would keep callers waiting long after the server's return.
 */
const RETRY_SECONDS_MAX = 0.5;

function pauseBeforeRetry(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(3 ** failures / 100, RETRY_SECONDS_MAX);
}

/**
 * Opens a pool; connections are opened on first use, and ended when their server no longer responds. With several
 * servers in the URL, all connections are to the primary, and a statement without one rejects with the code
 * `NO_PRIMARY`.
 */
export function connect(options: ConnectOptions): Database {
  const servers = watchServers(options.url);
  return postgres<{ bigint: postgres.PostgresType<number> }>(servers?.url ?? options.url, {
    max: options.connections,
    backoff: pauseBeforeRetry as never,
    ...(servers === null ? {} : { socket: () => servers.openSocket() }),
    ...(options.connectSeconds === undefined ? {} : { connect_timeout: options.connectSeconds }),
    // A connection keeps a prepared statement for each form of a short filter: connections of searches are short-lived.
    ...(options.plansForValues ? { max_lifetime: SEARCH_CONNECTION_SECONDS } : {}),
    onnotice: () => {},
    // Column names only: `postgres.camel` would rename the keys inside JSON values too.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    connection: {
      application_name: 'enrichment-pipeline',
      search_path: `${options.graph ?? 'graph'}, public`,
      TimeZone: 'UTC',
      // Every statement is short and planned once: compiling it costs more than it saves.
      jit: 'off',
      idle_in_transaction_session_timeout: options.idleTransactionMs ?? IDLE_TRANSACTION_MS,
      statement_timeout: options.statementTimeoutMs ?? 0,
      plan_cache_mode: options.plansForValues ? 'force_custom_plan' : 'auto',
    } as never,
    types: {
      bigint: {
        to: OID.int8,
        from: [OID.int8],
        serialize: (value: number) => String(value),
        parse: parseBigint,
      },
      // The driver's own arrays take ten times as long: it quotes each number, and reads them letter by letter.
      bigints: {
        to: OID.int8Array,
        from: [OID.int8Array],
        serialize: (values: readonly (number | null)[]) =>
          `{${values.map((value) => value ?? 'null').join()}}`,
        parse: parseBigints,
      },
      json: {
        to: OID.json,
        from: [OID.json, OID.jsonb],
        serialize: toStorableJson,
        parse: JSON.parse,
      },
      plainDate: {
        to: OID.date,
        from: [OID.date, OID.timestamp],
        serialize: String,
        parse: String,
      },
    } as never,
  }) as unknown as Database;
}

function parseBigint(text: string): number {
  const number = Number(text);
  assert(Number.isSafeInteger(number), `bigint ${text} is not exact as a number`);
  return number;
}

/** Reads an array of one dimension, `{1,NULL}`. */
function parseBigints(text: string): (number | null)[] {
  if (text === '{}') return [];
  const values = text.slice(1, -1).split(',');
  return values.map((value) => (value === 'NULL' ? null : parseBigint(value)));
}

const transactionWait = new Histogram({
  name: 'enrich_transaction_wait_seconds',
  help: 'Time until a transaction has a connection of its pool and has begun.',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  registers: [metrics],
});

const transactionsOpen = new Gauge({
  name: 'enrich_transactions_open',
  help: 'Transactions of this process that have begun or wait for a connection.',
  registers: [metrics],
});

/** Runs `work` in one transaction; it commits when `work` resolves and rolls back when it throws. */
export async function inTransaction<T>(sql: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  const stopWaiting = transactionWait.startTimer();
  transactionsOpen.inc();
  try {
    return (await (sql as Database).begin((tx) => {
      stopWaiting();
      return work(tx as unknown as Sql);
    })) as T;
  } finally {
    transactionsOpen.dec();
  }
}

/**
 * Runs `work` in one transaction of a reserved connection, as `inTransaction` does on one of the pool. Throws when the
 * connection has ended since it was reserved.
 */
export async function inReservedTransaction<T>(
  connection: Sql,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  await connection`begin`;
  try {
    const result = await work(connection);
    const { command } = await connection`commit`;
    assert(command === 'COMMIT', 'a failed statement was passed over');
    return result;
  } catch (error) {
    // The failure itself matters more; a connection that has ended has rolled back.
    await connection`rollback`.catch(() => {});
    throw error;
  }
}

/**
 * Returns the pool with transactions that take turns and all begin with `first`. `inTurn` calls the function that
 * it is given when a transaction may take a connection. A transaction in which `first` throws is rolled back.
 * `inTransaction` throws what either throws. Statements outside a transaction go to the pool unchanged.
 */
export function beginningWith(
  pool: Database,
  inTurn: <T>(transaction: () => Promise<T>) => Promise<T>,
  first: (tx: Sql) => Promise<void>,
): Database {
  const begin = (work: (tx: Sql) => Promise<unknown>) =>
    inTurn(() =>
      pool.begin(async (tx) => {
        await first(tx as unknown as Sql);
        return work(tx as unknown as Sql);
      }),
    );
  return new Proxy(pool, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  });
}

/**
 * Registers a gauge that measures an empty statement at every reading of the metrics. postgres.js does not report
 * how many of its connections are busy; callers feel this wait.
 */
export function watchPool(pool: Database): void {
  new Gauge({
    name: 'enrich_pool_wait_seconds',
    help: 'Time of an empty statement through the pool at the time of the reading: the wait for a connection plus the round trip.',
    registers: [metrics],
    async collect() {
      const start = performance.now();
      const answered = pool`select`.catch(() => {});
      await Promise.race([answered, delay(POOL_WAIT_MS_MAX, undefined, { ref: false })]);
      this.set((performance.now() - start) / 1000);
    },
  });
}
