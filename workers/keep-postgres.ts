/**
 * The embedded server for as long as the service runs: when it ends by itself it is started again on
 * the same files, and recovers what was committed. API and workers reconnect by themselves. While the disk
 * is full it cannot start; the start is repeated until there is room.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import { ensureBallast, releaseBallast } from '../infra/embedded/ballast.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../infra/embedded/embedded-postgres.ts';
import { isOfFullDisk } from '../src/core/db/pg-errors.ts';
import type { Log } from '../src/core/log.ts';
import { metrics } from '../src/core/metrics.ts';

/** Between two starts on a full disk: the first pause, doubled each time up to the last. */
const PAUSE_MS = { first: 1_000, last: 15_000 };
/** Interval of the attempts to recreate the ballast after it was used. */
const BALLAST_MS = 60_000;

const FULL_MESSAGE =
  'the disk is full: the database starts again when there is room, delete or move what is not needed';

const waiting = new Gauge({
  name: 'enrich_database_waits_for_space',
  help: '1 while the embedded database cannot start because its disk is full.',
  registers: [metrics],
});

export interface KeptPostgres {
  /** The address at the first start; later ones differ only when another program took the port. */
  url: string;
  pid: number;
  /**
   * Calls back with the address and the pid of each later start. Resolves with the reason when the
   * server ended and does not start again; else stays pending. Call once.
   */
  watch(onRestart: (server: { url: string; pid: number }) => Promise<void>): Promise<string>;
  /** Stops the server, even while it is starting. */
  stop(): Promise<void>;
}

/**
 * Starts the server of the data folder; on a full disk it waits for room. Throws as `startEmbeddedPostgres`.
 */
export async function keepPostgres(dataDir: string, log: Log): Promise<KeptPostgres> {
  const stopping = new AbortController();
  const start = (again: boolean) => startWithRoom({ dataDir, again }, log, stopping.signal);
  const first = await start(false);
  let current: Promise<EmbeddedPostgres> = Promise.resolve(first);
  await ensureBallast(dataDir);
  let isStarting = false;
  const timer = setInterval(() => {
    // A server that is just starting needs the room itself.
    if (!isStarting) void ensureBallast(dataDir);
  }, BALLAST_MS);
  return {
    url: first.url,
    pid: first.pid,
    async watch(onRestart) {
      while (true) {
        const reason = await (await current).exited;
        if (stopping.signal.aborted) return reason;
        log.error({ reason }, 'the database ended, restarting it');
        isStarting = true;
        current = start(true);
        try {
          const server = await current;
          isStarting = false;
          log.warn({ pid: server.pid }, 'the database is back');
          await onRestart(server);
        } catch (error) {
          return `${reason} It does not start again: ${error}`;
        }
      }
    },
    async stop() {
      stopping.abort();
      clearInterval(timer);
      const server = await current.catch(() => null);
      await server?.stop();
    },
  };
}

async function startWithRoom(
  { dataDir, again }: { dataDir: string; again: boolean },
  log: Log,
  stopping: AbortSignal,
): Promise<EmbeddedPostgres> {
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.last)) {
    try {
      const server = await startEmbeddedPostgres({ dataDir, again, log: (line) => log.info(line) });
      waiting.set(0);
      return server;
    } catch (error) {
      if (stopping.aborted || !(await isOfFullDisk(error, dataDir))) throw error;
      waiting.set(1);
      const reserve = await releaseBallast(dataDir);
      log.error({ reason: String(error), reserve: reserve ? 'released' : 'none' }, FULL_MESSAGE);
      // With the reserve there is room at once.
      if (!reserve) await delay(pauseMs, undefined, { signal: stopping }).catch(() => {});
      if (stopping.aborted) throw error;
    }
  }
}
