/**
 * Records every request as a metric and a log line when its response has ended. Both contain the route's template,
 * never the path or query string as sent: those contain identifiers of people.
 */
import type { Request, RequestHandler, Response } from 'express';
import { Histogram } from 'prom-client';
import { isUuid } from '../../core/lib/ids.ts';
import type { Log } from '../../core/log.ts';
import { metrics } from '../../core/metrics.ts';
import { requestIdOf } from './problem.ts';

const requestSeconds = new Histogram({
  name: 'enrich_http_request_seconds',
  help: 'Time from the headers of a request to the end of its response.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
  registers: [metrics],
});

/** The methods of all routes. Others, and those that a path does not take, are the callers' choice: each would make series. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);
const METHOD_NOT_ALLOWED = 405;

/** The paths that balancers and orchestrators request every few seconds. */
const probes = ['/healthz', '/readyz'];

interface Noted {
  account?: string;
  /** The key's id. */
  key?: string;
  /** The id of its trace. */
  trace?: string;
  /** The export that a schedule started, which no header names. */
  batch?: string;
  /** State of the schedule after a change of it. */
  enabled?: boolean;
  /** The template, for a path without a route of its own. */
  route?: string;
}

/** Remembers ids and more for the log line of a request. */
export function noteRequest(response: Response, noted: Noted): void {
  Object.assign(response.locals, noted);
}

/** Returns the account of the request's key; undefined before it is known. */
export function accountOf(response: Response): string | undefined {
  return (response.locals as Noted).account;
}

/** Returns the middleware, which comes before all routes and after the request has its id. */
export function observeRequests(log: Log): RequestHandler {
  return (request, response, next) => {
    const start = performance.now();
    response.once('close', () => {
      const ms = performance.now() - start;
      const { account, key, trace, batch, enabled } = response.locals as Noted;
      const credits = response.getHeader('X-Credits-Charged');
      const route = routeOf(request, response);
      const isServed = route !== 'none' && response.statusCode !== METHOD_NOT_ALLOWED;
      const method = isServed && methods.has(request.method) ? request.method : 'any';
      // False when the client disconnected before the end.
      const isComplete = response.writableFinished;
      const status = isComplete ? `${Math.floor(response.statusCode / 100)}xx` : 'aborted';
      requestSeconds.observe({ method, route, status }, ms / 1000);
      const level = probes.includes(route) ? 'debug' : 'info';
      if (!log.isLevelEnabled(level)) return;
      log[level](
        {
          requestId: requestIdOf(response),
          method,
          route,
          status: isComplete ? response.statusCode : 'aborted',
          ms: Math.round(ms * 100) / 100,
          account,
          key,
          trace,
          batch: batch ?? batchOf(request, response, route),
          object: objectOf(request, response, route),
          enabled,
          credits: credits === undefined ? undefined : Number(credits),
        },
        'request',
      );
    });
    next();
  };
}

/** Returns the id of the list or export that was created or requested; never a text that a caller made up. */
function batchOf(request: Request, response: Response, route: string): string | undefined {
  const made = /^\/v1\/(?:batches|exports)\/([\da-f-]{36})$/.exec(
    String(response.getHeader('Location')),
  );
  if (made !== null) return made[1];
  return idIn(request, response, /^\/v1\/(batches|exports)\/:id/.test(route));
}

/** Returns the id of the key, schedule or other setting that was requested. */
function objectOf(request: Request, response: Response, route: string): string | undefined {
  const isSetting = /^\/v1\/(keys|schedules|webhooks|mappings|searches)\/:id/.test(route);
  return idIn(request, response, isSetting);
}

/** Returns the id in the path of a request that was not refused. A client that left before may have sent any text. */
function idIn(request: Request, response: Response, isAbout: boolean): string | undefined {
  const id = String(request.params.id);
  return isAbout && response.statusCode < 400 && isUuid(id) ? id : undefined;
}

/** Returns the template of the route, with its parameters by name; `none` without a route. */
export function routeOf(request: Request, response: Response): string {
  const { route } = response.locals as Noted;
  return route ?? (request.route === undefined ? 'none' : String(request.route.path));
}
