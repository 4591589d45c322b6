/** Signing in to and out of the web console. It is not part of the documented API: programs send a key. */
import { type RequestHandler, Router } from 'express';
import { z } from 'zod';
import { AppError } from '../../core/lib/errors.ts';
import type { Session } from '../../core/sessions/sessions.sql.ts';
import { readSession, signIn, signOut, switchMode } from '../../core/sessions/sessions.ts';
import type { ApiContext } from '../http/api-context.ts';
import { clientGone } from '../http/client-gone.ts';
import { networkOf } from '../http/network-of.ts';
import { parseParameters } from '../http/parse-parameters.ts';
import { readJson } from '../http/read-json.ts';
import {
  assertSameOrigin,
  assertThisMachine,
  readToken,
  writeToken,
} from '../http/session-cookie.ts';

const text = (charactersMax: number, missing: string) =>
  z.string().min(1, missing).max(charactersMax);
const credentials = z.union([
  z.strictObject({ key: text(200, 'Enter an API key.') }),
  z.strictObject({
    email: text(320, 'Enter your email address.'),
    password: text(1000, 'Enter your password.'),
  }),
  z.strictObject({ link: text(200, 'is missing') }),
]);
/** Maximum bytes of a body. The caller is unknown yet, and every connection may hold one. */
const BYTES_MAX = 8 * 1024;
const change = z.strictObject({ mode: z.enum(['live', 'test']) });

/** Serves `GET`, `POST`, `PATCH` and `DELETE /console/session`. */
export function serveSessions(context: ApiContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const route = router.route('/console/session');
  route.all(fromOurPages);
  route.get(async (request, response) => {
    const token = readToken(request);
    const session = token === null ? null : await readSession(context.findSession, token);
    if (session === null) response.status(204).end();
    else response.json(viewSession(context, session));
  });
  route.post(async (request, response) => {
    const given = parseParameters(credentials, await readJson(request, { bytesMax: BYTES_MAX }));
    if ('link' in given) assertThisMachine(request);
    const token = await signIn(context, given, {
      network: networkOf(request),
      signal: clientGone(response),
    });
    const session = await readSession(context.findSession, token);
    if (session === null) throw keyEnded();
    const before = readToken(request);
    if (before !== null) await signOut(context, before);
    writeToken(request, response, token);
    response.status(201).json(viewSession(context, session));
  });
  route.patch(async (request, response) => {
    const { mode } = parseParameters(change, await readJson(request, { bytesMax: BYTES_MAX }));
    const token = readToken(request) ?? '';
    const session = await switchMode(context, token, mode, clientGone(response));
    response.json(viewSession(context, session));
  });
  route.delete(async (request, response) => {
    await signOut(context, readToken(request) ?? '');
    writeToken(request, response, null);
    response.status(204).end();
  });
  return router;
}

const fromOurPages: RequestHandler = (request, response, next) => {
  assertSameOrigin(request);
  response.setHeader('Cache-Control', 'no-store');
  next();
};

function viewSession({ config }: ApiContext, session: Session) {
  return {
    account: { id: session.accountId, name: session.accountName, email: session.email },
    key: { prefix: session.keyPrefix, mode: session.mode, scopes: session.scopes },
    /** Modes that the session can work in. */
    modes: session.isConsole ? ['live', 'test'] : [session.mode],
    expires_at: session.expiresAt.toISOString(),
    limits: { upload_bytes: config.uploadBytesMax },
  };
}

/** Returns the error for a key that ended between the two statements that read it. */
function keyEnded(): AppError {
  return new AppError({ code: 'key_revoked', status: 403, message: 'This key was revoked.' });
}
