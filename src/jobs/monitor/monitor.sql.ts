/** The state of the whole service for operators, each view one statement over the tables of all features. */
import { creditsOf } from '../../core/credits/credits.sql.ts';
import { openReservations } from '../../core/credits/reservations.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { isToCome } from '../../core/db/lease.ts';
import { wordList } from '../../core/db/word-list.ts';
import type { CopyReport } from '../../core/graph-copy/report-copy.ts';
import { finalStates, runnableStates } from '../batch/states.ts';

export type ProcessKind = 'api' | 'worker';

export interface Beat {
  id: string;
  kind: ProcessKind;
  host: string;
  version: string;
  startedAt: Date;
  leasesReclaimed: number;
  /** Null of an API. */
  localCopy: CopyReport | null;
}

/**
 * Records that a process is alive. Deletes processes not seen for a day, and those last seen in the future, before the clock
 * was set back: the live ones among them are seen again within seconds. Skips those that are being recorded at this moment:
 * two processes that each delete the other would wait for each other.
 */
export async function insertBeat(sql: Sql, beat: Beat): Promise<void> {
  await sql`
    with gone as (
      delete from processes where id in (
        select id from processes
        where id <> ${beat.id} and (seen_at < now() - interval '1 day' or ${isToCome(sql, sql`seen_at`)})
        for update skip locked))
    insert into processes (id, kind, host, version, started_at, seen_at, leases_reclaimed, local_copy)
    values (${beat.id}, ${beat.kind}, ${beat.host}, ${beat.version}, ${beat.startedAt},
      clock_timestamp(), ${beat.leasesReclaimed}, ${beat.localCopy && sql.json(beat.localCopy as never)})
    on conflict (id) do update set seen_at = excluded.seen_at,
      leases_reclaimed = excluded.leases_reclaimed, local_copy = excluded.local_copy`;
}

export async function deleteProcess(sql: Sql, id: string): Promise<void> {
  await sql`delete from processes where id = ${id}`;
}

export interface ServiceState {
  /** Batches that have not ended. `reason` is why a paused one is paused, '' for all others. */
  batches: { state: string; reason: string; count: number }[];
  /**
   * Unfinished chunks: `waiting`, `dispatched` to the queue, `running`; `delayed` by a failure or a limit;
   * `held` by a batch that is not running.
   */
  chunks: { state: string; count: number }[];
  /** Age of the oldest runnable chunk that is waiting; 0 for none. */
  oldestChunkSeconds: number;
  /** Age of the oldest batch without progress; 0 for none. */
  oldestProgressSeconds: number;
  reservations: number;
  reservedCredits: number;
  schedulesDue: number;
  /** Delay of the schedule that has been due longest; 0 when none is due. */
  oldestDueSeconds: number;
  /** Delay of the webhook delivery that has been due longest; 0 when none is due. */
  oldestDeliverySeconds: number;
  processes: {
    kind: ProcessKind;
    host: string;
    version: string;
    started_at: string;
    seen_seconds_ago: number;
    local_copy: CopyReport | null;
  }[];
  /** By processes seen in the last day, each since its start. */
  leasesReclaimed: number;
  audits: {
    deep: boolean;
    ended_at: string;
    seconds_ago: number;
    violations: number;
    failed: string[];
  }[];
  /** The last `enrich backup` (`enrich`) and the last piece of the log that Postgres archived (`archive`). */
  backups: { by: string; seconds_ago: number }[];
}

/** The state of the service. Does not read ended batches or their chunks. */
export async function readServiceState(sql: Sql): Promise<ServiceState | undefined> {
  const [state] = await sql<ServiceState[]>`
    with batch as (
      select id, state, coalesce(reason, '') as reason, state_since, waits_for, claim_after
      from batches where state not in ${wordList(sql, finalStates)}),
    chunk as (
      select b.id as batch_id,
        case when c.state = 'leased' then 'running'
          when c.state = 'dispatched' then 'dispatched'
          when b.state not in ${wordList(sql, runnableStates)} then 'held'
          when b.waits_for is not null or c.run_after > clock_timestamp() then 'delayed'
          else 'waiting' end as state,
        case c.state when 'dispatched' then c.dispatched_at
          else greatest(b.state_since, b.claim_after, c.run_after) end as since
      from chunks c join batch b on b.id = c.batch_id where c.state <> 'done'),
    moving as (
      select greatest(b.state_since, (
        select max(p.committed_at) from parts p where p.batch_id = b.id)) as moved_at
      from batch b
      -- A batch that waits after a failure should move too: it may fail again and again. Only the limit of a key is a reason.
      where b.state in ('created', 'validating', 'finalizing', 'cancelling')
        or (b.state = 'running' and b.waits_for is distinct from 'key'
          and exists (select from chunk c where c.batch_id = b.id))),
    due as (select next_run_at from schedules where enabled and next_run_at <= clock_timestamp()),
    seconds as (
      select
        (select min(since) from chunk where state in ('waiting', 'dispatched')) as chunk,
        (select min(moved_at) from moving) as progress,
        (select min(next_run_at) from due) as due,
        -- One index descent per webhook, however long the backlog of a dead one.
        (select min(d.due_at) from webhooks w cross join lateral (
          select due_at from webhook_deliveries
          where webhook_id = w.id and state = 'pending'
            and (lease_until is null or lease_until <= clock_timestamp())
          order by due_at limit 1) d
          where w.enabled) as delivery)
    select
      (select coalesce(json_agg(b), '[]') from (
        select state, reason, count(*) from batch group by state, reason) b) as batches,
      (select coalesce(json_agg(c), '[]') from (
        select state, count(*) from chunk group by state) c) as chunks,
      ${secondsSince(sql, 'chunk')} as oldest_chunk_seconds,
      ${secondsSince(sql, 'progress')} as oldest_progress_seconds,
      open.reservations, open.reserved_credits,
      (select count(*) from due) as schedules_due,
      ${secondsSince(sql, 'due')} as oldest_due_seconds,
      ${secondsSince(sql, 'delivery')} as oldest_delivery_seconds,
      (select coalesce(json_agg(p), '[]') from (
        select kind, host, version, started_at,
          extract(epoch from clock_timestamp() - seen_at)::float8 as seen_seconds_ago, local_copy
        from processes order by kind, started_at, id) p) as processes,
      (select coalesce(sum(leases_reclaimed), 0)::bigint from processes) as leases_reclaimed,
      (select coalesce(json_agg(a), '[]') from (
        select deep, ended_at, violations, failed,
          extract(epoch from clock_timestamp() - ended_at)::float8 as seconds_ago
        from audits order by deep) a) as audits,
      (select coalesce(json_agg(b), '[]') from (
        select by, extract(epoch from clock_timestamp() - at)::float8 as seconds_ago
        from (
          select 'enrich' as by, backed_up_at as at from installation
          union all
          select 'archive', last_archived_time from pg_stat_archiver) last
        where at is not null) b) as backups
    from seconds cross join (
      select count(*) as reservations, coalesce(sum(amount), 0)::bigint as reserved_credits
      from (${openReservations(sql)}) r) open`;
  return state;
}

/** Fractional seconds since a time of the CTE `seconds`; 0 for none or for a future time. */
function secondsSince(sql: Sql, moment: string) {
  return sql`
    coalesce(greatest(0, extract(epoch from clock_timestamp() - seconds.${sql(moment)})), 0)::float8`;
}

/** A list or an export that has not ended, and is not held or paused. */
export interface OldestBatch {
  batch_id: string;
  kind: string;
  account_id: string;
  state: string;
  age_seconds: number;
  rows_total: number | null;
  rows_processed: number;
}

/** An account whose lists wait for credits. */
export interface PausedWallet {
  account_id: string;
  batches: number;
  credits: number;
  since: string;
}

/** Returns the batch that has been open longest; undefined for none. */
export async function readOldestBatch(sql: Sql): Promise<OldestBatch | undefined> {
  const [oldest] = await sql<{ batch: OldestBatch }[]>`
    select json_build_object('batch_id', id, 'kind', kind, 'account_id', account_id, 'state', state,
      'age_seconds', round(extract(epoch from clock_timestamp() - created_at)), 'rows_total', rows_total,
      'rows_processed', matched + no_match + ambiguous + invalid + suppressed + duplicate + error_rows
        + not_processed) as batch
    from batches where state not in ${wordList(sql, [...finalStates, 'ready', 'paused'])}
    order by created_at limit 1`;
  return oldest?.batch;
}

/** Lists the accounts whose lists wait for credits, the one that has waited longest first, at most `limit`. */
export async function listPausedWallets(sql: Sql, limit: number): Promise<PausedWallet[]> {
  const rows = await sql<{ wallet: PausedWallet }[]>`
    select json_build_object('account_id', account_id, 'batches', count(*), 'since', min(state_since),
      'credits', ${creditsOf(sql, sql`b.account_id`)}) as wallet
    from batches b where state = 'paused' and reason = 'insufficient_credits'
    group by account_id order by min(state_since) limit ${limit}`;
  return rows.map(({ wallet }) => wallet);
}

export interface DatabaseState {
  version: string;
  bytes: number;
  /** Sessions of this database by Postgres state. */
  connections: { state: string; count: number }[];
  connectionsMax: number;
  oldestTransactionSeconds: number;
  /** Replicas of this server; null when the database user may not see them. */
  replicas: { name: string; state: string | null; lag_seconds: number | null }[];
}

/** The state of the database that `sql` is connected to. */
export async function readDatabaseState(sql: Sql): Promise<DatabaseState | undefined> {
  const [state] = await sql<DatabaseState[]>`
    with session as (
      select coalesce(state, 'unknown') as state, xact_start, pid from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend')
    select current_setting('server_version') as version,
      pg_database_size(current_database()) as bytes,
      (select coalesce(json_agg(s), '[]') from (
        select state, count(*) from session group by state) s) as connections,
      current_setting('max_connections')::int as connections_max,
      coalesce(greatest(0, extract(epoch from clock_timestamp() - (
        select min(xact_start) from session where pid <> pg_backend_pid()))), 0)::float8
        as oldest_transaction_seconds,
      (select coalesce(json_agg(r), '[]') from (
        select application_name as name, state,
          extract(epoch from replay_lag)::float8 as lag_seconds
        from pg_stat_replication order by application_name) r) as replicas`;
  return state;
}

/** Stores an audit's findings, replacing the last audit of the same depth. */
export async function insertAudit(
  sql: Sql,
  audit: { deep: boolean; violations: number; failed: string[] },
): Promise<void> {
  await sql`
    insert into audits (deep, ended_at, violations, failed)
    values (${audit.deep}, clock_timestamp(), ${audit.violations}, ${audit.failed})
    on conflict (deep) do update set ended_at = excluded.ended_at,
      violations = excluded.violations, failed = excluded.failed`;
}

/** Records that a backup has ended well. */
export async function noteBackup(sql: Sql): Promise<void> {
  await sql`update installation set backed_up_at = clock_timestamp()`;
}
