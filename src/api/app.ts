/** The HTTP application: every route of the list, and what stands around them. */
import express, { type Express } from 'express';
import helmet from 'helmet';
import { uuidv7 } from 'uuidv7';
import type { ApiContext } from './api-context.ts';
import { readiness } from './health.ts';
import { renderOpenApi } from './openapi/openapi.ts';
import { refuseUnknownPath, renderProblems } from './problem.ts';
import { routes } from './routes.ts';

/** Builds the application; the caller listens. */
export function createApp(context: ApiContext): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(helmet());
  app.use((_request, response, next) => {
    response.setHeader('X-Request-Id', uuidv7());
    next();
  });
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', readiness(context));
  const openApi = JSON.stringify(renderOpenApi(routes));
  app.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(openApi);
  });
  for (const route of routes) app[route.method](route.path, route.toHandler(context));
  app.use(refuseUnknownPath);
  app.use(renderProblems(context.log));
  return app;
}
