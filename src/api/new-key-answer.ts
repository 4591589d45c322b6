/**
 * The answer of a call that makes a key. What is kept for its Idempotency-Key is without the key's text:
 * a key is shown once, so a replay tells everything but that.
 */
import type { z } from 'zod';
import type { Sql } from '../core/db/client.ts';
import { requestHash } from '../core/idempotency/idempotency.ts';
import type { NewlyMadeKey } from '../core/keys/keys.ts';
import { parseParameters, type RouteInput } from './define-route.ts';
import { claimRequest, replay } from './idempotent-request.ts';
import { readJson } from './read-json.ts';

/** Keeps what is shown of the key in the transaction that makes it. */
type Alongside = (tx: Sql, view: Record<string, unknown>) => Promise<void>;

export async function answerWithKey<Body extends z.ZodType, Query, Params>(
  { context, key, request, response }: RouteInput<Query, Params>,
  schema: Body,
  make: (options: z.output<Body>, alongside: Alongside) => Promise<NewlyMadeKey>,
): Promise<void> {
  const idempotency = await claimRequest(context, key, request);
  try {
    const options = parseParameters(schema, await readJson(request));
    const requestSha256 = requestHash({ options }, null);
    if (idempotency.answered !== null) {
      replay(response, idempotency.answered, requestSha256);
      return;
    }
    let shown: Record<string, unknown> = {};
    const made = await make(options, (tx, view) => {
      shown = view;
      return idempotency.answer(tx, { requestSha256, status: 201, body: { key: null, ...view } });
    });
    response.setHeader('Cache-Control', 'no-store');
    response.status(201).json({ key: made.key, ...shown });
  } finally {
    await idempotency.release();
  }
}
