/** What errors of databases and storage mean: away for a moment and nobody's fault, or cancelled. */

/** Codes of postgres.js and Node about connections, and of Postgres about starting and stopping. */
const unavailableCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOSPC',
  'EIO',
  'EMFILE',
  // admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections, out_of_memory, disk_full, io_error
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '53200',
  '53100',
  '58030',
  // idle_in_transaction_session_timeout: this process did not get to run for a while.
  '25P03',
  // serialization_failure, deadlock_detected: the same work succeeds when it is done again.
  '40001',
  '40P01',
]);

/** True for an error that passes by itself. */
export function isUnavailable(error: unknown): boolean {
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown };
  return (typeof code === 'string' && unavailableCodes.has(code)) || status === 503;
}

/** True for a statement that Postgres ended before its result: by a timeout or a cancellation. */
export function isCancelled(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '57014';
}
