/** Answers a call that made a batch: with the batch, or with its results where the caller waits for them. */
import { pipeline } from 'node:stream/promises';
import { availableCredits } from '../core/credits/credits.ts';
import { assertStillInForce } from '../core/sessions/still-in-force.ts';
import type { Batch } from '../jobs/batch/batch.ts';
import { viewBatch } from '../jobs/batch/batch-view.ts';
import { isFinal } from '../jobs/batch/states.ts';
import { openResults } from '../jobs/result/results.ts';
import { type RouteInput, sayCredits } from './define-route.ts';

/** A connection on which nothing is said for longer is cut by many a proxy. */
const WAIT_SECONDS_MAX = 50;

/**
 * Sends 202 and the batch; with `Prefer: wait=<seconds>` (RFC 7240) 200 and the results as JSON lines
 * when the batch completes in that time. Throws `AppError` 401 or 403 when the session or the key that asked
 * for them ends meanwhile; the batch goes on.
 */
export async function answerBatch(
  { context, key, credentials, request, response }: RouteInput<unknown, unknown>,
  made: Batch,
): Promise<void> {
  const seconds = preferredWait(request.get('Prefer'));
  response.location(`/v1/batches/${made.id}`);
  const batch = seconds === 0 ? made : await untilIdle(context, made, seconds, response);
  if (response.destroyed) return;
  // What the list found is for a caller who could still read it by the list's id.
  if (seconds > 0) await assertStillInForce(context.sql, credentials);
  if (seconds > 0) response.setHeader('Preference-Applied', `wait=${seconds}`);
  if (batch.state !== 'completed') {
    response.status(202).json(viewBatch(batch, new Date()));
    return;
  }
  const results = await openResults(context, batch, { format: 'jsonl', gzip: false });
  sayCredits(response, batch.creditsCharged, await availableCredits(context.sql, key.accountId));
  response.setHeader('Content-Type', 'application/jsonl; charset=utf-8');
  response.setHeader('X-Result-Complete', String(results.complete));
  await pipeline(results.stream, response);
}

/** The batch once nothing more happens to it by itself, or as it is when the time is over. */
function untilIdle(
  { watcher }: RouteInput<unknown, unknown>['context'],
  made: Batch,
  seconds: number,
  response: RouteInput<unknown, unknown>['response'],
): Promise<Batch> {
  const signal = AbortSignal.timeout(seconds * 1000);
  return new Promise((resolve) => {
    let last = made;
    const stop = () => {
      unwatch();
      signal.removeEventListener('abort', stop);
      response.off('close', stop);
      resolve(last);
    };
    const unwatch = watcher.watch(made, (batch) => {
      last = batch;
      if (isFinal(batch.state) || batch.state === 'ready' || batch.state === 'paused') stop();
    });
    signal.addEventListener('abort', stop);
    response.on('close', stop);
  });
}

function preferredWait(header: string | undefined): number {
  const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(header ?? '')?.[1];
  return Math.min(Number(wait ?? 0), WAIT_SECONDS_MAX);
}
