/** The HTTP application: every route of the list, and what stands around them. */
import express, { type Express, type Request } from 'express';
import { uuidv7 } from 'uuidv7';
import { openShare, type Share } from '../core/limits/shares.ts';
import { isTracing } from '../core/tracing.ts';
import { serveAdmin } from './admin/serve-admin.ts';
import type { ApiContext } from './api-context.ts';
import { serveConsole } from './console/serve-console.ts';
import type { OpenApiDocument } from './docs/open-api-document.ts';
import { serveDocs } from './docs/serve-docs.ts';
import { readiness } from './health.ts';
import { type HttpLimits, httpLimits, limitRequest } from './http-server.ts';
import { renderOpenApi } from './openapi/openapi.ts';
import { refuseUnknownPath, renderProblems } from './problem.ts';
import { rowTypes } from './receive-rows.ts';
import { observeRequests } from './request-log.ts';
import { routes } from './routes.ts';
import { securityHeadersOf } from './security-headers.ts';
import { traceRequests } from './trace-requests.ts';

/** Builds the application; the caller serves it with `createHttpServer` and the same limits. */
export function createApp(context: ApiContext, limits: HttpLimits = httpLimits): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // One spelling a route: a proxy's rule for `/admin` must not be passed by `/ADMIN`.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', context.config.trustProxy);
  app.use((request, response, next) => {
    // Each bound that holds something for a response listens for its end; Node warns of ten as of a leak.
    response.setMaxListeners(20);
    response.setHeaders(securityHeadersOf(request.url));
    response.setHeader('X-Request-Id', uuidv7());
    next();
  });
  app.use(observeRequests(context.log));
  if (isTracing()) app.use(traceRequests);
  app.use(limitRequest(limits, isUpload));
  const writes = openWrites(context.config);
  // First, because the router asks one after the other.
  for (const route of routes) {
    // The one path that ends with a slash is often called without it.
    app[route.method](route.path.replace(/\/$/, '{/}'), route.toHandler(context, writes));
  }
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', readiness(context));
  const openApi = JSON.stringify(renderOpenApi(routes));
  app.use(serveDocs(JSON.parse(openApi) as OpenApiDocument));
  // As bytes: a text would be copied for every reader, and held for the slow ones.
  const openApiBytes = Buffer.from(openApi);
  app.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(openApiBytes);
  });
  app.use('/admin', serveAdmin(context));
  app.use(serveConsole(context));
  app.use(refuseUnknownPath);
  app.use(renderProblems(context.log));
  return app;
}

/**
 * Places for transactions of callers, and for their slow reads. Those of one account wait for each other's locks, each on a connection of the
 * pool, which is also what lets calls in: all accounts together leave two connections.
 */
function openWrites({ databaseConnections }: ApiContext['config']): Share {
  return openShare({
    name: 'transactions',
    inFlightMax: Math.max(1, databaseConnections - 2),
    accountInFlightMax: 2,
    // A key may send its 60 requests a minute at once: none of them is refused for that.
    accountWaitingMax: 64,
    waitMsMax: 10_000,
  });
}

/** A list may take as long as it needs while its bytes come. */
function isUpload(request: Request): boolean {
  return request.method === 'POST' && request.path === '/v1/batches' && !request.is(rowTypes);
}
