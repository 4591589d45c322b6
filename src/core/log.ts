import { type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * A logger that writes JSON lines to stderr, so that stdout stays free for results. Identifiers of
 * people never belong in a log line: log ids, counts and codes.
 */
export function createLog(level: string, process: string): Log {
  return pino(
    { level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination(2),
  );
}
