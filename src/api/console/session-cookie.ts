/**
 * The cookie by which a browser presents a session, and what must be true of a call that comes with it: a
 * page of ours makes it (the cookie is SameSite=Strict besides), in the mode that the page shows.
 */
import type { Request, Response } from 'express';
import type { Sql } from '../../core/db/client.ts';
import { AppError } from '../../core/lib/errors.ts';
import { SESSION_SECONDS, sessionKey } from '../../core/sessions/sessions.ts';

const NAME = 'enrich_session';
const FORM = new RegExp(`(?:^|; )${NAME}=([^;]*)`);

/** The session's token as the browser sent it; null without one. */
export function readToken(request: Request): string | null {
  return FORM.exec(request.headers.cookie ?? '')?.[1] ?? null;
}

/** Gives the browser the session's token; null takes it away. */
export function writeToken(request: Request, response: Response, token: string | null): void {
  // Whoever claims to have come by HTTPS can only make the cookie stricter.
  const isSecure = request.secure || request.get('X-Forwarded-Proto') === 'https';
  response.cookie(NAME, token ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure: isSecure,
    maxAge: token === null ? 0 : SESSION_SECONDS * 1000,
  });
}

/**
 * The hash of the key that the browser's session presents; null for a call without a session. Throws
 * `AppError` 401 for one that has ended, 403 for a call that no page of ours made, 409 for a page that
 * shows the other mode: another tab of the same browser has switched it.
 */
export async function presentedBySession(sql: Sql, request: Request): Promise<Buffer | null> {
  const token = readToken(request);
  if (token === null) return null;
  assertSameOrigin(request);
  const { keySha256, mode } = await sessionKey(sql, token);
  const shown = request.get('Enrich-Mode');
  if (shown !== undefined && shown !== mode) throw modeChanged(mode);
  return keySha256;
}

/**
 * Refuses a call that another site may have made. Browsers say where a call comes from; those that do not,
 * as over plain HTTP, send the page's address.
 */
export function assertSameOrigin(request: Request): void {
  const { host, origin, referer, 'sec-fetch-site': site } = request.headers;
  if (site === 'same-origin') return;
  const from = origin ?? referer;
  const isOurs = from !== undefined && URL.canParse(from) && new URL(from).host === host;
  if (site === undefined && isOurs) return;
  throw new AppError({
    code: 'forbidden',
    status: 403,
    message:
      'A session is for the pages of this service. Programs send a key: `Authorization: Bearer svc_live_...`.',
  });
}

function modeChanged(mode: string): AppError {
  return new AppError({
    code: 'mode_changed',
    status: 409,
    message: `Another tab has switched this session to ${mode} mode. Nothing was done.`,
    extensions: { mode },
  });
}
