/** Watches the servers of a URL for all pools of the process, of both drivers, as long as one has a connection. */
import { connect as openConnection, Socket } from 'node:net';
import type { DatabaseServer } from '../lib/database-url.ts';
import type { Log } from '../log.ts';
import type { ServerProbe } from './server-probe.ts';
import { WatchedSockets } from './watched-sockets.ts';

const PROBE_EVERY_MS = 1_000;

export abstract class ServerWatch {
  protected readonly sockets = new WatchedSockets(() => this.#stop());
  #round: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Receives every change. */
  log: Pick<Log, 'warn'> | null = null;

  /** For the drivers, which read user, database and TLS from it. */
  abstract get url(): string;
  /** Returns the server to connect to. */
  abstract find(): Promise<DatabaseServer>;
  protected abstract get probes(): readonly ServerProbe<unknown>[];
  /** Probes every server and acts on what it finds. */
  protected abstract probeOnce(): Promise<void>;
  /** Returns false for a server whose connections are to be destroyed. */
  protected abstract isUsed(server: DatabaseServer): boolean;
  /** Called when the last connection has closed. */
  protected abstract onIdle(): void;

  /** Opens a connection. Never rejects: a socket without a server emits an error. */
  async openSocket(): Promise<Socket> {
    try {
      const server = await this.find();
      const socket = openConnection(server.port, server.host);
      this.track(socket, server);
      // The driver checks the certificate against this.
      return Object.assign(socket, { host: server.host, port: server.port });
    } catch (error) {
      const socket = new Socket();
      // The driver begins to listen once it has the socket.
      setImmediate(() => socket.destroy(error as Error));
      return socket;
    }
  }

  /** Destroys the socket once its server is not to be used any more, or no longer responds. */
  track(socket: Socket, server: DatabaseServer): void {
    this.sockets.add(socket, server);
    // The server may have changed since it was found.
    if (!this.isUsed(server)) setImmediate(() => socket.destroy());
    this.#timer ??= setInterval(() => this.#tick(), PROBE_EVERY_MS).unref();
  }

  #tick(): void {
    this.sockets.note();
    if (this.sockets.size > 0) void this.probeAll();
  }

  protected probeAll(): Promise<void> {
    this.#round ??= this.#probeAll().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #probeAll(): Promise<void> {
    this.sockets.note();
    await this.probeOnce();
    for (const probe of this.probes) this.#endDead(probe);
  }

  /** Ends connections that have received nothing since a newer one was answered and one of their age was not. */
  #endDead(probe: ServerProbe<unknown>): void {
    const since = probe.takeDeadSince();
    if (since === null) return;
    this.sockets.note();
    const connections = this.sockets.destroy(
      ({ server, heardAt }) => server === probe.server && heardAt <= since,
    );
    this.log?.warn({ server: probe.name, connections }, 'dead connections to the database ended');
  }

  /** Nothing uses the database: the next connection begins anew. */
  #stop(): void {
    clearInterval(this.#timer ?? undefined);
    this.#timer = null;
    this.onIdle();
    for (const probe of this.probes) probe.close();
  }
}
