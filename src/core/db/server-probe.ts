/**
 * Asks one server the same question again and again, on a connection that stays open as long as it responds. So it sees
 * a server that does not respond, and connections that are dead although the server responds to new ones: behind a
 * firewall that has forgotten them, or at an address that another machine has by now, no packet of them is answered.
 */
import { connect as openConnection, type Socket } from 'node:net';
import postgres from 'postgres';
import type { DatabaseServer } from '../lib/database-url.ts';
import { Late, within } from '../lib/within.ts';

/** A running server responds in milliseconds; one lost packet is sent again after a second. */
const PROBE_MS_MAX = 2_000;
/** Responses to a newer connection after which an older one that still has none is dead. */
const NEWER_RESPONSES = 3;

interface Connection {
  sql: postgres.Sql;
  /** Returns true when anything came back on it, be it only while it was opened. */
  hasResponded(): boolean;
  destroy(): void;
}

interface Silent extends Pick<Connection, 'destroy'> {
  newerResponses: number;
  /** Time at which the first of them was asked for. */
  newerAskedAt: number;
}

/** A response of a living server. */
const TOO_MANY_CONNECTIONS = '53300';
const noPacketCodes = new Set(['CONNECT_TIMEOUT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']);

export class ServerProbe<State> {
  readonly server: DatabaseServer;
  /** Host and port: its name in logs, metrics and messages. */
  readonly name: string;
  /** As of the last probe; null when that failed. */
  state: State | null = null;
  /** Failed probes in a row. One that the server refuses because it has too many connections is none. */
  misses = 0;
  /** Probes in a row to which nothing came back, not even an error. */
  silences = 0;
  /** Reason why there is no state. */
  reason = 'was not asked yet';
  readonly #ask: (sql: postgres.Sql) => Promise<State>;
  #connection: Connection | null = null;
  /** A connection that responded before and does not any more. */
  #silent: Silent | null = null;

  constructor(server: DatabaseServer, ask: (sql: postgres.Sql) => Promise<State>) {
    this.server = server;
    this.name = `${server.host}:${server.port}`;
    this.#ask = ask;
  }

  /** Asks the server for its state. Never rejects. */
  async probe(): Promise<void> {
    this.#connection ??= open(this.server);
    const connection = this.#connection;
    const askedAt = performance.now();
    const response = this.#ask(connection.sql);
    try {
      this.state = await within(PROBE_MS_MAX, response);
      [this.misses, this.silences] = [0, 0];
      if (this.#silent !== null) noteNewer(this.#silent, askedAt);
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      this.state = null;
      const isFull = code === TOO_MANY_CONNECTIONS;
      this.misses = isFull ? 0 : this.misses + 1;
      this.reason = `${isFull ? 'has no connection left' : 'does not respond'} (${code ?? message})`;
      const isLate = error instanceof Late;
      this.silences = isLate || noPacketCodes.has(code ?? '') ? this.silences + 1 : 0;
      this.#connection = null;
      if (isLate && connection.hasResponded() && this.#silent === null) {
        this.#awaitLate(connection, response);
      } else connection.destroy();
    }
  }

  /**
   * Returns the time, on the clock of `performance`, since when connections that have received nothing are dead; null
   * when none are known to be. Each such time is returned once. It is later than the question that was not answered:
   * other connections may have received something after that, and died before the answer.
   */
  takeDeadSince(): number | null {
    const silent = this.#silent;
    if (silent === null || silent.newerResponses < NEWER_RESPONSES) return null;
    this.#silent = null;
    silent.destroy();
    return silent.newerAskedAt;
  }

  close(): void {
    this.#connection?.destroy();
    this.#connection = null;
    this.#silent?.destroy();
    this.#silent = null;
  }

  /** Keeps a silent connection: when it responds or breaks after all, it was not dead. */
  #awaitLate({ destroy }: Connection, response: Promise<unknown>): void {
    const silent = { newerResponses: 0, newerAskedAt: 0, destroy };
    this.#silent = silent;
    const end = () => {
      if (this.#silent === silent) this.#silent = null;
      destroy();
    };
    response.then(end, end);
  }
}

function noteNewer(silent: Silent, askedAt: number): void {
  if (silent.newerResponses === 0) silent.newerAskedAt = askedAt;
  silent.newerResponses += 1;
}

/** A connection that is not counted, and does not keep the process alive. */
function open({ url, host, port }: DatabaseServer): Connection {
  let socket: Socket | null = null;
  const options = {
    max: 1,
    connect_timeout: PROBE_MS_MAX / 1_000,
    max_lifetime: null,
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: { application_name: 'enrichment-pipeline probe' },
    socket: () => {
      socket = openConnection(port, host).unref();
      return Object.assign(socket, { host, port });
    },
  };
  const sql = postgres(url, options as never);
  return {
    sql,
    hasResponded: () => (socket?.bytesRead ?? 0) > 0,
    destroy() {
      void sql.end({ timeout: 0 }).catch(() => {});
      socket?.destroy();
    },
  };
}
