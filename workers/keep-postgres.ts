/**
 * The embedded server for as long as the service runs: when it ends by itself it is started again on
 * the same files, and recovers what was committed. API and workers reconnect by themselves.
 */
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../infra/embedded/embedded-postgres.ts';
import type { Log } from '../src/core/log.ts';

export interface KeptPostgres {
  /** The address at the first start; later ones differ only when another program took the port. */
  url: string;
  pid: number;
  /**
   * Calls back with the address and the pid of each later start. Resolves with the reason when the
   * server ended and does not start again; else stays pending. Call once.
   */
  watch(onRestart: (server: { url: string; pid: number }) => Promise<void>): Promise<string>;
  /** Stops the server, also one that is just starting. */
  stop(): Promise<void>;
}

/** Starts the server of the data folder. Throws as `startEmbeddedPostgres`. */
export async function keepPostgres(dataDir: string, log: Log): Promise<KeptPostgres> {
  const start = () => startEmbeddedPostgres({ dataDir, log: (line) => log.info(line) });
  const first = await start();
  let current: Promise<EmbeddedPostgres> = Promise.resolve(first);
  let stopping = false;
  return {
    url: first.url,
    pid: first.pid,
    async watch(onRestart) {
      while (true) {
        const reason = await (await current).exited;
        if (stopping) return reason;
        log.error({ reason }, 'the database ended, starting it again');
        current = start();
        try {
          const server = await current;
          log.warn({ pid: server.pid }, 'the database is back');
          await onRestart(server);
        } catch (error) {
          return `${reason} It does not start again: ${error}`;
        }
      }
    },
    async stop() {
      stopping = true;
      const server = await current.catch(() => null);
      await server?.stop();
    },
  };
}
