/**
 * One postgres.js client for all, with one type map: bigint columns are JavaScript numbers (checked
 * to be exact), `date` and `timestamp` stay the text that Postgres sends, `timestamptz` is a `Date`,
 * columns are camelCase.
 */
import postgres from 'postgres';
import { assert } from '../lib/assert.ts';

interface TypeMap {
  bigint: number;
  [name: string]: unknown;
}

/** A pool. */
export type Database = postgres.Sql<TypeMap>;
/** A pool or a transaction: what every query function takes first. */
export type Sql = postgres.ISql<TypeMap>;

/** Which graph unqualified table names mean: `graph` for live keys, `graph_test` for test keys. */
export type GraphSchema = 'graph' | 'graph_test';

const OID = { int8: 20, date: 1082, timestamp: 1114 } as const;

const SEARCH_CONNECTION_SECONDS = 300;

export interface ConnectOptions {
  url: string;
  connections: number;
  graph?: GraphSchema;
  /** Milliseconds after which the server ends a session that leaves a transaction open and says nothing. */
  idleTransactionMs?: number;
  /** Milliseconds after which the server ends a statement; 0 is never. */
  statementTimeoutMs?: number;
  /**
   * Plans every statement for the values that it is sent with: dearer by a fraction of a millisecond, and
   * right where one value means ten people and another one a million.
   */
  plansForValues?: boolean;
  /** Seconds that making a connection may take; 30 unless told. */
  connectSeconds?: number;
}

/** A process that froze inside a transaction must not hold its locks for ever; an import may well think. */
const IDLE_TRANSACTION_MS = 30_000;

/** Opens a pool; connections are made on first use. */
export function connect(options: ConnectOptions): Database {
  return postgres<{ bigint: postgres.PostgresType<number> }>(options.url, {
    max: options.connections,
    ...(options.connectSeconds === undefined ? {} : { connect_timeout: options.connectSeconds }),
    // Every form of a filter is a statement that its connection keeps: connections of searches end soon.
    ...(options.plansForValues ? { max_lifetime: SEARCH_CONNECTION_SECONDS } : {}),
    onnotice: () => {},
    // Columns alone: `postgres.camel` would rename the keys inside JSON values too.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    connection: {
      application_name: 'enrichment-pipeline',
      search_path: `${options.graph ?? 'graph'}, public`,
      TimeZone: 'UTC',
      // Every statement here is short and planned once: compiling it costs more than it saves.
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
        parse: (value: string) => {
          const number = Number(value);
          assert(Number.isSafeInteger(number), `bigint ${value} is not exact as a number`);
          return number;
        },
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

/** Runs `work` in one transaction; it commits when `work` resolves and rolls back when it throws. */
export async function inTransaction<T>(sql: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  return (await (sql as Database).begin((tx) => work(tx as unknown as Sql))) as T;
}
