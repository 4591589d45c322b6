/** Priced calls of one reconciliation request: each is charged as a single call, and what was charged is delivered. */

import type { EnrichCall } from '../../core/calls/enrich-calls.ts';
import { paymentError } from '../../core/credits/payment-error.ts';
import { countWork } from '../../core/enrich/count-work.ts';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import { discloseAmbiguous } from '../../core/enrich/free-outcomes.ts';
import { AppError } from '../../core/lib/errors.ts';
import { operations } from '../../core/operations.ts';
import { resultChanging } from '../../jobs/result/read-part.ts';
import { setCreditHeaders } from '../http/authorize.ts';
import type { RouteInput } from '../http/define-route.ts';
import { requestIdOf } from '../http/problem.ts';
import { availableBefore, payerOf, runCall } from '../respond-to-call.ts';

export type PaidCall = Pick<EnrichCall, 'operation' | 'row' | 'minProbability'>;

/**
 * Returns the outcomes of the calls; undefined for one that could not be paid, or failed. Throws when nothing was charged:
 * `AppError` 402 when a match could not be paid, before any look-up when not one could be, 401 or 403 when the key has ended.
 */
export async function enrichAll(
  input: RouteInput,
  wanted: readonly PaidCall[],
): Promise<(Outcome | undefined)[]> {
  const { context, key, response } = input;
  const payer = payerOf(input);
  const { live } = payer;
  const available = availableBefore(input);
  const price = Math.max(0, ...wanted.map(({ operation }) => operations[operation].price));
  const refused = live ? paymentError(price, { available, leftToday: key.creditsLeftToday }) : null;
  if (refused !== null) throw refused;
  const settled = await Promise.allSettled(
    wanted.map(async (call, index) => {
      const reference = `call:${requestIdOf(response)}:${index}`;
      const enriched = await runCall(input, { ...payer, required: null, ...call, reference });
      if (enriched === null) throw resultChanging();
      return enriched;
    }),
  );
  let charged = 0;
  let paid = 0;
  let remaining = available;
  const outcomes = settled.map((result, index) => {
    if (result.status === 'rejected') return undefined;
    const { outcome } = result.value;
    charged += result.value.charged;
    // A test key is charged nothing.
    if (outcome.status === 'matched' && (!live || result.value.charged > 0)) paid++;
    remaining = Math.min(remaining, result.value.remaining ?? remaining);
    const operation = wanted[index]?.operation ?? 'people.enrich';
    const rows = { [outcome.status]: 1 };
    countWork({ channel: 'call', operation, live, rows, credits: result.value.charged });
    return outcome;
  });
  for (const result of settled) {
    if (result.status === 'fulfilled') continue;
    const { reason } = result;
    if (charged === 0) throw reason;
    // What others were charged for is delivered.
    const isUnpaid = reason instanceof AppError && reason.status === 402;
    if (!isUnpaid) context.log.warn({ err: reason }, 'a call of a reconciliation request failed');
  }
  setCreditHeaders(response, charged, remaining);
  return [...discloseAmbiguous(outcomes, paid)];
}
