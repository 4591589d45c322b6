/** Classifies errors of databases and storage: temporarily unavailable, for lack of space, or cancelled. */
import { DISK_FULL_BYTES, readFreeBytes } from '../lib/free-space.ts';

/** Codes of postgres.js and Node for connections, and of Postgres for starting and stopping. */
const unavailableCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  // Of the servers of the URL none accepts writes, as before the promotion of a standby.
  'NO_PRIMARY',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // The certificate of the server: the log has the code.
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  // admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections, out_of_memory, disk_full, io_error
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '53200',
  '53100',
  '58030',
  // read_only_sql_transaction: the primary has become a standby.
  '25006',
  // idle_in_transaction_session_timeout: this process was frozen for a while.
  '25P03',
  // serialization_failure, deadlock_detected: the same work succeeds when it is repeated.
  '40001',
  '40P01',
  // lock_not_available: a process that froze may have it, for seconds.
  '55P03',
  // query_canceled, by an operator. Who limits the time of a statement asks for `isCancelled` first, or for the time:
  // `limitTime`.
  '57014',
]);

/** Codes of files: no space or quota, a disk that is broken or read-only, too many open files. */
const fileCodes = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE']);

/** Of Node and of Postgres (disk_full). */
const spaceCodes = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Our own, of a server that ended or did not start. */
const serverEndedCodes = new Set(['embedded_postgres_failed', 'database_unavailable']);

/** Printed by Postgres and its tools. */
const NO_SPACE = /No space left on device|Disk quota exceeded/;

/** Returns true for a transient error. */
export function isUnavailable(error: unknown): boolean {
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown };
  const isNamed = typeof code === 'string' && unavailableCodes.has(code);
  return isNamed || status === 503 || isOfFiles(error);
}

/**
 * Returns true for a transient error of the files of this machine. A recursive `mkdir` of Node fails with ENOENT on a disk that
 * has no inode left for the folder.
 */
export function isOfFiles(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return fileCodes.has(String(code)) || (code === 'ENOENT' && syscall === 'mkdir');
}

/** Returns true for a statement that Postgres refused because its disk is full (`disk_full`). */
export function isDiskFull(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '53100';
}

/**
 * Returns true for an error of the embedded server, of a connection to it, or of its files in `folder`, that a full disk causes.
 * Such a server may end, so that all that is left to see is a closed connection or its last lines.
 */
export async function isOfFullDisk(error: unknown, folder: string): Promise<boolean> {
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string };
  if (spaceCodes.has(code)) return true;
  if (!unavailableCodes.has(code) && !serverEndedCodes.has(code)) return false;
  return NO_SPACE.test(message) || (await readFreeBytes(folder)) < DISK_FULL_BYTES;
}

/** Returns true for a statement that Postgres ended early: by a timeout or a cancellation. */
export function isCancelled(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '57014';
}
