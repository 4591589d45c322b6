/** Connection settings by use, the same on the primary and on replicas. */
import type { Config } from '../config.ts';
import type { ConnectOptions } from './client.ts';

/**
 * Shorter than the lease of a chunk (12 s): the locks of a frozen worker are released before its chunks are
 * reclaimed. No transaction of a running process is idle for that long.
 */
const IDLE_TRANSACTION_MS = 10_000;

/** Searches have a statement timeout, and statements that are planned for their values. */
export type PoolUse = 'any' | 'searches';

export function poolSettings(config: Config): Record<PoolUse, Omit<ConnectOptions, 'url'>> {
  const connections = config.databaseConnections;
  const any = { connections, idleTransactionMs: IDLE_TRANSACTION_MS };
  const { searchTimeoutMs: statementTimeoutMs } = config;
  return { any, searches: { ...any, statementTimeoutMs, plansForValues: true } };
}
