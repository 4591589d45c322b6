import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';

export type Log = Logger;

/** How long a line waits while the pipe is full. Then the rest of it is dropped. */
const PIPE_MS_MAX = 1_000;
const RETRY_MS = 5;

/** Whether the last line was dropped because the pipe was full. Further lines do not wait then. */
let isPipeStuck = false;

// Stderr may be a file on a full disk. What writes to the stream directly must not end the process either.
process.stderr.on('error', () => {});

/**
 * Writes the line to stderr before it returns, and drops what cannot be written. Pino's own destination ends the
 * process when the disk is full, and waits forever for a pipe that is not read.
 */
function writeLine(line: string): void {
  let rest: Buffer = Buffer.from(line);
  const deadline = Date.now() + PIPE_MS_MAX;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest));
      isPipeStuck = false;
    } catch (error) {
      const isPipeFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
      if (!isPipeFull || isPipeStuck || Date.now() > deadline) {
        isPipeStuck = isPipeFull;
        return;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/**
 * A logger that writes JSON lines to stderr, so that stdout stays free for results. Identifiers of
 * people never belong in a log line: log ids, counts and codes.
 */
export function createLog(level: string, process: string): Log {
  return pino(
    { level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: writeLine },
  );
}
