import { writeSync } from 'node:fs';
import { stderr } from 'node:process';
import { type Logger, pino } from 'pino';
import { harmless, harmlessJson } from './lib/harmless-text.ts';

export type Log = Logger;

/** Maximum wait of one line for a full pipe. The rest of the line is then dropped. */
const PIPE_MS_MAX = 1_000;
const RETRY_MS = 5;

/** True when the last line was dropped because the pipe was full. Further lines then do not wait. */
let isPipeStuck = false;

// Stderr may be a file on a full disk. A direct write to the stream must not end the process either.
stderr.on('error', () => {});

/**
 * Writes the line to stderr before it returns, and drops what cannot be written. Pino's own destination ends the
 * process when the disk is full, and waits forever for a pipe that is not read.
 */
function writeLine(line: string): void {
  let rest: Buffer = Buffer.from(line);
  // A clock that is set back does not lengthen the wait.
  const deadline = performance.now() + PIPE_MS_MAX;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest));
      isPipeStuck = false;
    } catch (error) {
      const isPipeFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
      if (!isPipeFull || isPipeStuck || performance.now() > deadline) {
        isPipeStuck = isPipeFull;
        return;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/**
 * Returns a line of the log as a person reads it in a terminal, such as
 * `12:04:31 warn api: process ended, restarting it pid=77`; the stack of an error follows.
 */
export function toPlainLine(json: string): string {
  const { time, level, process, msg, err, ...given } = JSON.parse(json) as Record<string, unknown>;
  const { stack: ofWarning, ...rest } = given as { stack?: string };
  const { stack = ofWarning } = (err ?? {}) as { stack?: string };
  const members = Object.entries(rest).map(([name, value]) => {
    return `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`;
  });
  const head = `${String(time).slice(11, 19)} ${pino.levels.labels[Number(level)]} ${process}:`;
  const text = [head, ...(msg === undefined ? [] : [msg]), ...members].join(' ');
  const lines = [text, ...(stack === undefined ? [] : stack.split('\n'))];
  return lines.map((line) => `${harmless(line)}\n`).join('');
}

/**
 * Describes an error for the log. Postgres quotes the values of a statement in `detail` and `where`, which may be those of
 * people.
 */
export function describeError(error: Error): object {
  return { ...pino.stdSerializers.err(error), detail: undefined, where: undefined };
}

/**
 * Returns a logger that writes JSON lines to stderr, in a terminal plain lines; stdout stays free for results. Personal
 * identifiers never belong in a log line: log ids, counts and codes.
 */
export function createLog(level: string, process: string): Log {
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
    },
    { write: (line) => writeLine(stderr.isTTY ? toPlainLine(line) : harmlessJson(line)) },
  );
}

/**
 * Makes the warnings of Node and of libraries lines of the log: Node prints them as text, between lines of JSON. Of their
 * members only these: one of too many listeners has the socket or request that it is about.
 */
export function logWarnings(log: Pick<Log, 'warn'>): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, stack, code }: Error & { code?: string }) =>
    log.warn({ warning: name, code, stack }, message),
  );
}
