/**
 * Bull Board over the queues, wherever they are kept. It may only look: no method but GET passes, whatever
 * the page offers. Payloads of jobs hold ids and nothing else.
 */
import { Router } from 'express';
import { AppError } from '../../core/lib/errors.ts';
import type { Queues } from '../../jobs/queue/queues.ts';
import { noteRequest } from '../request-log.ts';

const PATH = '/admin/queues';

/** Its page has styles of its own inside, and asks this service alone. Other pages keep their policies. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function serveQueueBoard(queues: Pick<Queues, 'opened'>): Router {
  const router = Router();
  let board: Promise<Router> | null = null;
  router.use((request, response, next) => {
    if (request.method !== 'GET') throw onlyGet();
    noteRequest(response, { route: PATH });
    response.setHeader('Content-Security-Policy', policy);
    next();
  });
  router.use(async (request, response, next) => {
    board ??= openBoard(queues.opened());
    (await board)(request, response, next);
  });
  return router;
}

/** Loaded when somebody looks: most processes never need it. */
async function openBoard(opened: ReturnType<Queues['opened']>): Promise<Router> {
  const { createBullBoard } = await import('@bull-board/api');
  const { BullMQAdapter } = await import('@bull-board/api/bullMQAdapter');
  const { ExpressAdapter } = await import('@bull-board/express');
  /** Hands errors on to the service's own handler: the board's would send their messages to the page. */
  class Adapter extends ExpressAdapter {
    override setErrorHandler(): this {
      return super.setErrorHandler((error) => {
        throw error;
      });
    }
  }
  const serverAdapter = new Adapter().setBasePath(PATH);
  createBullBoard({
    queues: opened.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Queues' } },
  });
  const app = serverAdapter.getRouter();
  app.disable('x-powered-by');
  return app;
}

function onlyGet(): AppError {
  return new AppError({
    code: 'method_not_allowed',
    status: 405,
    message: 'The queues can be looked at here, not changed.',
  });
}
