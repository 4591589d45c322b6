/**
 * Streaming replicas of the database, for reads that may be slightly stale. Every process probes each of them
 * every few seconds. A replica that lags, is unavailable or belongs to another database is left out, and used
 * again when that has passed. A read that a replica cannot serve runs once on the primary. Nothing is charged,
 * written or decided here: the reader checks what the replica must have replayed (`ReplicaBehind`).
 */
import { Counter, Gauge } from 'prom-client';
import type { Config } from '../config.ts';
import { AppError } from '../lib/errors.ts';
import { within } from '../lib/within.ts';
import type { Log } from '../log.ts';
import { metrics } from '../metrics.ts';
import { connect, type Database, type Sql } from './client.ts';
import { type PoolUse, poolSettings } from './pool-settings.ts';
import { LagClock } from './replica-lag.ts';

/** Interval of probes, unless the maximum lag requires a shorter one. */
const PROBE_EVERY_MS = 2_000;
/** A running server accepts in milliseconds; one lost packet is sent again after a second. */
const CONNECT_SECONDS = 2;
/**
 * A replica that takes longer to report its position counts as unavailable. Reads that wait for it run on the
 * primary.
 */
const RESPONSE_MS_MAX = 2_000;

const lagSeconds = new Gauge({
  name: 'enrich_replica_lag_seconds',
  help: 'Maximum lag of a replica in seconds, as of the last probe; +Inf when unknown.',
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
  help: 'Reads sent to a replica, by result: answered there, or repeated on the primary because the replica was behind or failed.',
  labelNames: ['replica', 'result'],
  registers: [metrics],
});

export interface Replicas extends AsyncDisposable {
  /**
   * Reads on a usable replica, in turn, or on the primary. `read` may be called twice: when a replica fails or
   * lags, the read runs on the primary. An `AppError` counts as a result.
   */
  read<T>(use: PoolUse, primary: Sql, read: Read<T>): Promise<T>;
}

/**
 * A read. `control` is a connection to the server of `graph` that does not wait for its pool; null on the primary.
 */
type Read<T> = (graph: Sql, control: Sql | null) => Promise<T>;

/** Thrown by a read that needs data which the replica has not replayed yet. */
export class ReplicaBehind extends Error {
  override readonly name = 'ReplicaBehind';
}

type ReplicaLog = Pick<Log, 'warn' | 'info'>;

interface Replica {
  /** Host and port: its name in logs and metrics. */
  name: string;
  url: string;
  pools: Record<PoolUse | 'control', Database> | null;
  isUsed: boolean;
  /** Reason why it is not used, as last logged. */
  reason: string | null;
}

/** Starts to probe the replicas, if any; none is used before its first probe. */
export function openReplicas(config: Config, primaryUrl: string, log: ReplicaLog): Replicas {
  const lagMsMax = config.databaseReplicaLagMs;
  const all = config.databaseReplicaUrls.map(toReplica);
  const probeEveryMs = Math.min(PROBE_EVERY_MS, lagMsMax / 3);
  const primary = connect({ url: primaryUrl, connections: 1 });
  const clock = new LagClock();
  let turn = 0;

  const probeAll = async (): Promise<void> => {
    const here = await within(RESPONSE_MS_MAX, readPrimary(primary));
    clock.sample(here.position, performance.now());
    await Promise.all(all.map((replica) => probeOne(replica, here)));
  };
  const probeOne = async (replica: Replica, here: ServerPosition): Promise<void> => {
    replica.pools ??= openPools(replica.url, config);
    try {
      const there = await within(RESPONSE_MS_MAX, readReplica(replica.pools.control));
      const lag = clock.lagOf(there.position, performance.now());
      const wrong = mismatchReason(here, there);
      const late = lag > lagMsMax ? `it is more than ${lagMsMax} ms behind` : null;
      lagSeconds.set({ replica: replica.name }, wrong === null ? lag / 1_000 : Infinity);
      setUse(replica, wrong ?? late, log);
    } catch (error) {
      lagSeconds.set({ replica: replica.name }, Infinity);
      setUse(replica, `it does not respond: ${String(error)}`, log);
      // Ends the reads that wait for this replica, so that they run on the primary.
      closePools(replica);
    }
  };
  const next = () => {
    const fit = all.filter(({ isUsed }) => isUsed);
    return fit[turn++ % fit.length];
  };
  const probing = all.length === 0 ? null : startProbing(probeAll, probeEveryMs, log);

  return {
    async read(use, onPrimary, read) {
      const replica = next();
      const pools = replica?.pools;
      if (replica === undefined || pools == null) return read(onPrimary, null);
      try {
        const answer = await read(pools[use], pools.control);
        reads.inc({ replica: replica.name, result: 'answered' });
        return answer;
      } catch (error) {
        const isBehind = error instanceof ReplicaBehind;
        const code = databaseCode(error);
        if (!isBehind && code === null) throw error;
        reads.inc({ replica: replica.name, result: isBehind ? 'behind' : 'failed' });
        // It gets no more reads until the next probe, unless the read only conflicted with the replay.
        if (!isBehind && code !== RECOVERY_CONFLICT) setUse(replica, `it failed with ${code}`, log);
        return read(onPrimary, null);
      }
    },
    async [Symbol.asyncDispose]() {
      await probing?.stop();
      for (const replica of all) {
        closePools(replica);
        inUse.remove({ replica: replica.name });
      }
      await primary.end({ timeout: 1 });
    },
  };
}

function toReplica(url: string): Replica {
  return { name: new URL(url).host, url, pools: null, isUsed: false, reason: null };
}

/** Uses the replica, or leaves it out for a reason; logs a change. */
function setUse(replica: Replica, reason: string | null, log: ReplicaLog): void {
  const hasChanged = replica.isUsed !== (reason === null) || replica.reason !== reason;
  replica.isUsed = reason === null;
  replica.reason = reason;
  inUse.set({ replica: replica.name }, replica.isUsed ? 1 : 0);
  if (!hasChanged) return;
  const details = { replica: replica.name, reason };
  if (replica.isUsed) log.info(details, 'replica in use');
  else log.warn(details, 'replica not in use, reading from the primary');
}

/** Postgres ended the statement because it blocked the replay. */
const RECOVERY_CONFLICT = '40001';

/** Returns the code of an error of the database or of the connection; null for an `AppError` and for a bug. */
function databaseCode(error: unknown): string | null {
  if (error instanceof AppError) return null;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : null;
}

/** Identity of a server, which must be equal on both sides, and its position in the write-ahead log. */
interface ServerPosition {
  position: number;
  systemIdentifier: string;
  database: string;
}

async function readPrimary(sql: Sql): Promise<ServerPosition> {
  const [place] = await sql<[ServerPosition]>`
    select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint as position,
      system_identifier::text, current_database() as database from pg_control_system()`;
  return place;
}

async function readReplica(sql: Sql): Promise<ServerPosition & { isReplica: boolean }> {
  const [place] = await sql<[ServerPosition & { isReplica: boolean }]>`
    select coalesce((pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint, 0) as position,
      pg_is_in_recovery() as is_replica,
      system_identifier::text, current_database() as database from pg_control_system()`;
  return place;
}

/** Returns why this server is not a replica of that database; null when it is one. */
function mismatchReason(
  here: ServerPosition,
  there: ServerPosition & { isReplica: boolean },
): string | null {
  if (there.systemIdentifier !== here.systemIdentifier) return 'it is a copy of another server';
  if (there.database !== here.database) return `it names another database, ${there.database}`;
  return there.isReplica ? null : 'it is not a replica, or no longer';
}

function openPools(url: string, config: Config): NonNullable<Replica['pools']> {
  const { any, searches } = poolSettings(config);
  const where = { url, connectSeconds: CONNECT_SECONDS };
  return {
    any: connect({ ...any, ...where }),
    searches: connect({ ...searches, ...where }),
    control: connect({ connections: 1, ...where }),
  };
}

/** Ends every statement in flight; the next probe opens new connections. */
function closePools(replica: Replica): void {
  for (const pool of Object.values(replica.pools ?? {})) void pool.end({ timeout: 0 });
  replica.pools = null;
}

/** Probes at once, and again `everyMs` after each probe has ended. */
function startProbing(
  probeAll: () => Promise<void>,
  everyMs: number,
  log: Pick<Log, 'warn'>,
): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const once = async () => {
    // Without the primary the lag is unknown, and charges go to the primary anyway.
    await probeAll().catch((error: unknown) =>
      log.warn({ err: error }, 'cannot probe the replicas'),
    );
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
