import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { ApiKey } from '../../core/keys/keys.sql.ts';
import { readKey } from '../../core/keys/keys.ts';
import { AppError, forbidden } from '../../core/lib/errors.ts';
import { countInTurn } from '../../core/limits/count-in-turn.ts';
import type { ApiContext } from '../http/api-context.ts';
import { clientGone } from '../http/client-gone.ts';
import { noteRequest } from '../http/request-log.ts';
import { presentedBySession } from '../http/session-cookie.ts';
import { operatorOf } from './operator-of.ts';

/** Throws `AppError` 403 for a key without the scope `admin`. */
function assertAdmin(key: ApiKey): void {
  if (key.scopes.includes('admin')) return;
  throw forbidden(
    'This key lacks the scope `admin`. Create one that has it on the server: `enrich key create --scopes admin`.',
  );
}

/**
 * Admits requests with a live admin key and refuses others with 401, 403 or 429. A browser presents the key by its console
 * session, or as the password of HTTP Basic with any user name.
 */
export function adminOnly(context: ApiContext): RequestHandler {
  return async (request, response, next) => {
    const { key } = await context.authenticate(await presentedKey(context, request));
    noteRequest(response, { account: key.accountId, key: key.id });
    await countInTurn(context.limiter, key, clientGone(response));
    assertAdmin(key);
    operatorOf(key);
    next();
  };
}

/** Makes a browser ask for a key when it sent none. */
export const askForKey: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof AppError && error.status === 401) {
    response.setHeader('WWW-Authenticate', 'Basic realm="Password: an admin key"');
  }
  next(error);
};

/** Returns the hash of the presented key: a bearer token, a password, or that of the console's session. */
async function presentedKey({ findSession }: ApiContext, request: Request): Promise<Buffer> {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    return (await presentedBySession(findSession, request))?.keySha256 ?? readKey(undefined);
  }
  const [, scheme, text = ''] = /^(Bearer|Basic) (\S{1,400})$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() !== 'basic') return readKey(text);
  return readKey(Buffer.from(text, 'base64').toString('latin1').split(':')[1]);
}
