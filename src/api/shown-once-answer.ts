/**
 * The answer of a call that makes a secret: a key, or what signs the messages of a webhook. What is kept for
 * its Idempotency-Key is without the secret's text: it is shown once, so a replay tells everything but that.
 */
import type { z } from 'zod';
import type { Sql } from '../core/db/client.ts';
import { requestHash } from '../core/idempotency/idempotency.ts';
import { parseParameters, type RouteInput } from './define-route.ts';
import { claimRequest, replay } from './idempotent-request.ts';
import { readJson } from './read-json.ts';

/** Keeps what is shown beside the secret in the transaction that makes it. */
type Alongside = (tx: Sql, view: Record<string, unknown>) => Promise<void>;

/** `make` returns the secret's text, which stands in the answer as `name`. */
export async function answerOnce<Body extends z.ZodType, Query, Params>(
  { context, key, request, response }: RouteInput<Query, Params>,
  { name, schema }: { name: string; schema: Body },
  make: (options: z.output<Body>, alongside: Alongside) => Promise<string>,
): Promise<void> {
  const idempotency = await claimRequest(context, key, request);
  try {
    const options = parseParameters(schema, await readJson(request));
    const requestSha256 = requestHash({ options }, null);
    if (idempotency.stored !== null) {
      replay(response, idempotency.stored, requestSha256);
      return;
    }
    let shown: Record<string, unknown> = {};
    const secret = await make(options, (tx, view) => {
      shown = view;
      const body = { [name]: null, ...view };
      return idempotency.respond(tx, { requestSha256, status: 201, body });
    });
    response.setHeader('Cache-Control', 'no-store');
    response.status(201).json({ [name]: secret, ...shown });
  } finally {
    await idempotency.release();
  }
}
