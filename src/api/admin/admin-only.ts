import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { Sql } from '../../core/db/client.ts';
import type { ApiKey } from '../../core/keys/keys.sql.ts';
import { authenticate, readKey } from '../../core/keys/keys.ts';
import { AppError, forbidden } from '../../core/lib/errors.ts';
import { countUnmeteredCall } from '../../core/limits/limits.ts';
import type { ApiContext } from '../api-context.ts';
import { presentedBySession } from '../console/session-cookie.ts';
import { noteRequest } from '../request-log.ts';

/** Throws `AppError` 403 unless the key may see the service as its operator does. */
function assertAdmin(key: ApiKey): void {
  if (key.scopes.includes('admin')) return;
  throw forbidden(
    'This key may not do that: it lacks the scope `admin`, which `enrich key create --scopes admin` gives on the server.',
  );
}

/**
 * Lets requests with an admin key pass; others end with 401, 403 or 429. A browser has signed in to the
 * console with it, or sends it as the password of HTTP Basic, with any name.
 */
export function adminOnly({ sql, limiter }: Pick<ApiContext, 'sql' | 'limiter'>): RequestHandler {
  return async (request, response, next) => {
    const key = await authenticate(sql, await presentedKey(sql, request));
    noteRequest(response, { account: key.accountId, key: key.id });
    await countUnmeteredCall(limiter, key);
    assertAdmin(key);
    next();
  };
}

/** Has a browser ask for a key where there was none. */
export const askForKey: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof AppError && error.status === 401) {
    response.setHeader('WWW-Authenticate', 'Basic realm="an admin key is the password"');
  }
  next(error);
};

/** The hash of the key that a request presents: as a bearer, as a password, or by the console's session. */
async function presentedKey(sql: Sql, request: Request): Promise<Buffer> {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    return (await presentedBySession(sql, request))?.keySha256 ?? readKey(undefined);
  }
  const [, scheme, text = ''] = /^(Bearer|Basic) (\S{1,400})$/.exec(authorization) ?? [];
  if (scheme !== 'Basic') return readKey(text);
  return readKey(Buffer.from(text, 'base64').toString('latin1').split(':')[1]);
}
