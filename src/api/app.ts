/** The HTTP application: every route of the list, and the middleware around them. */
import express, { type Express, type Request } from 'express';
import { uuidv7 } from 'uuidv7';
import { openShare, type Share } from '../core/limits/shares.ts';
import { isTracing } from '../core/tracing.ts';
import { serveAdmin } from './admin/serve-admin.ts';
import { serveConsole } from './console/serve-console.ts';
import type { OpenApiDocument } from './docs/open-api-document.ts';
import { serveDocs } from './docs/serve-docs.ts';
import type { ApiContext } from './http/api-context.ts';
import type { Route } from './http/define-route.ts';
import { readiness } from './http/health.ts';
import { type HttpLimits, httpLimits, limitRequest } from './http/http-server.ts';
import { refuseOtherMethods, refuseUnknownPath, renderProblems } from './http/problem.ts';
import { observeRequests } from './http/request-log.ts';
import { securityHeadersOf } from './http/security-headers.ts';
import { traceRequests } from './http/trace-requests.ts';
import { renderOpenApi } from './openapi/openapi.ts';
import { rowTypes } from './receive-rows.ts';
import { reconcileRoutes } from './reconcile/reconcile-routes.ts';
import { documentedRoutes } from './routes.ts';

/** Builds the application; the caller serves it with `createHttpServer` and the same limits. */
export function createApp(context: ApiContext, limits: HttpLimits = httpLimits): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // One spelling per route: `/ADMIN` must not get past a proxy's rule for `/admin`.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', context.config.trustProxy);
  app.use((request, response, next) => {
    // Each bound listens once for the end: twelve listeners for an upload that waits for its results. Node takes more
    // than ten for a leak.
    response.setMaxListeners(20);
    response.setHeaders(securityHeadersOf(request.path));
    response.setHeader('X-Request-Id', uuidv7());
    next();
  });
  app.use(observeRequests(context.log));
  if (isTracing()) app.use(traceRequests);
  app.use(limitRequest(limits, isUpload));
  const writes = openWrites(context.config);
  // First, because the router tries its routes in order.
  for (const route of documentedRoutes) {
    // The only path that ends with a slash is often called without it.
    app[route.method](route.path.replace(/\/$/, '{/}'), route.toHandler(context, writes));
  }
  // Its clients are pages of other addresses; it takes no cookie.
  app.use('/v1/reconcile', (_request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    next();
  });
  for (const route of reconcileRoutes)
    app[route.method](route.path, route.toHandler(context, writes));
  for (const [path, methods] of methodsByPath([...documentedRoutes, ...reconcileRoutes])) {
    app.all(path.replace(/\/$/, '{/}'), refuseOtherMethods(path, methods));
  }
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', readiness(context));
  const readOpenApi = openApiReader();
  app.use(serveDocs(() => JSON.parse(readOpenApi().toString()) as OpenApiDocument));
  app.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(readOpenApi());
  });
  app.use('/admin', serveAdmin(context));
  app.use(serveConsole(context));
  app.use(refuseUnknownPath);
  app.use(renderProblems(context.log));
  return app;
}

/**
 * Returns the share for transactions of callers and their slow reads. Those of one account wait for each other's
 * locks, each on a connection of the pool. Calls are admitted on the same pool: all accounts together leave two
 * connections.
 */
function openWrites({ databaseConnections }: ApiContext['config']): Share {
  return openShare({
    name: 'transactions',
    inFlightMax: Math.max(1, databaseConnections - 2),
    accountInFlightMax: 2,
    // A key may send its 60 requests per minute at once, and none of them is refused.
    accountWaitingMax: 64,
    waitMsMax: 10_000,
  });
}

/**
 * Returns a function with the OpenAPI document, rendered at its first call: that takes a tenth of the time of a start, and few
 * processes are asked for it.
 */
function openApiReader(): () => Buffer {
  // As bytes: a string would be copied for every reader, and kept for slow ones.
  let bytes: Buffer | undefined;
  return () => {
    bytes ??= Buffer.from(JSON.stringify(renderOpenApi(documentedRoutes)));
    return bytes;
  };
}

/** Returns true for the upload of a list or an import, which may take any time as long as bytes arrive. */
function isUpload(request: Request): boolean {
  if (request.method !== 'POST') return false;
  const isOfImport = /^\/admin\/import-runs(\/[^/]+\/files)?$/.test(request.path);
  return isOfImport || (request.path === '/v1/batches' && !request.is(rowTypes));
}

/** The methods of each path, such as `GET`, in the order of the routes. */
function methodsByPath(routes: readonly Route[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method, head } of routes) {
    const known = methods.get(path) ?? [];
    methods.set(path, [...known, method.toUpperCase(), ...(head ? ['HEAD'] : [])]);
  }
  return methods;
}
