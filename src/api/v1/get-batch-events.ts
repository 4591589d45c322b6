import type { Batch } from '../../jobs/batch/batch.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { isFinal } from '../../jobs/batch/states.ts';
import { forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams, sent } from '../http/define-route.ts';
import { holdResponse } from '../http/held-bytes.ts';
import { limitOpenResponses } from '../http/open-responses.ts';
import { requireOwnBatch } from '../own-objects.ts';

/** Proxies close a connection that is silent for a minute. */
const HEARTBEAT_MS = 15_000;
/** A listener that does not read is skipped: the next event is complete anyway. */
const UNREAD_BYTES_MAX = 64 * 1024;

const LISTENERS_MAX = 100;
/** A thousand take some 40 MiB (`bounds-listeners` of `docs/performance.md`). */
const PROCESS_LISTENERS_MAX = 2_000;
const holdListener = limitOpenResponses('event streams', LISTENERS_MAX, PROCESS_LISTENERS_MAX);

/** The JSON of each state, for all who listen to it. */
const written = new WeakMap<Batch, string>();

function jsonOf(batch: Batch): string {
  const json = written.get(batch) ?? JSON.stringify(viewBatch(batch));
  written.set(batch, json);
  return json;
}

/**
 * Server-sent events: `event: batch` (or `export`) with the whole batch at every change, from its present state to its
 * final one. The stream ends then, and when the key is revoked or the session ends. Every event is complete, so a
 * client that reconnects has missed nothing.
 */
export const getBatchEventsRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'get',
    path: `${resource.path}/:id/events`,
    summary: `Progress of ${resource.article} as server-sent events`,
    scope: resource.scope,
    params: idParams,
    responses: {
      200: {
        description: `The ${resource.noun} at every change.`,
        types: ['text/event-stream'],
      },
    },
    async handler({ context, key, credentials, params, response }) {
      const batch = await requireOwnBatch(context, key, resource.kind, params.id);
      holdListener(key.accountId, response);
      // Each event repeats the header of the list, or the filter of the export.
      holdResponse(key.accountId, response, jsonOf(batch).length);
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'X-Accel-Buffering': 'no',
      });
      let stop = () => {};
      const sendEvent = (now: Batch) => {
        if (response.writableLength > UNREAD_BYTES_MAX && !isFinal(now.state)) return;
        response.write(`event: ${resource.noun}\ndata: ${jsonOf(now)}\n\n`);
        if (!isFinal(now.state)) return;
        // Nothing may be written after this, however long the client takes to read the end.
        stop();
        response.end();
      };
      sendEvent(batch);
      if (isFinal(batch.state)) return sent;
      const heartbeat = setInterval(() => {
        if (response.writableLength <= UNREAD_BYTES_MAX) response.write(':\n\n');
      }, HEARTBEAT_MS);
      const end = () => {
        stop();
        response.end();
      };
      // A service that shuts down ends its streams at once: the client connects again, to another process.
      const unwatch = context.watcher.watch(batch, sendEvent, end);
      const unwatchCaller = context.watcher.watchCaller(credentials, end);
      stop = () => {
        unwatch();
        unwatchCaller();
        clearInterval(heartbeat);
      };
      response.on('close', stop);
      // The client may have disconnected before the watch began.
      if (response.destroyed) stop();
      return sent;
    },
  }),
]);
