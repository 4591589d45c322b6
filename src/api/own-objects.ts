/** The objects that the path of a call names: those of its caller. */
import type { ApiKey } from '../core/keys/keys.sql.ts';
import { notFound } from '../core/lib/errors.ts';
import { type BatchKind, type BatchOf, titleOf } from '../jobs/batch/batch.ts';
import { findOwnBatch } from '../jobs/batch/batches.sql.ts';
import type { Schedule } from '../jobs/schedule/schedules.sql.ts';
import { requireOwnSchedule } from '../jobs/schedule/schedules.ts';
import type { Webhook } from '../jobs/webhook/webhooks.sql.ts';
import { requireOwnWebhook } from '../jobs/webhook/webhooks.ts';
import type { ApiContext } from './http/api-context.ts';
import type { RouteInput } from './http/define-route.ts';
import { parseId } from './http/parse-parameters.ts';
import { ownerOf } from './owner-of.ts';

/** Returns the caller's list or export. Throws `AppError` 404 for another id, also of another account or kind. */
export async function requireOwnBatch<Kind extends BatchKind>(
  context: ApiContext,
  key: ApiKey,
  kind: Kind,
  id: string,
): Promise<BatchOf<Kind>> {
  const uuid = parseId(titleOf(kind), id);
  const batch = await findOwnBatch(context.sql, ownerOf(key), kind, uuid);
  if (batch === undefined) throw notFound(`${titleOf(kind)} ${id}`);
  return batch;
}

type OfId = RouteInput<unknown, { id: string }>;

/** Returns the caller's schedule. Throws `AppError` 404, also for one of another account. */
export function scheduleOfPath({ context, key, params }: OfId): Promise<Schedule> {
  return requireOwnSchedule(context.sql, ownerOf(key), parseId('Schedule', params.id));
}

/** Returns the caller's webhook. Throws `AppError` 404, also for one of another account. */
export function webhookOfPath({ context, key, params }: OfId): Promise<Webhook> {
  return requireOwnWebhook(context.sql, ownerOf(key), parseId('Webhook', params.id));
}
