/**
 * Bull Board over the queues of either backend, read-only: methods other than GET are refused, although the page
 * offers them. Payloads of jobs contain only ids.
 */
import { Router } from 'express';
import { AppError, unavailable } from '../../core/lib/errors.ts';
import type { Queues } from '../../jobs/queue/queues.ts';
import { noteRequest } from '../http/request-log.ts';

const PATH = '/admin/queues';

/** The board's page has inline styles and connects only to this service. Other pages keep their policies. */
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

export function serveQueueBoard(queues: Pick<Queues, 'opened' | 'countJobs'>): Router {
  const router = Router();
  let board: Promise<Router> | null = null;
  router.use((request, response, next) => {
    if (request.method !== 'GET') throw onlyGet();
    noteRequest(response, { route: PATH });
    response.setHeader('Content-Security-Policy', policy);
    next();
  });
  router.use('/api', async (_request, _response, next) => {
    await assertResponds(queues);
    next();
  });
  router.use(async (request, response, next) => {
    board ??= openBoard(queues.opened()).catch((error: unknown) => {
      board = null;
      throw error;
    });
    (await board)(request, response, next);
  });
  return router;
}

/** Throws `AppError` 503 while the queue does not respond: the board would wait for it, or fail. */
async function assertResponds(queues: Pick<Queues, 'countJobs'>): Promise<void> {
  try {
    await queues.countJobs();
  } catch (cause) {
    const message = 'The queue does not respond. Try again in a moment.';
    throw unavailable('unavailable', message, { cause });
  }
}

/** Loads the board on first use: most processes never need it. */
async function openBoard(opened: ReturnType<Queues['opened']>): Promise<Router> {
  const { createBullBoard } = await import('@bull-board/api');
  const { BullMQAdapter } = await import('@bull-board/api/bullMQAdapter');
  const { ExpressAdapter } = await import('@bull-board/express');
  /** Passes errors on to the service's own handler: the board's would send their messages to the page. */
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
    message: 'This view of the queues is read-only.',
  });
}
