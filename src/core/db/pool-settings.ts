/** How connections are set up by what they are for, on the primary and on replicas alike. */
import type { Config } from '../config.ts';
import type { ConnectOptions } from './client.ts';

/**
 * Shorter than the lease of a chunk (15 s): what a worker that froze has locked is free when its chunks are
 * taken back. No transaction of a running process is idle for so long.
 */
const IDLE_TRANSACTION_MS = 10_000;

/** Searches have a time to end in, and statements that are planned for their values. */
export type PoolUse = 'any' | 'searches';

export function poolSettings(config: Config): Record<PoolUse, Omit<ConnectOptions, 'url'>> {
  const connections = config.databaseConnections;
  const any = { connections, idleTransactionMs: IDLE_TRANSACTION_MS };
  const { searchTimeoutMs: statementTimeoutMs } = config;
  return { any, searches: { ...any, statementTimeoutMs, plansForValues: true } };
}
