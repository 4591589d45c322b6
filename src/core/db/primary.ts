/**
 * The primary among the servers of a DATABASE_URL that names several. One watch of a process serves all its pools, of
 * both drivers: it probes every server each second, opens connections to the primary alone, and destroys those to a
 * server that is not the primary any more, which makes the drivers connect again.
 *
 * The primary is the server that accepts writes with the highest timeline, a number that Postgres raises at every
 * promotion. So an old primary that comes back is never chosen again, by a process that has seen the new one or can
 * reach it.
 */
import type postgres from 'postgres';
import { Gauge } from 'prom-client';
import type { DatabaseServer } from '../lib/database-url.ts';
import { metrics } from '../metrics.ts';
import { ServerProbe } from './server-probe.ts';
import { ServerWatch } from './server-watch.ts';

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

type Member = ServerProbe<State>;

/** No server accepts writes: temporary, as during a failover. */
class NoPrimary extends Error {
  override readonly name = 'NoPrimary';
  readonly code = 'NO_PRIMARY';
}

export class PrimaryWatch extends ServerWatch {
  readonly #members: readonly Member[];
  #primary: Member | null = null;
  /** The primary, or the one before it while there is none. */
  #last: Member | null = null;
  /** Highest timeline, and the identity, of any primary so far: no server with another identity is used. */
  #timeline = 0;
  #systemIdentifier: string | null = null;

  constructor(servers: readonly DatabaseServer[]) {
    super();
    this.#members = servers.map((server) => new ServerProbe(server, readState));
  }

  /** A URL with one of the servers: for the drivers, which read user, database and TLS from it. */
  override get url(): string {
    return (this.#members[0] as Member).server.url;
  }

  protected override get probes(): readonly Member[] {
    return this.#members;
  }

  /** Returns the primary. Rejects with the code `NO_PRIMARY`, after one round of probes, when there is none. */
  override async find(): Promise<DatabaseServer> {
    if (this.#primary === null) await this.probeAll();
    if (this.#primary !== null) return this.#primary.server;
    const states = this.#members.map(({ name, reason }) => `${name} ${reason}`).join(', ');
    throw new NoPrimary(`No server of DATABASE_URL accepts writes: ${states}.`);
  }

  protected override isUsed(server: DatabaseServer): boolean {
    return server === this.#primary?.server;
  }

  protected override onIdle(): void {
    this.#primary = null;
  }

  protected override async probeOnce(): Promise<void> {
    await Promise.all(
      this.#members.map(async (member) => {
        await member.probe();
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
    const connections = this.sockets.size;
    this.sockets.destroy(({ server }) => server !== next?.server);
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
