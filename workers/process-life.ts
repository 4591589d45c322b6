/**
 * How a process of the stack ends: on a signal, or when its supervisor is gone in any way. A process
 * that `up` started ignores Ctrl-C, which reaches the whole terminal group: the supervisor ends its
 * children in order.
 */
import { once } from 'node:events';
import { AppError } from '../src/core/lib/errors.ts';
import type { Log } from '../src/core/log.ts';

const DRAIN_MS_MAX = 30_000;
/** Without the supervisor the embedded database ends as well, so work that waits for it can never finish. */
const ABANDONED_MS_MAX = 5_000;

/**
 * The argument that a supervisor of ours starts a process with. An IPC channel alone says nothing: `node --watch` and other
 * process managers open one too, and neither answer messages nor end their children in order.
 */
export const SUPERVISED = 'supervised';
const isSupervised = process.argv.includes(SUPERVISED);

/** Calls `end` once, on the first reason to stop; exits 0 when it resolves, 1 when it fails or hangs. */
export function shutDownGracefully(end: () => Promise<void>): void {
  let ending = false;
  const stop = (limitMs: number) => {
    setTimeout(() => process.exit(1), limitMs).unref();
    if (ending) return;
    ending = true;
    end().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  const drain = () => stop(DRAIN_MS_MAX);
  const abandon = () => stop(ABANDONED_MS_MAX);
  process.on('SIGTERM', drain);
  process.on('SIGINT', isSupervised ? () => {} : drain);
  if (isSupervised) process.on('disconnect', abandon);
  // The supervisor may have died while this process was still loading.
  if (isSupervised && !process.connected) abandon();
}

/**
 * Runs a process of the stack. An error that keeps it from starting is sent to the supervisor, which throws
 * the same; without one, or when it is not one of ours, it is printed as by a command.
 */
export async function startReporting(start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    if (error instanceof AppError && isSupervised) {
      const { code, status, message } = error;
      process.send?.({ failed: { code, status, message } }, () => process.exit(1));
      return;
    }
    const { explainError } = await import('./explain-error.ts');
    const { message, exitCode } = explainError(error);
    process.stderr.write(`error: ${message}\n`, () => process.exit(exitCode));
  }
}

/** Ends the process when its queue can never be used: the supervisor, or a service manager, starts it again. */
export function exitWhenQueueUnusable(log: Log): (error: unknown) => void {
  return (error) => {
    log.fatal({ err: error }, 'queue unreachable, exiting');
    process.exit(1);
  };
}

/**
 * Tells the supervisor that this process is ready, and where it listens. Resolves when the supervisor answers that others
 * can find it there.
 */
export async function reportReady(message: Record<string, string>): Promise<void> {
  if (!isSupervised) return;
  const known = once(process, 'message');
  process.send?.({ ready: message });
  await known;
}
