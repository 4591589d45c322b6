/** Operations on webhooks: create, change, delete, rotate the secret, test, replay. */
import { uuidv7 } from 'uuidv7';
import type { Owner } from '../../core/accounts/owner.ts';
import type { Config } from '../../core/config.ts';
import { lockWallet } from '../../core/credits/credits.sql.ts';
import { type Database, inTransaction, type Sql } from '../../core/db/client.ts';
import { type AppError, conflict, invalidParameter, notFound } from '../../core/lib/errors.ts';
import { generateSecret, sealSecret, showSecret } from './signing-secret.ts';
import { findTarget, type Resolve, resolveHost, TargetRefused } from './target.ts';
import {
  countWebhooks,
  type Delivery,
  deleteWebhook,
  findOwnWebhook,
  insertTestDelivery,
  insertWebhook,
  type NewWebhook,
  replayDelivery,
  rotateSecret,
  setWatchedBalance,
  updateWebhook,
  type Webhook,
  type WebhookChange,
} from './webhooks.sql.ts';

/** Maximum per account. Every event may go to all of them. */
export const WEBHOOKS_MAX = 10;

/** A webhook as callers describe it. */
export type WebhookRequest = Pick<NewWebhook, 'url' | 'events' | 'creditsLowThreshold' | 'enabled'>;

export interface WebhookContext {
  sql: Database;
  config: Pick<Config, 'webhookAllowedHosts' | 'webhookEncryptionKey'>;
}

/** A webhook and its new secret, which is shown this once. */
export interface WithSecret {
  webhook: Webhook;
  secret: string;
}

/** An address that the service calls. */
export type CheckedUrl = string & { readonly isChecked: true };

/** The address in its normal form. Looks its host up. Throws `AppError` 400 for one that the service does not call. */
export async function checkUrl(
  url: string,
  { webhookAllowedHosts: allowedHosts }: WebhookContext['config'],
  resolve: Resolve = resolveHost,
): Promise<CheckedUrl> {
  try {
    return (await findTarget(url, { allowedHosts, resolve })).url.href as CheckedUrl;
  } catch (error) {
    if (!(error instanceof TargetRefused)) throw error;
    throw invalidParameter('url', error.message);
  }
}

/** Creates a webhook. Throws `AppError` 409 `too_many_webhooks`. */
export async function createWebhook(
  tx: Sql,
  { webhookEncryptionKey }: WebhookContext['config'],
  owner: Owner,
  request: WebhookRequest & { url: CheckedUrl },
): Promise<WithSecret> {
  const id = uuidv7();
  const secret = generateSecret();
  const sealed = sealSecret(secret, id, webhookEncryptionKey);
  const { accountId, live } = owner;
  const webhook = await changeWebhooks(tx, owner, async () => {
    if ((await countWebhooks(tx, owner)) >= WEBHOOKS_MAX) throw tooManyWebhooks();
    await insertWebhook(tx, { ...request, id, accountId, live, secret: sealed });
    return requireOwnWebhook(tx, owner, id);
  });
  return { webhook, secret: showSecret(secret) };
}

/** Changes a webhook, enables or disables it. Throws as `checkUrl`, and 404. */
export async function changeWebhook(
  { sql, config }: WebhookContext,
  owner: Owner,
  id: string,
  change: WebhookChange,
  resolve: Resolve = resolveHost,
): Promise<Webhook> {
  await requireOwnWebhook(sql, owner, id);
  const url = change.url === undefined ? {} : { url: await checkUrl(change.url, config, resolve) };
  return inTransaction(sql, (tx) =>
    changeWebhooks(tx, owner, async () => {
      await requireOwnWebhook(tx, owner, id);
      const row = { ...change, ...url };
      if (Object.keys(row).length > 0) await updateWebhook(tx, id, row);
      return requireOwnWebhook(tx, owner, id);
    }),
  );
}

/** Deletes a webhook with its deliveries, including undelivered ones. Throws 404. */
export async function removeWebhook(sql: Database, owner: Owner, id: string): Promise<void> {
  await inTransaction(sql, (tx) =>
    changeWebhooks(tx, owner, async () => {
      await requireOwnWebhook(tx, owner, id);
      await updateWebhook(tx, id, { enabled: false });
    }),
  );
  // In its own statement: it may have a month of deliveries, and no charge of the account should wait.
  await deleteWebhook(sql, id);
}

/**
 * Gives a webhook a new secret; the previous one also signs for `overlapSeconds`. A second rotation within that
 * time ends the first secret at once. Throws 404.
 */
export async function rotateWebhookSecret(
  tx: Sql,
  { webhookEncryptionKey }: WebhookContext['config'],
  owner: Owner,
  { id, overlapSeconds }: { id: string; overlapSeconds: number },
): Promise<WithSecret> {
  const secret = generateSecret();
  const sealed = sealSecret(secret, id, webhookEncryptionKey);
  const webhook = await changeWebhooks(tx, owner, async () => {
    await requireOwnWebhook(tx, owner, id);
    await rotateSecret(tx, id, { secret: sealed, overlapSeconds });
    return requireOwnWebhook(tx, owner, id);
  });
  return { webhook, secret: showSecret(secret) };
}

/** Sends a test event to a webhook. Throws 404, and 409 `invalid_state` when it is disabled. */
export async function testWebhook(tx: Sql, owner: Owner, id: string): Promise<Delivery> {
  await enabledWebhook(tx, owner, id);
  return insertTestDelivery(tx, id);
}

/** Sends an event again, whatever its outcome, under the same webhook-id. Throws as `testWebhook`. */
export async function replayWebhookDelivery(
  tx: Sql,
  owner: Owner,
  { id, deliveryId }: { id: string; deliveryId: string },
): Promise<Delivery> {
  await enabledWebhook(tx, owner, id);
  const delivery = await replayDelivery(tx, id, deliveryId);
  if (delivery === undefined) throw notFound(`Delivery ${deliveryId}`);
  return delivery;
}

/** The owner's webhook, as `findOwnWebhook`. Throws `AppError` 404 when it is not found. */
export async function requireOwnWebhook(
  sql: Sql,
  owner: Owner,
  id: string,
  keep = false,
): Promise<Webhook> {
  const webhook = await findOwnWebhook(sql, owner, id, keep);
  if (webhook === undefined) throw notFound(`Webhook ${id}`);
  return webhook;
}

/** Changes an account's webhooks and updates the threshold in its wallet. */
async function changeWebhooks<T>(
  tx: Sql,
  { accountId }: Owner,
  change: () => Promise<T>,
): Promise<T> {
  await lockWallet(tx, accountId);
  const changed = await change();
  await setWatchedBalance(tx, accountId);
  return changed;
}

async function enabledWebhook(sql: Sql, owner: Owner, id: string): Promise<void> {
  const { enabled } = await requireOwnWebhook(sql, owner, id, true);
  if (enabled) return;
  throw conflict(
    'invalid_state',
    `Webhook ${id} is disabled. Enable it first: PATCH with {"enabled": true}.`,
  );
}

function tooManyWebhooks(): AppError {
  return conflict(
    'too_many_webhooks',
    `This account has ${WEBHOOKS_MAX} webhooks, the maximum. Delete one, or change it: \`PATCH /v1/webhooks/:id\`.`,
    { extensions: { webhooks_max: WEBHOOKS_MAX } },
  );
}
