/**
 * The cookie by which a browser presents a session, and the checks of a call with that cookie: it comes from one of our
 * pages (the cookie is also SameSite=Strict), in the account and the mode that the page shows.
 */
import type { Request, Response } from 'express';
import { type AppError, conflict, forbidden, invalidRequest } from '../../core/lib/errors.ts';
import { type FindSession, SESSION_SECONDS, sessionKey } from '../../core/sessions/sessions.ts';
import { isSecure } from './is-secure.ts';

/**
 * Other ports of this host, and sibling hosts, can set a cookie with the plain name. With the prefix only this host
 * can set it, over HTTPS (RFC 6265bis, section 4.1.3.2).
 */
const NAMES = { secure: '__Host-enrich_session', plain: 'enrich_session' };

/**
 * Returns the session's token as the browser sent it; null without one. Throws `AppError` 400 for two, because another
 * host has set one of them.
 */
export function readToken(request: Request): string | null {
  const name = nameFor(request);
  const tokens = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim().split('=', 2))
    .filter(([given]) => given === name);
  if (tokens.length > 1) throw twoSessions(name);
  return tokens[0]?.[1] ?? null;
}

/** Sets the session's token in the browser; null deletes it. */
export function writeToken(request: Request, response: Response, token: string | null): void {
  response.cookie(nameFor(request), token ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure: isSecure(request),
    maxAge: token === null ? 0 : SESSION_SECONDS * 1000,
  });
}

function nameFor(request: Request): string {
  return isSecure(request) ? NAMES.secure : NAMES.plain;
}

/** The hash of the key that a call presents, and of the session that it was presented by. */
export interface Presented {
  keySha256: Buffer;
  sessionSha256: Buffer | null;
}

/**
 * Returns the credentials of the browser's session; null for a call without one. Throws `AppError` 401 for a session
 * that has ended, 403 for a call that does not come from our pages, 409 for a page of another account or in the other
 * mode, which another tab of the same browser has left.
 */
export async function presentedBySession(
  findSession: FindSession,
  request: Request,
): Promise<Presented | null> {
  const token = readToken(request);
  if (token === null) return null;
  assertSameOrigin(request);
  const { accountId, keySha256, sessionSha256, mode } = await sessionKey(findSession, token);
  if ((request.get('Enrich-Account') ?? accountId) !== accountId) throw accountChanged();
  if ((request.get('Enrich-Mode') ?? mode) !== mode) throw modeChanged(mode);
  return { keySha256, sessionSha256 };
}

/**
 * Throws `AppError` 403 for a priced call with a session that does not name its account. Only a script can send the header: a
 * link, an image or a form on one of our pages, which `assertSameOrigin` lets pass, cannot.
 */
export function assertAccountNamed(
  request: Request,
  { sessionSha256 }: Pick<Presented, 'sessionSha256'>,
): void {
  if (sessionSha256 === null || request.get('Enrich-Account') !== undefined) return;
  throw forbidden(
    'A session spends credits only in a call that names its account in the header `Enrich-Account`.',
  );
}

/**
 * Throws `AppError` 403 for a call that another site may have made. Browsers send its origin in `Sec-Fetch-Site`; over
 * plain HTTP they send only the page's address.
 */
export function assertSameOrigin(request: Request): void {
  const { host, origin, referer, 'sec-fetch-site': site } = request.headers;
  if (site === 'same-origin') return;
  const from = origin ?? referer;
  const isOurs = from !== undefined && URL.canParse(from) && new URL(from).host === host;
  if (site === undefined && isOurs) return;
  throw forbidden(
    'Sessions work only in the pages of this service. Send a key instead: `Authorization: Bearer svc_live_...`.',
  );
}

const LOOPBACK_ADDRESS = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/i;
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Throws `AppError` 403 for a call from another machine: the connection and the address of the page are those of the
 * machine itself, and no proxy has passed the call on.
 */
export function assertThisMachine({ headers, socket }: Request): void {
  const { host = '' } = headers;
  const url = `http://${host}`;
  const isLocal =
    LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '') &&
    URL.canParse(url) &&
    LOOPBACK_NAMES.has(new URL(url).hostname);
  const isPassedOn = ['forwarded', 'x-forwarded-for', 'via'].some((name) => name in headers);
  if (isLocal && !isPassedOn) return;
  throw forbidden(
    'The link works only in a browser on the machine that runs the service. Sign in with your email and password.',
  );
}

function twoSessions(name: string): AppError {
  return invalidRequest(
    `The request has two cookies \`${name}\`. Delete the cookies of this site and sign in again.`,
  );
}

function accountChanged(): AppError {
  return conflict(
    'account_changed',
    'Another tab has signed in to another account. Nothing was done.',
  );
}

function modeChanged(mode: string): AppError {
  return conflict(
    'mode_changed',
    `Another tab has switched this session to ${mode} mode. Nothing was done.`,
    { extensions: { mode } },
  );
}
