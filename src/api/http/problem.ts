/** Errors as RFC 9457 problem documents. An unexpected error discloses only the request id. */
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { isOfFiles, isUnavailable } from '../../core/db/pg-errors.ts';
import { hideKeys } from '../../core/keys/key-format.ts';
import { AppError, notFound, unavailable } from '../../core/lib/errors.ts';
import type { Log } from '../../core/log.ts';

export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    request_id: z.string(),
    errors: z.array(z.looseObject({ field: z.string().optional(), message: z.string() })),
  })
  .meta({ id: 'Problem' });

/** Returns the problem document of an error; its `status` is also that of the response. */
export function toProblem(error: AppError, requestId: string): z.output<typeof problemSchema> {
  return {
    type: `urn:enrichment-pipeline:problem:${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status: error.status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    errors: error.errors.map((detail) => ({ ...detail })),
    ...error.extensions,
  };
}

/** Responses whose problem document has been sent. */
const rendered = new WeakSet<Response>();

/** Renders the error of a route. An error in the middle of a stream can only close the connection. */
export function renderProblems(log: Log): ErrorRequestHandler {
  return (thrown, request, response, _next) => {
    forgetErrors(request);
    // The request was refused while its handler ran, because its body arrived too late.
    if (rendered.has(response)) return;
    const requestId = requestIdOf(response);
    const error = asAppError(thrown);
    // The read of a body that its client ended is no error of the service, and neither is a response that it cut.
    if (error.status >= 500 && thrown !== request.errored && !isHangUp(thrown, response)) {
      const about = { requestId, method: request.method, route: request.route?.path };
      if (error.isExpected) log.warn({ ...about, code: error.code }, error.message);
      else log.error({ ...about, err: thrown });
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (!request.complete) request.resume();
    renderProblem(response, error);
  };
}

/**
 * Sends the problem document of an error. The headers must not have been sent. The rest of a body is read for
 * `drainMs` of the limits: closing a connection on a client that still sends resets it, and the response is lost.
 */
export function renderProblem(response: Response, error: AppError): void {
  rendered.add(response);
  if (error.status === 401 && !response.hasHeader('WWW-Authenticate')) {
    response.setHeader('WWW-Authenticate', 'Bearer');
  }
  const { retry_after: retryAfter } = error.extensions;
  if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
  if (error.status === 503) response.setHeader('Retry-After', '1');
  response
    .status(error.status)
    .type('application/problem+json')
    .send(JSON.stringify(toProblem(error, requestIdOf(response))));
}

/** The member of a request in which the router collects its errors, for tracing. */
const ROUTER_ERRORS = Symbol.for('router.tracing.publishedErrors');

/**
 * Makes the request forget its errors: it stays in memory until the response is over and the body has arrived. Until its stack is
 * read an error refers to the functions that threw it, and so to all that a body was parsed to; that of a parser refers to the
 * whole text.
 */
function forgetErrors(request: Request): void {
  (request as { [ROUTER_ERRORS]?: Set<unknown> })[ROUTER_ERRORS]?.clear();
}

/** Returns true when the client disconnected in the middle of a response, which is not an error of the service. */
function isHangUp(thrown: unknown, response: Response): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown };
  const isCut = code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET';
  return isCut && response.headersSent && response.closed;
}

/** Throws `AppError` 405 for any other method of a path, and names these in `Allow`. */
export function refuseOtherMethods(path: string, allowed: readonly string[]): RequestHandler {
  return (request, response) => {
    response.setHeader('Allow', allowed.join(', '));
    throw new AppError({
      code: 'method_not_allowed',
      status: 405,
      message: `${path} does not take ${request.method}. Use ${allowed.join(' or ')}.`,
    });
  };
}

/** Throws `AppError` 404 for a path without a route. A browser is led to the page of the console with this path. */
export const refuseUnknownPath: RequestHandler = (request, response) => {
  const { method, path } = request;
  const isPage = method === 'GET' && request.accepts(['json', 'html']) === 'html';
  // The path is a fragment of our own page, wherever it points.
  if (isPage && !/^\/(v1|console)(\/|$)/.test(path)) return response.redirect(302, `/#${path}`);
  throw notFound(`${request.method} ${hideKeys(request.path)}`);
};

export function requestIdOf(response: Response): string {
  return String(response.getHeader('X-Request-Id') ?? '');
}

/** An unavailable Postgres is a temporary failure; every other unknown error is a bug. */
function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isUnavailable(thrown)) {
    const message = isOfFiles(thrown)
      ? 'The service cannot write its files: its disk may be full. Try again later.'
      : 'The service cannot reach its database. Try again in a moment.';
    return unavailable('unavailable', message, { cause: thrown });
  }
  const status = (thrown as { status?: unknown }).status;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new AppError({
      code: 'invalid_request',
      status,
      message: thrown instanceof Error ? thrown.message : 'Malformed request.',
    });
  }
  return new AppError({
    code: 'internal_error',
    status: 500,
    message: 'Something went wrong on our side. Nothing was charged for this request.',
    cause: thrown,
  });
}
