import type { Request, RequestHandler } from 'express';
import { startRequestSpan } from '../../core/tracing.ts';
import { requestIdOf } from './problem.ts';
import { noteRequest, routeOf } from './request-log.ts';

/** Traces every request, within the caller's trace if it sends one. Used only when tracing is on. */
export const traceRequests: RequestHandler = (request, response, next) => {
  const span = startRequestSpan(request.headers);
  if (span === null) return next();
  noteRequest(response, { trace: span.traceId });
  response.once('close', () => {
    const route = routeOf(request, response);
    const attributes = {
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': response.statusCode,
      'enrich.request_id': requestIdOf(response),
    };
    span.end(nameOf(request, route), attributes, response.statusCode >= 500);
  });
  span.run(next);
};

function nameOf(request: Request, route: string): string {
  return route === 'none' ? 'no route' : `${request.method} ${route}`;
}
