/** Shared fixtures of the webhook tests: a pipeline that may call loopback, and deliveries at any time. */
import { Webhook as Verifier } from 'standardwebhooks';
import { vi } from 'vitest';
import { type Caller, openPipeline } from '../../../tests/support/pipeline.ts';
import { openReceiver, type Received } from '../../../tests/support/webhook-receiver.ts';
import type { Owner } from '../../core/accounts/owner.ts';
import { inTransaction } from '../../core/db/client.ts';
import { revokeOwnKey } from '../../core/keys/account-keys.ts';
import { must } from '../../core/lib/assert.ts';
import { type DeliveryDependencies, openDeliverer } from './deliver/deliver-due.ts';
import type { Attempt } from './deliver/post-message.ts';
import { eventTypes } from './event-types.ts';
import type { Resolve } from './target.ts';
import { findOwnWebhook, type Webhook } from './webhooks.sql.ts';
import {
  checkUrl,
  createWebhook,
  rotateWebhookSecret,
  type WebhookContext,
  type WebhookRequest,
  type WithSecret,
} from './webhooks.ts';

export type WebhookFixture = Awaited<ReturnType<typeof openWebhookFixture>>;

/** A webhook made by a test, with its secret. */
export interface Hook extends Owner {
  id: string;
  secret: string;
}

interface DeliveryRow {
  id: string;
  eventId: string;
  type: string;
  payload: { id: string; type: string; live: boolean; data: Record<string, unknown> };
  state: string;
  attempts: number;
  dueAt: Date;
  responseStatus: number | null;
  error: string | null;
}

/** Makes a webhook as the endpoint does. */
export async function makeWebhook(
  { sql, config }: WebhookContext,
  owner: Owner,
  request: WebhookRequest,
  resolve?: Resolve,
): Promise<WithSecret> {
  const url = await checkUrl(request.url, config, resolve);
  return inTransaction(sql, (tx) => createWebhook(tx, config, owner, { ...request, url }));
}

/** Rotates a secret as the endpoint does. */
export function rotate(
  { sql, config }: WebhookContext,
  owner: Owner,
  rotation: { id: string; overlapSeconds: number },
): Promise<WithSecret> {
  return inTransaction(sql, (tx) => rotateWebhookSecret(tx, config, owner, rotation));
}

export async function openWebhookFixture(environment: Record<string, string> = {}) {
  const pipeline = await openPipeline({
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    CHUNK_ROWS: '2',
    ...environment,
  });
  const receiver = await openReceiver();
  return {
    ...pipeline,
    receiver,

    /** Creates a webhook of the account that points to the receiver and takes every event. */
    async hook(
      { accountId }: { accountId: string },
      changed: Partial<WebhookRequest> & { live?: boolean } = {},
    ): Promise<Hook> {
      const { live = true, ...request } = changed;
      const owner = { accountId, live };
      const { webhook, secret } = await makeWebhook(pipeline.context, owner, {
        url: receiver.url,
        events: [...eventTypes],
        creditsLowThreshold: 100,
        enabled: true,
        ...request,
      });
      return { ...owner, id: webhook.id, secret };
    },

    show: (hook: Hook): Promise<Webhook | undefined> => findOwnWebhook(pipeline.sql, hook, hook.id),

    /** Causes events: revokes keys of the account. */
    async causeEvent({ accountId }: { accountId: string }, times = 1): Promise<void> {
      for (let n = 0; n < times; n++) {
        const key: Caller = await pipeline.keyOf(accountId, 'live');
        await revokeOwnKey(pipeline.sql, { accountId, mode: null }, key.keyId);
      }
    },

    /** Makes every due delivery, and those that become due through it. */
    async deliver(changed: Partial<DeliveryDependencies> = {}): Promise<void> {
      const deliverer = openDeliverer(pipeline.context, { random: () => 0, ...changed });
      await deliverer.wake();
      await deliverer.idle();
    },

    /** All deliveries to a webhook, oldest first. */
    deliveries: ({ id }: { id: string }) => pipeline.sql<DeliveryRow[]>`
      select * from webhook_deliveries where webhook_id = ${id} order by created_at, id`,

    async close(): Promise<void> {
      receiver.close();
      await pipeline.close();
    },
  };
}

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A time on an injected clock, later than everything so far. */
export const fromNow = (seconds: number) => new Date(Date.now() + (MINUTE + seconds) * 1000);
export const plus = (moment: Date, seconds: number) => new Date(moment.getTime() + seconds * 1000);

/** Verifies a message as of the current time. */
export function verify(
  message: Received | undefined,
  secret: string,
  moment = new Date(),
): unknown {
  const { body, headers } = must(message, 'message');
  vi.useFakeTimers({ toFake: ['Date'], now: moment });
  try {
    return new Verifier(secret).verify(body, headers);
  } finally {
    vi.useRealTimers();
  }
}

export const responded = (status: number, retryAfter: string | null = null): Attempt => ({
  status,
  error: status === 200 ? null : `responded ${status}`,
  retryAfter,
  durationMs: 1,
});

/** Attempts that begin and end under a test's control, and the webhooks they are for in order. */
export function controlledAttempts() {
  const begun: string[] = [];
  const ends: ((attempt: Attempt) => void)[] = [];
  const post: DeliveryDependencies['post'] = ({ url }) => {
    begun.push(new URL(url).pathname.slice(1));
    return new Promise((resolve) => ends.push(resolve));
  };
  return {
    begun,
    post,
    endNext: (attempt: Attempt) => must(ends.shift(), 'attempt')(attempt),
    count: (name: string) => begun.filter((one) => one === name).length,
    began: (number: number) => vi.waitUntil(() => begun.length >= number, { interval: 1 }),
  };
}
