/**
 * The cookie by which a browser presents a session, and what must be true of a call that comes with it: a
 * page of ours makes it (the cookie is SameSite=Strict besides), in the mode that the page shows.
 */
import type { Request, Response } from 'express';
import type { Sql } from '../../core/db/client.ts';
import { type AppError, conflict, forbidden, invalidRequest } from '../../core/lib/errors.ts';
import { SESSION_SECONDS, sessionKey } from '../../core/sessions/sessions.ts';

/**
 * Other ports of the host, and hosts beside it, can set a cookie of the plain name. None but this host can set
 * one with the prefix, over HTTPS (RFC 6265bis, section 4.1.3.2).
 */
const NAMES = { secure: '__Host-enrich_session', plain: 'enrich_session' };

/**
 * The session's token as the browser sent it; null without one. Throws `AppError` 400 for two: one of them was
 * set by somebody else.
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

/** Gives the browser the session's token; null takes it away. */
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

/** A caller that claims to have come by HTTPS can only make the cookie stricter, so any proxy is believed. */
function isSecure(request: Request): boolean {
  return request.secure || request.get('X-Forwarded-Proto') === 'https';
}

/** A key that a call presents, by its hash, and the hash of the session that it came by. */
export interface Presented {
  keySha256: Buffer;
  sessionSha256: Buffer | null;
}

/**
 * The credentials of the browser's session; null for a call without one. Throws
 * `AppError` 401 for one that has ended, 403 for a call that no page of ours made, 409 for a page that
 * shows the other mode: another tab of the same browser has switched it.
 */
export async function presentedBySession(sql: Sql, request: Request): Promise<Presented | null> {
  const token = readToken(request);
  if (token === null) return null;
  assertSameOrigin(request);
  const { keySha256, sessionSha256, mode } = await sessionKey(sql, token);
  const shown = request.get('Enrich-Mode');
  if (shown !== undefined && shown !== mode) throw modeChanged(mode);
  return { keySha256, sessionSha256 };
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
  throw forbidden(
    'A session is for the pages of this service. Programs send a key: `Authorization: Bearer svc_live_...`.',
  );
}

function twoSessions(name: string): AppError {
  return invalidRequest(
    `The request has two cookies \`${name}\`. Delete the cookies of this site and sign in again.`,
  );
}

function modeChanged(mode: string): AppError {
  return conflict(
    'mode_changed',
    `Another tab has switched this session to ${mode} mode. Nothing was done.`,
    { extensions: { mode } },
  );
}
