/**
 * Copies of the database that follow it, for reads that may be a moment old. Every process looks at each of
 * them every few seconds: one that is late, away or no copy of this database is left out, and taken
 * back when that is over. What a replica cannot answer is asked of the primary, once. Nothing is charged,
 * written or decided here: whoever reads says what the replica has to know first (`ReplicaBehind`).
 */
import { Counter, Gauge } from 'prom-client';
import type { Config } from '../config.ts';
import { AppError } from '../lib/errors.ts';
import type { Log } from '../log.ts';
import { metrics } from '../metrics.ts';
import { connect, type Database, type Sql } from './client.ts';
import { type PoolUse, poolSettings } from './pool-settings.ts';
import { LagClock } from './replica-lag.ts';

/** How often a replica is looked at, unless the bound of its lag asks for more. */
const LOOK_EVERY_MS = 2_000;
/** A server that is there accepts in milliseconds; one lost packet is sent again after a second. */
const CONNECT_SECONDS = 2;
/** Who takes longer to say how far it is counts as away. What waits for it is asked of the primary. */
const ANSWER_MS_MAX = 2_000;

const lagSeconds = new Gauge({
  name: 'enrich_replica_lag_seconds',
  help: 'Seconds that a replica is behind at most, as of the last look; +Inf where nothing is known.',
  labelNames: ['replica'],
  registers: [metrics],
});
const inUse = new Gauge({
  name: 'enrich_replica_in_use',
  help: '1 while this process reads from the replica.',
  labelNames: ['replica'],
  registers: [metrics],
});
const reads = new Counter({
  name: 'enrich_replica_reads_total',
  help: 'Reads sent to a replica: answered there, or by the primary as the replica was behind or failed.',
  labelNames: ['replica', 'result'],
  registers: [metrics],
});

export interface Replicas extends AsyncDisposable {
  /**
   * Reads on a replica that is fit for it, in turns, or on the primary. `read` may be called twice: what a
   * replica fails at or is behind of is read on the primary. An `AppError` is an answer.
   */
  read<T>(use: PoolUse, primary: Sql, read: Read<T>): Promise<T>;
}

/** A read; `looks` leads to the replica that `graph` leads to and does not wait for its pool, null on the primary. */
type Read<T> = (graph: Sql, looks: Sql | null) => Promise<T>;

/** Thrown by a read that needs something which the replica does not know yet. */
export class ReplicaBehind extends Error {
  override readonly name = 'ReplicaBehind';
}

type ReplicaLog = Pick<Log, 'warn' | 'info'>;

interface Replica {
  /** Host and port: what it is called in logs and metrics. */
  name: string;
  url: string;
  pools: Record<PoolUse | 'looks', Database> | null;
  isUsed: boolean;
  /** Why it is not used, as it was told last. */
  reason: string | null;
}

/** Starts looking at the replicas, if there are any; none is used before it has been looked at. */
export function openReplicas(config: Config, primaryUrl: string, log: ReplicaLog): Replicas {
  const lagMsMax = config.databaseReplicaLagMs;
  const all = config.databaseReplicaUrls.map(
    (url): Replica => ({
      name: new URL(url).host,
      url,
      pools: null,
      isUsed: false,
      reason: null,
    }),
  );
  const lookEveryMs = Math.min(LOOK_EVERY_MS, lagMsMax / 3);
  const primary = connect({ url: primaryUrl, connections: 1 });
  const clock = new LagClock();
  let turn = 0;

  const look = async (): Promise<void> => {
    const here = await within(readPrimary(primary));
    clock.note(here.position, performance.now());
    await Promise.all(all.map((replica) => lookAt(replica, here)));
  };
  const lookAt = async (replica: Replica, here: Place): Promise<void> => {
    replica.pools ??= openPools(replica.url, config);
    try {
      const there = await within(readReplica(replica.pools.looks));
      const lag = clock.lagOf(there.position, performance.now());
      const wrong = mismatch(here, there);
      const late = lag > lagMsMax ? `it is more than ${lagMsMax} ms behind` : null;
      lagSeconds.set({ replica: replica.name }, wrong === null ? lag / 1_000 : Infinity);
      setUse(replica, wrong ?? late, log);
    } catch (error) {
      lagSeconds.set({ replica: replica.name }, Infinity);
      setUse(replica, `it does not answer: ${String(error)}`, log);
      // Ends what waits for an answer there, so that the primary is asked.
      closePools(replica);
    }
  };
  const next = () => {
    const fit = all.filter(({ isUsed }) => isUsed);
    return fit[turn++ % fit.length];
  };
  const looking = all.length === 0 ? null : keepLooking(look, lookEveryMs, log);

  return {
    async read(use, onPrimary, read) {
      const replica = next();
      const pools = replica?.pools;
      if (replica === undefined || pools == null) return read(onPrimary, null);
      try {
        const answer = await read(pools[use], pools.looks);
        reads.inc({ replica: replica.name, result: 'answered' });
        return answer;
      } catch (error) {
        const isBehind = error instanceof ReplicaBehind;
        const code = databaseCode(error);
        if (!isBehind && code === null) throw error;
        reads.inc({ replica: replica.name, result: isBehind ? 'behind' : 'failed' });
        // It is asked nothing more until the next look, unless it only had to make way.
        if (!isBehind && code !== RECOVERY_CONFLICT) setUse(replica, `it failed with ${code}`, log);
        return read(onPrimary, null);
      }
    },
    async [Symbol.asyncDispose]() {
      await looking?.stop();
      for (const replica of all) {
        closePools(replica);
        inUse.remove({ replica: replica.name });
      }
      await primary.end({ timeout: 1 });
    },
  };
}

/** Takes the replica into use, or leaves it out for a reason; says so when that is news. */
function setUse(replica: Replica, reason: string | null, log: ReplicaLog): void {
  const isNews = replica.isUsed !== (reason === null) || replica.reason !== reason;
  replica.isUsed = reason === null;
  replica.reason = reason;
  inUse.set({ replica: replica.name }, replica.isUsed ? 1 : 0);
  if (!isNews) return;
  const said = { replica: replica.name, reason };
  if (replica.isUsed) log.info(said, 'the replica is used');
  else log.warn(said, 'the replica is not used, the primary is read instead');
}

/** Postgres ended the statement because it stood in the way of what the replica has to replay. */
const RECOVERY_CONFLICT = '40001';

/** The code of an error of the database or of the way to it; null for an answer and for a bug of ours. */
function databaseCode(error: unknown): string | null {
  if (error instanceof AppError) return null;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : null;
}

/** What has to be equal on both sides, and how far a server is in the write-ahead log. */
interface Place {
  position: number;
  systemIdentifier: string;
  database: string;
}

async function readPrimary(sql: Sql): Promise<Place> {
  const [place] = await sql<[Place]>`
    select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint as position,
      system_identifier::text, current_database() as database from pg_control_system()`;
  return place;
}

async function readReplica(sql: Sql): Promise<Place & { isReplica: boolean }> {
  const [place] = await sql<[Place & { isReplica: boolean }]>`
    select coalesce((pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint, 0) as position,
      pg_is_in_recovery() as is_replica,
      system_identifier::text, current_database() as database from pg_control_system()`;
  return place;
}

/** Why this server is no replica of that database; null when it is one. */
function mismatch(here: Place, there: Place & { isReplica: boolean }): string | null {
  if (there.systemIdentifier !== here.systemIdentifier) return 'it is a copy of another server';
  if (there.database !== here.database) return `it names another database, ${there.database}`;
  return there.isReplica ? null : 'it is no replica, or not any more';
}

function openPools(url: string, config: Config): NonNullable<Replica['pools']> {
  const { any, searches } = poolSettings(config);
  const where = { url, connectSeconds: CONNECT_SECONDS };
  return {
    any: connect({ ...any, ...where }),
    searches: connect({ ...searches, ...where }),
    looks: connect({ connections: 1, ...where }),
  };
}

/** Ends every statement under way; the next look opens new connections. */
function closePools(replica: Replica): void {
  for (const pool of Object.values(replica.pools ?? {})) void pool.end({ timeout: 0 });
  replica.pools = null;
}

/** Looks at once and again `everyMs` after each look has ended. */
function keepLooking(
  look: () => Promise<void>,
  everyMs: number,
  log: Pick<Log, 'warn'>,
): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const once = async () => {
    // Without the primary nothing new is known of the replicas, and what is read is paid there anyway.
    await look().catch((error: unknown) => log.warn({ err: error }, 'replicas are not looked at'));
    if (!isStopped) timer = setTimeout(again, everyMs);
  };
  let running = once();
  const again = () => {
    running = once();
  };
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${ANSWER_MS_MAX} ms`));
    timer = setTimeout(giveUp, ANSWER_MS_MAX);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
