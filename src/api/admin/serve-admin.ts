/** The operator's view of the running service, for keys with the scope `admin`. It is not part of the public API. */
import { Router } from 'express';
import type { ApiContext } from '../http/api-context.ts';
import { noteRequest } from '../http/request-log.ts';
import { adminOnly, askForKey } from './admin-only.ts';
import { readHealth } from './read-health.ts';
import { readSources } from './read-sources.ts';
import { serveQueueBoard } from './serve-queue-board.ts';

/** Serves `/admin/health` and the sources of records as JSON, and `/admin/queues` as a page. */
export function serveAdmin(context: ApiContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use((_request, response, next) => {
    noteRequest(response, { route: '/admin' });
    next();
  });
  router.use(adminOnly(context));
  router.get('/health', async (_request, response) => {
    noteRequest(response, { route: '/admin/health' });
    response.json(await readHealth(context));
  });
  for (const [path, of] of [
    ['/people', 'person'],
    ['/companies', 'company'],
  ] as const) {
    router.get(`${path}/:id/sources`, async (request, response) => {
      noteRequest(response, { route: `/admin${path}/:id/sources` });
      response.json(await readSources(context.sql, of, request.params.id));
    });
  }
  router.use('/queues', serveQueueBoard(context.queues));
  router.use(askForKey);
  return router;
}
