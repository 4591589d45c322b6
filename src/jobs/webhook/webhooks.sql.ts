/**
 * Statements for the owner's view of webhooks and deliveries; the statements that deliver are in
 * `deliver/deliveries.sql.ts`. Triggers record events (migration `webhooks`) and never wait for a webhook.
 * Locks are taken in the order wallet -> webhook -> delivery.
 */
import type { Owner } from '../../core/accounts/owner.ts';
import { watchBalance } from '../../core/credits/credits.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { isToCome } from '../../core/db/lease.ts';
import { type EventType, TEST_EVENT_TYPE } from './event-types.ts';

export interface Webhook {
  id: string;
  accountId: string;
  live: boolean;
  url: string;
  events: EventType[];
  creditsLowThreshold: number;
  enabled: boolean;
  /** Why the service disabled it: the receiver responded 410, or only failures for days. */
  disabledReason: 'gone' | 'failing' | null;
  failingSince: Date | null;
  /** When the previous secret stops signing; null without one. */
  previousUntil: Date | null;
  createdAt: Date;
}

export type NewWebhook = Pick<
  Webhook,
  'id' | 'accountId' | 'live' | 'url' | 'events' | 'creditsLowThreshold' | 'enabled'
> & { secret: Buffer };

const columns = (sql: Sql) => sql`
  id, account_id, live, url, events, credits_low_threshold, enabled, disabled_reason, failing_since,
  case when previous_until > now() then previous_until end as previous_until, created_at`;

export async function countWebhooks(sql: Sql, { accountId, live }: Owner): Promise<number> {
  const [row] = await sql<{ webhooks: number }[]>`
    select count(*) as webhooks from webhooks
    where account_id = ${accountId} and live = ${live}`;
  return row?.webhooks ?? 0;
}

export async function insertWebhook(sql: Sql, webhook: NewWebhook): Promise<void> {
  await sql`insert into webhooks ${sql({ ...webhook })}`;
}

/**
 * Finds a webhook of this owner; another owner's is not found. `keep` prevents its deletion during the
 * transaction.
 */
export async function findOwnWebhook(
  sql: Sql,
  { accountId, live }: Owner,
  id: string,
  keep = false,
): Promise<Webhook | undefined> {
  const [webhook] = await sql<Webhook[]>`
    select ${columns(sql)} from webhooks
    where id = ${id} and account_id = ${accountId} and live = ${live}
    ${keep ? sql`for key share` : sql``}`;
  return webhook;
}

/** A page of an owner's webhooks, newest first; `before` is the last id of the previous page. */
export async function listWebhooks(
  sql: Sql,
  { accountId, live }: Owner,
  page: { before: string | null; limit: number },
): Promise<Webhook[]> {
  return sql<Webhook[]>`
    select ${columns(sql)} from webhooks
    where account_id = ${accountId} and live = ${live}
      and (${page.before}::uuid is null or (created_at, id) < (
        select created_at, id from webhooks where id = ${page.before}
          and account_id = ${accountId}))
    order by created_at desc, id desc limit ${page.limit}`;
}

export type WebhookChange = Partial<
  Pick<Webhook, 'url' | 'events' | 'creditsLowThreshold' | 'enabled'>
>;

/** Changes a webhook. Enabling or disabling it clears the reason and start of its failure. */
export async function updateWebhook(sql: Sql, id: string, change: WebhookChange): Promise<void> {
  const row = {
    ...change,
    ...(change.enabled === undefined ? {} : { disabledReason: null, failingSince: null }),
  };
  await sql`update webhooks set ${sql(row)} where id = ${id}`;
}

/** Replaces the signing secret; the previous one also signs for the given seconds. */
export async function rotateSecret(
  sql: Sql,
  id: string,
  { secret, overlapSeconds }: { secret: Buffer; overlapSeconds: number },
): Promise<void> {
  await sql`
    update webhooks set previous_secret = secret, secret = ${secret},
      previous_until = now() + make_interval(secs => ${overlapSeconds})
    where id = ${id}`;
}

/** Deletes a webhook with its deliveries. */
export async function deleteWebhook(sql: Sql, id: string): Promise<void> {
  await sql`delete from webhooks where id = ${id}`;
}

/**
 * Stores in the wallet the highest balance below which charges must check thresholds. Call after a change of
 * the account's webhooks, in its transaction.
 */
export async function setWatchedBalance(sql: Sql, accountId: string): Promise<void> {
  await watchBalance(
    sql,
    accountId,
    sql`
      select max(case when 'credits.low' = any(events) then credits_low_threshold else 1 end)
      from webhooks
      where account_id = ${accountId} and live and enabled
        and events && '{credits.low,credits.empty}'`,
  );
}

/** The body of a message. */
interface EventPayload {
  id: string;
  type: string;
  timestamp: string;
  live: boolean;
  data: Record<string, unknown>;
}

/** An event addressed to a webhook. */
export interface Delivery {
  id: string;
  eventId: string;
  type: string;
  payload: EventPayload;
  state: DeliveryState;
  attempts: number;
  dueAt: Date;
  attemptedAt: Date | null;
  responseStatus: number | null;
  error: string | null;
  durationMs: number | null;
  createdAt: Date;
  deliveredAt: Date | null;
}

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

const deliveryColumns = (sql: Sql) => sql`
  id, event_id, type, payload, state, attempts, due_at, attempted_at, response_status, error,
  duration_ms, created_at, delivered_at`;

/** A page of a webhook's deliveries, newest first; `before` is the last id of the previous page. */
export async function listDeliveries(
  sql: Sql,
  webhookId: string,
  page: { state: DeliveryState | null; before: string | null; limit: number },
): Promise<Delivery[]> {
  return sql<Delivery[]>`
    select ${deliveryColumns(sql)} from webhook_deliveries
    where webhook_id = ${webhookId} and (${page.state}::text is null or state = ${page.state})
      and (${page.before}::uuid is null or (created_at, id) < (
        select created_at, id from webhook_deliveries where id = ${page.before}
          and webhook_id = ${webhookId}))
    order by created_at desc, id desc limit ${page.limit}`;
}

/** Records a test event for a webhook, regardless of the types it takes, and wakes the workers. */
export async function insertTestDelivery(sql: Sql, webhookId: string): Promise<Delivery> {
  const [delivery] = await sql<[Delivery]>`
    with event as (select gen_random_uuid() as id),
    delivery as (
      insert into webhook_deliveries (webhook_id, event_id, type, payload)
      select w.id, event.id, ${TEST_EVENT_TYPE}, webhook_payload(
        event.id, now(), ${TEST_EVENT_TYPE}, w.live, json_build_object('webhook_id', w.id))
      from webhooks w, event where w.id = ${webhookId}
      returning ${deliveryColumns(sql)}),
    woken as (select pg_notify('webhook_deliveries', ''))
    select delivery.* from delivery, woken`;
  return delivery;
}

/**
 * Makes a delivery due at once, with a fresh retry schedule, and wakes the workers. Undefined when the webhook
 * has no such delivery.
 */
export async function replayDelivery(
  sql: Sql,
  webhookId: string,
  deliveryId: string,
): Promise<Delivery | undefined> {
  const [delivery] = await sql<Delivery[]>`
    with delivery as (
      update webhook_deliveries set state = 'pending', round_attempts = 0, due_at = now(),
        delivered_at = null
      where id = ${deliveryId} and webhook_id = ${webhookId}
      returning ${deliveryColumns(sql)}),
    woken as (select pg_notify('webhook_deliveries', ''))
    select delivery.* from delivery, woken`;
  return delivery;
}

/** Deletes deliveries older than `keepDays`. */
export async function deleteOldDeliveries(sql: Sql, keepDays: number): Promise<void> {
  await sql`
    delete from webhook_deliveries
    where created_at < now() - make_interval(days => ${keepDays})`;
}

/** Deletes all deliveries of each webhook but its latest ones. */
export async function deleteSurplusDeliveries(sql: Sql, latest: number): Promise<void> {
  await sql`
    delete from webhook_deliveries d
    using webhooks w cross join lateral (
      select created_at, id from webhook_deliveries where webhook_id = w.id
      order by created_at desc, id desc offset ${latest}::bigint limit 1) surplus
    where d.webhook_id = w.id and (d.created_at, d.id) <= (surplus.created_at, surplus.id)`;
}

/**
 * Makes retries due whose last attempt is in the future: the clock was set back since, and they would wait for as long as it
 * was wrong.
 */
export async function endFuturePauses(sql: Sql): Promise<void> {
  await sql`
    update webhook_deliveries set due_at = clock_timestamp()
    where state = 'pending' and due_at > clock_timestamp() and ${isToCome(sql, sql`attempted_at`)}`;
}

/**
 * Ends the deliveries that are pending after a restore: they may have arrived since the backup, and no webhook gets an event
 * twice automatically. They can be delivered again by hand. Returns how many.
 */
export async function endPendingDeliveries(sql: Sql): Promise<number> {
  const { count } = await sql`
    update webhook_deliveries set state = 'failed', lease_until = null,
      error = 'The service was restored from a backup.'
    where state = 'pending'`;
  return count;
}
