/**
 * The life of a delivery: claimed under a lease, then ended by an outcome or released. The attempt number is
 * the fencing token: an outcome with an old number changes nothing. Times are the database's clock unless the
 * caller passes one. Locks are taken in the order webhook -> delivery.
 */
import type { Sql } from '../../../core/db/client.ts';
import { isHeld, isToCome, leaseEnd } from '../../../core/db/lease.ts';
import { turnLock } from '../../../core/db/turn-lock.ts';
import { TEST_EVENT_TYPE } from '../event-types.ts';

/** An attempt ends within 20 s and its outcome is recorded at once, so an expired lease means a dead worker. */
const LEASE_SECONDS = 60;

/** Advisory lock: one worker at a time counts the deliveries in flight and claims. */
const CLAIM_LOCK = 7_318_224_916;

/** Maximum in flight, so that a slow or dead receiver does not delay others. */
export interface DeliveryBounds {
  perAccount: number;
  perWebhook: number;
}

/** A delivery to attempt now. */
export interface ClaimedDelivery {
  id: string;
  webhookId: string;
  accountId: string;
  url: string;
  /** All signing secrets as stored, newest first. */
  secrets: Buffer[];
  eventId: string;
  type: string;
  payload: Record<string, unknown>;
  attempt: number;
  /** Number of the attempt in the schedule, from 1. */
  round: number;
  claimedAt: Date;
}

export interface DeliveryClaim {
  now: Date | null;
  limit: number;
  bounds: DeliveryBounds;
  /** The accounts of the attempts that this process makes: of a deleted webhook no delivery is left to count. */
  attempted: readonly string[];
}

/** The condition that an attempt of delivery `d` is in flight; null without one. */
function isInFlight(sql: Sql) {
  return isHeld(sql, sql`d.lease_until`, LEASE_SECONDS, sql`clock.now`);
}

/**
 * Leases at most `limit` deliveries that are due or whose lease expired. A webhook whose last attempt failed
 * has one in flight at a time and comes last; accounts with the fewest in flight come first. Call in a
 * transaction; other claims wait for it.
 */
export async function claimDeliveries(
  sql: Sql,
  { now, limit, bounds, attempted }: DeliveryClaim,
): Promise<ClaimedDelivery[]> {
  await sql`select ${turnLock(sql, CLAIM_LOCK)}`;
  const room = sql`greatest(0, case when w.failing_since is null then ${bounds.perWebhook}::int else 1 end
    - coalesce(busy.deliveries, 0))`;
  return sql<ClaimedDelivery[]>`
    with clock as materialized (select coalesce(${now}::timestamptz, clock_timestamp()) as now),
    busy as (
      select d.webhook_id, w.account_id, count(*)::int as deliveries
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id, clock
      where ${isInFlight(sql)} group by d.webhook_id, w.account_id),
    busy_account as (
      select account_id, max(deliveries)::int as deliveries from (
        select account_id, sum(deliveries) as deliveries from busy group by account_id
        union all
        select account_id, count(*) from unnest(${[...attempted]}::uuid[]) a (account_id)
        group by account_id) counted
      group by account_id),
    due as (
      select d.id, d.due_at, w.failing_since is not null as is_failing,
        coalesce(a.deliveries, 0) + row_number() over (
          partition by w.account_id order by w.failing_since is not null, d.due_at, d.id) as place
      from clock, webhooks w
      left join busy on busy.webhook_id = w.id
      left join busy_account a on a.account_id = w.account_id
      -- Two index descents per webhook, however long the backlog of a dead one.
      cross join lateral (
        select id, due_at from (
          (select id, due_at from webhook_deliveries d
            where webhook_id = w.id and state = 'pending' and due_at <= clock.now
              and ${isInFlight(sql)} is not true
            order by due_at, id limit ${room})
          union all
          -- Of events from before the clock was set back, in the order of an index that begins with them.
          (select id, due_at from webhook_deliveries d
            where webhook_id = w.id and state = 'pending' and round_attempts = 0
              and ${isToCome(sql, sql`created_at`, sql`clock.now`)} and (due_at > clock.now) is true
              and ${isInFlight(sql)} is not true
            order by created_at desc, id desc limit ${room})) d
        order by due_at, id limit ${room}) d
      where w.enabled),
    chosen as (
      select id from due where place <= ${bounds.perAccount}
      order by is_failing, place, due_at, id limit ${limit})
    update webhook_deliveries d set attempts = d.attempts + 1, round_attempts = d.round_attempts + 1,
      attempted_at = clock.now,
      lease_until = ${leaseEnd(sql, LEASE_SECONDS, sql`clock.now`)}
    from chosen, clock, webhooks w
    where d.id = chosen.id and w.id = d.webhook_id and d.state = 'pending'
    returning d.id, d.webhook_id, w.account_id, w.url, array_remove(array[w.secret,
        case when w.previous_until > clock.now then w.previous_secret end], null) as secrets,
      d.event_id, d.type, d.payload, d.attempts as attempt,
      d.round_attempts as round, d.attempted_at as claimed_at`;
}

export interface AttemptOutcome {
  isDelivered: boolean;
  /** Seconds until the retry; null for no retry. */
  retryAfterSeconds: number | null;
  /** The receiver is gone for good. */
  isGone: boolean;
  responseStatus: number | null;
  error: string | null;
  durationMs: number;
}

/** Why recording an outcome disabled the webhook; null when it did not. */
export type Disabled = 'gone' | 'failing' | null;

/**
 * Ends an attempt in one statement: the delivery is done, waits for a retry or has failed, and its webhook is
 * marked as working or failing. A webhook that is gone, or failed every attempt for `failingDaysMax`, is
 * disabled; its pending deliveries stay. Changes nothing when the caller no longer holds the lease.
 */
export async function recordOutcome(
  sql: Sql,
  claimed: Pick<ClaimedDelivery, 'id' | 'webhookId' | 'attempt' | 'type'>,
  outcome: AttemptOutcome,
  { now, failingDaysMax }: { now: Date | null; failingDaysMax: number },
): Promise<{ recorded: boolean; disabled: Disabled }> {
  const { isDelivered, retryAfterSeconds, isGone } = outcome;
  const isTest = claimed.type === TEST_EVENT_TYPE;
  const state = isDelivered ? 'delivered' : retryAfterSeconds === null ? 'failed' : 'pending';
  const [row] = await sql<{ disabled: Disabled }[]>`
    with clock as materialized (select coalesce(${now}::timestamptz, clock_timestamp()) as now),
    -- Same order as deletion: webhook first, then its deliveries.
    webhook as (
      select id from webhooks where id = ${claimed.webhookId} for no key update),
    -- It fails, but for the last day nothing was attempted although this was due: the service stood still, or the clock was
    -- set ahead, also by less than too many days.
    standstill as (
      select from clock, webhooks w join webhook_deliveries d on d.webhook_id = w.id
      where d.id = ${claimed.id} and w.failing_since < clock.now - interval '1 day'
        and d.due_at < clock.now - interval '1 day' and not exists (
          select from webhook_deliveries other
          where other.webhook_id = w.id and other.id <> d.id
            and other.attempted_at > clock.now - interval '1 day')),
    delivery as (
      update webhook_deliveries d set state = ${state}, lease_until = null,
        due_at = clock.now + make_interval(secs => ${retryAfterSeconds ?? 0}),
        response_status = ${outcome.responseStatus}, error = ${outcome.error},
        duration_ms = ${outcome.durationMs},
        delivered_at = case when ${isDelivered} then clock.now end
      from webhook, clock
      where d.id = ${claimed.id} and d.webhook_id = webhook.id
        and d.attempts = ${claimed.attempt} and d.lease_until is not null
      returning d.webhook_id),
    judged as (
      update webhooks w set
        -- A failed test is not retried: it would count against an event of days later.
        failing_since = case when ${isDelivered} then null
          when exists (select from standstill) then clock.now
          else coalesce(w.failing_since, ${isTest ? null : sql`clock.now`}) end,
        enabled = w.enabled and not ${isGone} and not ${isTooLong(sql, isDelivered, failingDaysMax)},
        disabled_reason = case when not w.enabled then w.disabled_reason
          when ${isGone} then 'gone'
          when ${isTooLong(sql, isDelivered, failingDaysMax)} then 'failing' end
      from delivery, clock
      where w.id = delivery.webhook_id and (not ${isDelivered} or w.failing_since is not null)
      returning w.disabled_reason)
    select (select disabled_reason from judged) as disabled from delivery`;
  return { recorded: row !== undefined, disabled: row?.disabled ?? null };
}

/** The condition that webhook `w` has only failed for too many days, without a `standstill` just now. */
function isTooLong(sql: Sql, isDelivered: boolean, failingDaysMax: number) {
  return sql`(not ${isDelivered} and coalesce(
    w.failing_since <= clock.now - make_interval(days => ${failingDaysMax})
      and not exists (select from standstill), false))`;
}
