/** The response to a call with rows: the new batch, or its results when the caller waits for them. */
import { availableCredits } from '../core/credits/credits.ts';
import { AppError } from '../core/lib/errors.ts';
import { assertNotEnded } from '../core/sessions/still-valid.ts';
import type { ListBatch } from '../jobs/batch/batch.ts';
import { type BatchView, viewBatch } from '../jobs/batch/batch-view.ts';
import { isFinal } from '../jobs/batch/states.ts';
import { openResults } from '../jobs/result/results.ts';
import { setCreditHeaders } from './http/authorize.ts';
import { type RouteInput, sent } from './http/define-route.ts';
import { holdDownload } from './http/open-responses.ts';
import { sendWhileValid } from './http/while-valid.ts';

/** Many proxies close a connection that is silent for longer. */
const WAIT_SECONDS_MAX = 50;

/**
 * Returns 202 with the batch; with `Prefer: wait=<seconds>` (RFC 7240) sends 200 and the results as JSON lines
 * when the batch completes in that time and the account has a download left. Throws `AppError` 401 or 403 when the caller's
 * session or key ends meanwhile; the batch continues.
 */
export async function resultsWhenDone(
  { context, key, credentials, request, response }: RouteInput,
  made: ListBatch,
): Promise<{ status: 202; body: BatchView } | typeof sent> {
  const seconds = preferredWait(request.get('Prefer'));
  if (seconds === 0) return { status: 202, body: viewBatch(made) };
  const batch = await untilIdle(context, made, seconds, response);
  if (response.destroyed) return sent;
  // Only a caller who could still read them by the list's id gets the results.
  await assertNotEnded(context.sql, credentials);
  response.setHeader('Preference-Applied', `wait=${seconds}`);
  if (batch.state !== 'completed' || !mayDownload(key.accountId, response)) {
    return { status: 202, body: viewBatch(batch) };
  }
  const results = await openResults(context, batch, {
    format: 'jsonl',
    gzip: false,
    outcomes: null,
    search: null,
    reruns: false,
  });
  setCreditHeaders(
    response,
    batch.creditsCharged,
    await availableCredits(context.sql, key.accountId),
  );
  response.location(`/v1/batches/${batch.id}`);
  response.setHeader('Content-Type', 'application/jsonl; charset=utf-8');
  response.setHeader('X-Result-Complete', String(results.complete));
  await sendWhileValid(context, credentials, await results.read(), response);
  return sent;
}

/**
 * Counts the response as a download. Returns false at the maximum: the list is made, and its caller can read it by its id.
 */
function mayDownload(accountId: string, response: RouteInput['response']): boolean {
  try {
    holdDownload(accountId, response);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.status === 429) return false;
    throw error;
  }
}

/** Resolves with the batch when it does not continue by itself, or with its state when the time is over. */
function untilIdle(
  { watcher }: RouteInput['context'],
  made: ListBatch,
  seconds: number,
  response: RouteInput['response'],
): Promise<ListBatch> {
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
      // The kind of a batch never changes.
      last = batch as ListBatch;
      if (isFinal(batch.state) || batch.state === 'ready' || batch.state === 'paused') stop();
    });
    signal.addEventListener('abort', stop);
    response.on('close', stop);
    // The client may have disconnected before the watch began.
    if (response.destroyed) stop();
  });
}

function preferredWait(header: string | undefined): number {
  const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(header ?? '')?.[1];
  return Math.min(Number(wait ?? 0), WAIT_SECONDS_MAX);
}
