/** Turns an error into what the command line prints and returns. */
import { CommanderError } from 'commander';
import { ProblemError, UnreachableError } from '../src/client/client.ts';
import { isDiskFull, isOfFiles, isUnavailable } from '../src/core/db/pg-errors.ts';
import { AppError } from '../src/core/lib/errors.ts';

/** `ENOENT: no such file or directory, open 'leads.csv'`: the words between the code and the system call. */
const SYSTEM_ERROR = /^[A-Z0-9]+: (.+?), [a-z]+(?: '.*')?$/s;

/** `invalid_authorization_specification`, `invalid_password` and `invalid_catalog_name` of Postgres. */
const REFUSED = /^(28000|28P01|3D000)$/;

/** Refusals that docs/operations.md explains, and lists by their code. */
const EXPLAINED: ReadonlySet<number> = new Set([409, 500, 503]);

/**
 * Returns the sentence for an error, with the code of a refusal, and the exit code of the process: 1 for a failure, 2 for
 * wrong usage. The message is null when commander has printed it already; that of a bug contains the stack.
 */
export function explainError(error: unknown): { message: string | null; exitCode: number } {
  // Help and version end like errors, with code 0.
  if (error instanceof CommanderError) {
    return { message: null, exitCode: error.exitCode === 0 ? 0 : 2 };
  }
  if (error instanceof AppError) {
    const code = EXPLAINED.has(error.status) ? ` (${error.code})` : '';
    return { message: error.message + code, exitCode: error.code === 'usage' ? 2 : 1 };
  }
  return { message: describeFailure(error), exitCode: 1 };
}

function describeFailure(error: unknown): string {
  if (error instanceof ProblemError || error instanceof UnreachableError) return error.message;
  // This is how fetch reports a body that ended early, as when the service is stopped during a download.
  if (error instanceof TypeError && error.message === 'terminated') {
    return 'The response was cut off before its end. Repeat the command.';
  }
  const { code, syscall, path } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (!(error instanceof Error)) return String(error);
  if (isDiskFull(error)) {
    return `the disk of the database is full: ${error.message}. Free some space, and repeat the command.`;
  }
  if (REFUSED.test(String(code))) {
    return `the database refuses the connection: ${error.message}. Correct the user, the password and the name of the database in DATABASE_URL.`;
  }
  if (isUnavailable(error) && !isOfFiles(error)) {
    return `the database does not respond: ${error.message} (${code}). Check DATABASE_URL, and that the server is running.`;
  }
  // This is how fetch reports a folder, and a file that changes while it is sent.
  if (error.name === 'NotReadableError') {
    return 'The file cannot be read: it is a folder, or was changed while it was sent.';
  }
  // A file that is absent, unreadable or cannot be written.
  if (typeof syscall === 'string') {
    const words = SYSTEM_ERROR.exec(error.message)?.[1] ?? error.message;
    return path === undefined ? words : `${path}: ${words}.`;
  }
  return error.stack ?? error.message;
}
