/** The answer of a call that has an event sent: 202 with the delivery, which workers make. */
import type { Sql } from '../core/db/client.ts';
import { requestHash } from '../core/idempotency/idempotency.ts';
import { viewDelivery } from '../jobs/webhook/webhook-view.ts';
import type { Delivery } from '../jobs/webhook/webhooks.sql.ts';
import type { RouteInput } from './define-route.ts';
import { claimRequest, replay } from './idempotent-request.ts';

/** `send` records the delivery, and calls `alongside` in its transaction. */
export async function answerDelivery<Query, Params extends Record<string, string>>(
  { context, key, params, request, response }: RouteInput<Query, Params>,
  send: (alongside: (tx: Sql, delivery: Delivery) => Promise<void>) => Promise<Delivery>,
): Promise<void> {
  const idempotency = await claimRequest(context, key, request);
  try {
    const requestSha256 = requestHash({ params }, null);
    if (idempotency.stored !== null) {
      replay(response, idempotency.stored, requestSha256);
      return;
    }
    const delivery = await send((tx, sent) =>
      idempotency.respond(tx, { requestSha256, status: 202, body: viewDelivery(sent) }),
    );
    response.status(202).json(viewDelivery(delivery));
  } finally {
    await idempotency.release();
  }
}
