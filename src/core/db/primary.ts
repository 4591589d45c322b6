/**
 * The primary among the servers of a DATABASE_URL that names several. One watch of a process serves all its pools, of
 * both drivers: it probes every server each second, opens connections to the primary alone, and destroys those to a
 * server that is not the primary any more, which makes the drivers connect again.
 *
 * The primary is the server that accepts writes with the highest timeline, a number that Postgres raises at every
 * promotion. So an old primary that comes back is never chosen again, by a process that has seen the new one or can
 * reach it.
 */
import { connect as openConnection, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import postgres from 'postgres';
import { Gauge } from 'prom-client';
import { type DatabaseServer, readDatabaseUrl } from '../lib/database-url.ts';
import { within } from '../lib/within.ts';
import type { Log } from '../log.ts';
import { metrics } from '../metrics.ts';

const PROBE_EVERY_MS = 1_000;
/** A running server responds in milliseconds; one lost packet is sent again after a second. */
const PROBE_MS_MAX = 2_000;
/** Failed probes in a row after which the connections to a silent primary are given up: some eight seconds. */
const MISSES_MAX = 3;

const primaryGauge = new Gauge({
  name: 'enrich_database_primary',
  help: '1 for the server of DATABASE_URL that this process writes to, 0 for its others; only with several servers.',
  labelNames: ['server'],
  registers: [metrics],
});

/** The answer of a server to a probe. */
interface State {
  acceptsWrites: boolean;
  /** 0 unless it accepts writes. */
  timeline: number;
  systemIdentifier: string;
}

interface Member {
  server: DatabaseServer;
  /** Host and port: its name in logs, metrics and messages. */
  name: string;
  probe: Probe | null;
  /** As of the last probe; null when that failed. */
  state: State | null;
  misses: number;
  /** Reason why it is not the primary. */
  reason: string;
}

interface Probe {
  sql: postgres.Sql;
  destroy(): void;
}

/** No server accepts writes: temporary, as during a failover. */
class NoPrimary extends Error {
  override readonly name = 'NoPrimary';
  readonly code = 'NO_PRIMARY';
}

const watches = new Map<string, PrimaryWatch>();

/** Returns the watch of a URL with several servers, one for the whole process; null for a URL with one server. */
export function watchPrimary(url: string): PrimaryWatch | null {
  const known = watches.get(url);
  if (known !== undefined) return known;
  const servers = readDatabaseUrl(url);
  if (servers.length === 1) return null;
  const watch = new PrimaryWatch(servers);
  watches.set(url, watch);
  return watch;
}

export class PrimaryWatch {
  readonly #members: readonly Member[];
  readonly #sockets = new Map<Duplex, Member>();
  #primary: Member | null = null;
  /** The primary, or the one before it while there is none. */
  #last: Member | null = null;
  /** Highest timeline, and the identity, of any primary so far: no server with another identity is used. */
  #timeline = 0;
  #systemIdentifier: string | null = null;
  #round: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Receives every change of the primary. */
  log: Pick<Log, 'warn'> | null = null;

  constructor(servers: readonly DatabaseServer[]) {
    this.#members = servers.map((server) => {
      const name = `${server.host}:${server.port}`;
      return { server, name, probe: null, state: null, misses: 0, reason: 'was not asked yet' };
    });
  }

  /** A URL with one of the servers: for the drivers, which read user, database and TLS from it. */
  get url(): string {
    return (this.#members[0] as Member).server.url;
  }

  /** Returns the primary. Rejects with the code `NO_PRIMARY`, after one round of probes, when there is none. */
  async find(): Promise<DatabaseServer> {
    if (this.#primary === null) await this.#probeAll();
    if (this.#primary !== null) return this.#primary.server;
    const states = this.#members.map(({ name, reason }) => `${name} ${reason}`).join(', ');
    throw new NoPrimary(`No server of DATABASE_URL accepts writes: ${states}.`);
  }

  /** Opens a connection to the primary. Never rejects: a socket without a primary emits an error. */
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

  /** Destroys the socket when its server is not the primary any more. */
  track(socket: Duplex, server: DatabaseServer): void {
    const member = this.#members.find((one) => one.server === server);
    if (member === undefined) return;
    this.#sockets.set(socket, member);
    socket.once('close', () => this.#sockets.delete(socket));
    // The primary may have changed since it was found.
    if (member !== this.#primary) setImmediate(() => socket.destroy());
    this.#timer ??= setInterval(() => this.#tick(), PROBE_EVERY_MS).unref();
  }

  #tick(): void {
    if (this.#sockets.size > 0) return void this.#probeAll();
    // Nothing uses the database: whoever comes next looks again.
    clearInterval(this.#timer ?? undefined);
    this.#timer = null;
    this.#primary = null;
    for (const member of this.#members) closeProbe(member);
  }

  #probeAll(): Promise<void> {
    this.#round ??= this.#probeOnce().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #probeOnce(): Promise<void> {
    await Promise.all(
      this.#members.map(async (member) => {
        await probe(member);
        // A promotion is followed at once, even while the old primary does not respond.
        if (this.#primary !== null) this.#choose();
      }),
    );
    // Without a primary the choice waits for all: the last one may have the highest timeline.
    this.#choose();
  }

  #choose(): void {
    let best: Member | null = null;
    for (const member of this.#members) {
      if (!this.#isCandidate(member)) continue;
      if (best === null || timelineOf(member) > timelineOf(best)) best = member;
    }
    const current = this.#primary;
    if (current !== null) {
      const isSilent = current.state === null && current.misses < MISSES_MAX;
      const isStill = isSilent || this.#isCandidate(current);
      const hasSuccessor = best !== null && timelineOf(best) > this.#timeline;
      if (isStill && (!hasSuccessor || best === current)) {
        this.#timeline = Math.max(this.#timeline, timelineOf(current));
        return;
      }
    }
    if (best !== current) this.#follow(best);
  }

  #isCandidate(member: Member): boolean {
    const { state } = member;
    if (state === null) return false;
    member.reason = 'is a standby or read-only';
    if (!state.acceptsWrites) return false;
    member.reason = 'is a server of other data';
    if (state.systemIdentifier !== (this.#systemIdentifier ?? state.systemIdentifier)) return false;
    member.reason = `is an old primary (timeline ${state.timeline}, the last was ${this.#timeline})`;
    return state.timeline >= this.#timeline;
  }

  #follow(next: Member | null): void {
    this.#primary = next;
    for (const member of this.#members) {
      primaryGauge.set({ server: member.name }, member === next ? 1 : 0);
    }
    const connections = this.#sockets.size;
    for (const [socket, member] of this.#sockets) if (member !== next) socket.destroy();
    if (next === null) {
      this.log?.warn({ from: this.#last?.name, connections }, 'no primary');
      return;
    }
    this.#timeline = timelineOf(next);
    this.#systemIdentifier ??= next.state?.systemIdentifier ?? null;
    if (this.#last !== null && this.#last !== next) {
      this.log?.warn({ from: this.#last.name, to: next.name, connections }, 'another primary');
    }
    this.#last = next;
  }
}

function timelineOf({ state }: Member): number {
  return state?.timeline ?? 0;
}

/** Asks the server for its state. Never rejects. */
async function probe(member: Member): Promise<void> {
  try {
    member.probe ??= openProbe(member.server);
    member.state = await within(PROBE_MS_MAX, readState(member.probe.sql));
    member.misses = 0;
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    member.state = null;
    member.misses += 1;
    member.reason = `does not respond (${code ?? message})`;
    closeProbe(member);
  }
}

/** A connection that is not counted, and does not keep the process alive. */
function openProbe({ url, host, port }: DatabaseServer): Probe {
  let socket: Socket | null = null;
  const options = {
    max: 1,
    connect_timeout: PROBE_MS_MAX / 1_000,
    max_lifetime: null,
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: { application_name: 'enrichment-pipeline primary' },
    socket: () => {
      socket = openConnection(port, host).unref();
      return Object.assign(socket, { host, port });
    },
  };
  const sql = postgres(url, options as never);
  return {
    sql,
    destroy() {
      void sql.end({ timeout: 0 }).catch(() => {});
      socket?.destroy();
    },
  };
}

function closeProbe(member: Member): void {
  member.probe?.destroy();
  member.probe = null;
}

/** The name of a write-ahead log file begins with the timeline, from the moment of the promotion. */
async function readState(sql: postgres.Sql): Promise<State> {
  const [state] = await sql<[State]>`
    select transaction_read_only = 'off' as "acceptsWrites",
      case when pg_is_in_recovery() then 0
        else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
      end as timeline,
      system_identifier::text as "systemIdentifier"
    from pg_control_system(), current_setting('transaction_read_only') transaction_read_only`;
  return state;
}
