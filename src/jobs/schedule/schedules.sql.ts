/** Statements of schedules. Locks are taken in the order account -> schedule -> batches of its runs. */
import type { Owner } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { isToCome } from '../../core/db/lease.ts';
import { unkept } from '../../core/db/unkept.ts';
import { wordList } from '../../core/db/word-list.ts';
import { finalStates } from '../batch/states.ts';

export interface Schedule {
  id: string;
  accountId: string;
  keyId: string;
  live: boolean;
  name: string;
  cron: string;
  timeZone: string;
  /** A query string, as person search takes it. */
  filter: string;
  fields: string[] | null;
  format: string;
  mode: ScheduleMode;
  maxResults: number | null;
  maxCredits: number | null;
  enabled: boolean;
  /** Null while disabled. */
  nextRunAt: Date | null;
  createdAt: Date;
}

/** Named, not `*`: see `batchColumns`. */
const columns = (sql: Sql) => sql`
  s.id, s.account_id, s.key_id, s.live, s.name, s.cron, s.time_zone, s.filter, s.fields, s.format,
  s.mode, s.max_results, s.max_credits, s.enabled, s.next_run_at, s.created_at`;

export const scheduleModes = ['all', 'new'] as const;
export type ScheduleMode = (typeof scheduleModes)[number];

export type NewSchedule = Omit<Schedule, 'createdAt'>;

/** Schedules of the account, live and test, enabled or not. */
export async function countSchedules(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql<{ schedules: number }[]>`
    select count(*) as schedules from schedules where account_id = ${accountId}`;
  return row?.schedules ?? 0;
}

export async function insertSchedule(sql: Sql, schedule: NewSchedule): Promise<void> {
  await sql`insert into schedules ${sql({ ...schedule })}`;
}

/**
 * Finds a schedule of this owner; another owner's is not found. `lock` locks its row against changes and runs.
 */
export async function findOwnSchedule(
  sql: Sql,
  { accountId, live }: Owner,
  id: string,
  lock: boolean,
): Promise<Schedule | undefined> {
  const [schedule] = await sql<Schedule[]>`
    select ${columns(sql)} from schedules s where id = ${id} and account_id = ${accountId} and live = ${live}
    ${lock ? sql`for update` : sql``}`;
  return schedule;
}

/**
 * A page of an owner's schedules, newest first; `before` is the last id of the previous page. It ends with the one with which
 * their filters have more than `bytesMax`.
 */
export async function listSchedules(
  sql: Sql,
  { accountId, live }: Owner,
  page: { before: string | null; limit: number; bytesMax: number },
): Promise<Schedule[]> {
  return sql<Schedule[]>`
    select ${columns(sql)} from (
      select *, sum(octet_length(filter)) over (order by created_at desc, id desc)
        - octet_length(filter) as bytes_before
      from schedules
      where account_id = ${accountId} and live = ${live}
        and (${page.before}::uuid is null or (created_at, id) < (
          select created_at, id from schedules where id = ${page.before}
            and account_id = ${accountId}))) s
    where bytes_before <= ${page.bytesMax} order by created_at desc, id desc limit ${page.limit}`;
}

export async function updateSchedule(
  sql: Sql,
  { id, ...change }: Pick<Schedule, 'id'> & Partial<NewSchedule>,
): Promise<void> {
  await unkept(sql`update schedules set ${sql({ ...change })} where id = ${id}`);
}

/**
 * Deletes a schedule, its history and its list of delivered people; its exports stay. Call in a transaction: a
 * concurrent commit of a part either waits or comes first and is seen.
 */
export async function deleteSchedule(sql: Sql, id: string): Promise<void> {
  await sql`delete from schedules where id = ${id}`;
  await sql`delete from schedule_deliveries where schedule_id = ${id}`;
}

/** Forgets that the schedule has delivered these people. */
export async function deleteDeliveries(
  sql: Sql,
  scheduleId: string,
  people: readonly number[],
): Promise<void> {
  await sql`
    delete from schedule_deliveries
    where schedule_id = ${scheduleId} and person_id = any(${[...people]}::bigint[])`;
}

export interface DueSchedule extends Schedule {
  nextRunAt: Date;
  keyEnded: boolean;
}

/**
 * Accounts with a due schedule, by id, starting after the account `after`. Ignores the schedules in `except`.
 */
export async function listDueAccounts(
  sql: Sql,
  now: Date,
  { after, except }: { after: string | null; except: readonly string[] },
): Promise<string[]> {
  const rows = await sql<{ accountId: string }[]>`
    select account_id from schedules
    where enabled and next_run_at <= ${now} and id <> all(${[...except]}::uuid[])
    group by account_id order by account_id <= ${after}::uuid, account_id`;
  return rows.map((row) => row.accountId);
}

/**
 * Locks the account's schedule that has been due longest; other workers skip it. Undefined when none is due.
 * `except` are those that failed in this round. Call in a transaction.
 */
export async function takeDueSchedule(
  sql: Sql,
  accountId: string,
  now: Date,
  except: readonly string[],
): Promise<DueSchedule | undefined> {
  const [due] = await sql<DueSchedule[]>`
    select ${columns(sql)}, k.revoked_at is not null or coalesce(
        -- A round may take long: see exports that ended since it began.
        k.expires_at <= greatest(${now}, clock_timestamp()), false) as key_ended
    from schedules s join api_keys k on k.id = s.key_id
    -- Only enabled ones have a next run. Naming that would offer the index of all that are due, of every account, which may be read whole.
    where s.account_id = ${accountId} and s.next_run_at <= ${now}
      and s.id <> all(${[...except]}::uuid[])
    order by s.next_run_at, s.id limit 1
    -- Does not conflict with the key-share lock that a part's commit holds on its schedule.
    for no key update of s skip locked
    -- A schedule whose key is being revoked is left for the next round.
    for share of k skip locked`;
  return due;
}

/** Locks all due schedules, of all accounts. Call in a transaction. */
export async function lockDueSchedules(
  tx: Sql,
  now: Date,
): Promise<Pick<DueSchedule, 'id' | 'cron' | 'timeZone' | 'nextRunAt'>[]> {
  return tx<Pick<DueSchedule, 'id' | 'cron' | 'timeZone' | 'nextRunAt'>[]>`
    select id, cron, time_zone, next_run_at from schedules
    where enabled and next_run_at <= ${now} order by id for no key update`;
}

/**
 * Returns true when an export of the schedule has not ended. Call it after the statement that locks the schedule: that
 * statement does not see a run that began while it waited. Reads the open exports of the account, which are few; a schedule
 * may have any number of runs.
 */
export async function hasOpenRun(
  tx: Sql,
  { id, accountId }: Pick<Schedule, 'id' | 'accountId'>,
): Promise<boolean> {
  const open = await tx`
    select from batches
    where account_id = ${accountId} and schedule_id = ${id} and state not in ${wordList(tx, finalStates)} limit 1`;
  return open.length > 0;
}

/**
 * Locks the schedules that took their last slot, or were created, at a time to come: before the clock was set back. Call in a
 * transaction.
 */
export async function lockRunAhead(
  tx: Sql,
): Promise<Pick<DueSchedule, 'id' | 'cron' | 'timeZone'>[]> {
  const since: ReturnType<Sql> = tx`coalesce(
    (select created_at from schedule_runs where schedule_id = s.id order by slot desc limit 1), created_at)`;
  return tx<Pick<DueSchedule, 'id' | 'cron' | 'timeZone'>[]>`
    select id, cron, time_zone from schedules s
    where enabled and next_run_at > clock_timestamp() and ${isToCome(tx, since)}
    order by id for no key update`;
}

export type RunState = 'started' | 'skipped' | 'failed';

/** Records the outcome of a slot. False when the slot was already taken: then do nothing for it. */
export async function insertRun(
  sql: Sql,
  run: { scheduleId: string; slot: Date; state: RunState; reason: string | null },
): Promise<boolean> {
  const inserted = await sql`
    insert into schedule_runs ${sql({ ...run })}
    on conflict (schedule_id, slot) do nothing returning slot`;
  return inserted.length > 0;
}

export async function setRunExport(
  sql: Sql,
  run: { scheduleId: string; slot: Date; batchId: string },
): Promise<void> {
  await sql`
    update schedule_runs set batch_id = ${run.batchId}
    where schedule_id = ${run.scheduleId} and slot = ${run.slot}`;
}

/** A past slot: its outcome, and the current state of its export. */
export interface ScheduleRun {
  slot: Date;
  state: RunState;
  reason: string | null;
  batchId: string | null;
  createdAt: Date;
  /** Of the export; null without one. */
  batchState: string | null;
  batchReason: string | null;
  rows: number | null;
  credits: number | null;
  finishedAt: Date | null;
}

/** A page of a schedule's runs, latest first; `before` is the last slot of the previous page. */
export async function listRuns(
  sql: Sql,
  scheduleId: string,
  page: { before: Date | null; limit: number },
): Promise<ScheduleRun[]> {
  return sql<ScheduleRun[]>`
    select r.slot, r.state, r.reason, r.batch_id, r.created_at, b.state as batch_state,
      coalesce(b.reason, b.error ->> 'detail') as batch_reason, b.matched as rows,
      b.credits_charged as credits, b.finished_at
    from schedule_runs r left join batches b on b.id = r.batch_id
    where r.schedule_id = ${scheduleId} and r.slot < coalesce(${page.before}, 'infinity'::timestamptz)
    order by r.slot desc limit ${page.limit}`;
}
