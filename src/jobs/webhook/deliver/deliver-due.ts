/**
 * Delivers due messages. Every worker runs this, woken by the notification that an event's commit sends, and
 * every few seconds by a sweep. The sweep finds due retries, deliveries of workers that died, and events whose
 * notification was lost.
 */
import { Counter } from 'prom-client';
import type { Config } from '../../../core/config.ts';
import { inTransaction } from '../../../core/db/client.ts';
import { metrics } from '../../../core/metrics.ts';
import type { JobContext } from '../../queue/job-context.ts';
import { type Repeating, startRepeating } from '../../queue/start-repeating.ts';
import { TEST_EVENT_TYPE } from '../event-types.ts';
import { signatureHeaders } from '../sign.ts';
import { openSecret } from '../signing-secret.ts';
import { resolveHost, type TargetRules } from '../target.ts';
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  claimDeliveries,
  recordOutcome,
} from './deliveries.sql.ts';
import { type Attempt, postMessage } from './post-message.ts';
import { nextWait, parseRetryAfter } from './retry-schedule.ts';

const SWEEP_EVERY_MS = 5_000;
/** The channel on which the commit of an event sends its notification. */
const NOTIFICATIONS = 'webhook_deliveries';
/**
 * Maximum in flight per worker of those whose receivers may still be quick. The others do not count: eight accounts with slow
 * receivers would keep everyone's deliveries waiting for as long as theirs take.
 */
const YOUNG_MAX = 64;
const YOUNG_MS = 2_000;
/** Maximum in flight per worker. A delivery that waits for its receiver costs next to nothing. */
const IN_FLIGHT_MAX = 512;
const bounds = { perAccount: 8, perWebhook: 4 };
/** The retry schedule of one delivery takes three days: a longer failure is not an outage. */
const FAILING_DAYS_MAX = 5;
/** The receiver is gone for good (Standard Webhooks; RFC 9110, 15.5.11). */
const GONE = 410;

const attempts = new Counter({
  name: 'enrich_webhook_attempts_total',
  help: 'Webhook delivery attempts by outcome. A failed one is not retried automatically.',
  labelNames: ['end'],
  registers: [metrics],
});
const ends = ['delivered', 'retried', 'failed'] as const;
// Starts each counter at 0, so that an alert on its growth sees the first event.
for (const end of ends) attempts.inc({ end }, 0);

type DeliverContext = Pick<JobContext, 'sql' | 'log'> & {
  config: Pick<Config, 'webhookAllowedHosts' | 'webhookEncryptionKey'>;
};

/** Outside dependencies, which tests replace. */
export interface DeliveryDependencies {
  /** The current time; null to use the database's clock. */
  now: Date | null;
  /** From 0 to 1. */
  random(): number;
  /** Rules checked before each connection. */
  rules: TargetRules;
  /** Makes the attempt. */
  post: typeof postMessage;
}

/** Delivers up to a bound at once, until nothing is due. */
export interface Deliverer {
  /** Looks for due deliveries; if a look is under way, looks once more after it. */
  wake(): Promise<void>;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
  /** Claims no more, and resolves when everything in flight has ended. */
  stop(): Promise<void>;
}

export function openDeliverer(
  context: DeliverContext,
  changed: Partial<DeliveryDependencies> = {},
): Deliverer {
  const rules = { allowedHosts: context.config.webhookAllowedHosts, resolve: resolveHost };
  const around = { now: null, random: Math.random, rules, post: postMessage, ...changed };
  const inFlight = new Map<Promise<void>, { accountId: string; begunAt: number }>();
  let looking: Promise<void> | null = null;
  let isWokenAgain = false;
  let isStopped = false;

  const start = (claimed: ClaimedDelivery) => {
    const delivery = deliver(context, claimed, around)
      // The message may have arrived: the next holder of the lease sends it again, under the same id.
      .catch((error) => warn(context, error, 'delivery outcome lost'))
      .finally(() => {
        inFlight.delete(delivery);
        // It may have held back another delivery.
        wake().catch((error) => warn(context, error, 'could not claim due deliveries'));
      });
    inFlight.set(delivery, { accountId: claimed.accountId, begunAt: performance.now() });
  };
  const room = () => {
    if (isStopped) return 0;
    const youngSince = performance.now() - YOUNG_MS;
    const young = [...inFlight.values()].filter(({ begunAt }) => begunAt > youngSince).length;
    return Math.max(0, Math.min(YOUNG_MAX - young, IN_FLIGHT_MAX - inFlight.size));
  };
  const look = async () => {
    do {
      isWokenAgain = false;
      const limit = room();
      if (limit === 0) return;
      const attempted = [...inFlight.values()].map(({ accountId }) => accountId);
      const claim = { now: around.now, limit, bounds, attempted };
      for (const claimed of await inTransaction(context.sql, (tx) => claimDeliveries(tx, claim))) {
        start(claimed);
      }
    } while (isWokenAgain);
  };
  const wake = () => {
    isWokenAgain = true;
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  const idle = async () => {
    while (looking !== null || inFlight.size > 0) {
      await Promise.allSettled([looking, ...inFlight.keys()]);
    }
  };
  return {
    wake,
    idle,
    async stop() {
      isStopped = true;
      await idle();
    },
  };
}

function warn({ log }: DeliverContext, error: unknown, what: string): void {
  log.warn({ err: error }, what);
}

/** Makes one attempt and records its outcome. */
async function deliver(
  context: DeliverContext,
  claimed: ClaimedDelivery,
  { now, random, rules, post }: DeliveryDependencies,
): Promise<void> {
  const { sql, log } = context;
  const attempt = await attemptOnce(context, claimed, (message) => post(message, rules));
  const outcome = judge(claimed, attempt, random());
  const clock = { now, failingDaysMax: FAILING_DAYS_MAX };
  const { recorded, disabled } = await recordOutcome(sql, claimed, outcome, clock);
  const { id: delivery, webhookId: webhook, attempt: number } = claimed;
  if (recorded) attempts.inc({ end: endOf(outcome) });
  log.debug({ delivery, webhook, attempt: number, status: attempt.status, recorded }, 'attempted');
  if (disabled !== null) log.warn({ webhook, reason: disabled }, 'webhook disabled');
}

/** The metric label of an outcome. A failed delivery is not retried automatically. */
function endOf({ isDelivered, isGone, retryAfterSeconds }: AttemptOutcome): (typeof ends)[number] {
  if (isDelivered) return 'delivered';
  return isGone || retryAfterSeconds === null ? 'failed' : 'retried';
}

async function attemptOnce(
  { config, log }: DeliverContext,
  claimed: ClaimedDelivery,
  post: (message: Parameters<typeof postMessage>[0]) => Promise<Attempt>,
): Promise<Attempt> {
  const { webhookId, url, eventId, payload, claimedAt } = claimed;
  const opened = claimed.secrets.map((stored) =>
    openSecret(stored, webhookId, config.webhookEncryptionKey),
  );
  if (opened[0] === null) {
    log.error(
      { webhook: webhookId },
      'signing secret cannot be decrypted: check WEBHOOK_ENCRYPTION_KEY',
    );
    const error = 'its signing secret cannot be read: rotate it';
    return { status: null, error, retryAfter: null, durationMs: 0 };
  }
  const secrets = opened.filter((secret) => secret !== null);
  const body = JSON.stringify(payload);
  const timestamp = Math.floor(claimedAt.getTime() / 1000);
  const signature = signatureHeaders({ id: eventId, timestamp, body }, secrets);
  const headers = {
    ...signature,
    'Content-Type': 'application/json',
    'User-Agent': 'enrichment-pipeline',
  };
  return post({ url, headers, body });
}

function judge(claimed: ClaimedDelivery, attempt: Attempt, random: number): AttemptOutcome {
  const isDelivered = attempt.error === null;
  const asked = parseRetryAfter(attempt.retryAfter, claimed.claimedAt);
  // A test event is not retried: its sender sees the outcome and can send another.
  const isOver = isDelivered || claimed.type === TEST_EVENT_TYPE;
  return {
    isDelivered,
    retryAfterSeconds: isOver ? null : nextWait(claimed.round, asked, random),
    isGone: attempt.status === GONE,
    responseStatus: attempt.status,
    error: attempt.error,
    durationMs: attempt.durationMs,
  };
}

/** Delivers due messages on notification and every few seconds, until stopped. */
export function startDelivering(context: DeliverContext): Repeating {
  const { sql, log } = context;
  const deliverer = openDeliverer(context);
  const logError = (error: unknown) => log.error({ err: error }, 'webhook delivery failed');
  const sweeping = startRepeating(SWEEP_EVERY_MS, deliverer.wake, logError);
  sql
    .listen(NOTIFICATIONS, () => void deliverer.wake().catch(logError))
    .catch((error) =>
      warn(context, error, 'cannot listen for new deliveries: only the sweep finds them'),
    );
  return {
    async stop() {
      await sweeping.stop();
      await deliverer.stop();
    },
  };
}
