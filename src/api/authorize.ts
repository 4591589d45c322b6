/** Finds the key or session of a call, and whether its limits admit the call. */
import type { Request, Response } from 'express';
import { availableCredits } from '../core/credits/credits.ts';
import type { Admission } from '../core/keys/admission.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import { authenticate, type CallCredentials, readKey } from '../core/keys/keys.ts';
import { countUnmeteredCall, requestRefused } from '../core/limits/limits.ts';
import type { ApiContext } from './api-context.ts';
import { type Presented, presentedBySession } from './console/session-cookie.ts';
import { noteRequest } from './request-log.ts';

export interface Authorized {
  key: ApiKey;
  credentials: CallCredentials;
  admission: Admission | null;
}

/** Admits a call that the minute and the day count. Every response carries what is left, a refusal too. */
export async function authorizeMetered(
  context: ApiContext,
  request: Request,
  response: Response,
): Promise<Authorized> {
  const { keySha256, sessionSha256 } = await presentedKey(context, request);
  const admission = await context.admit(keySha256);
  const { key, limits, available } = admission;
  noteRequest(response, { account: key.accountId, key: key.id });
  setCreditHeaders(response, 0, available);
  response.setHeader(
    'RateLimit-Policy',
    `"minute";q=${key.requestsPerMinute};w=60, "day";q=${key.requestsPerDay};w=86400`,
  );
  // The tighter of the two is what a client should look at.
  const [name, remaining, seconds] =
    limits.dayRemaining < limits.minuteRemaining
      ? ['day', limits.dayRemaining, limits.dayResetSeconds]
      : ['minute', limits.minuteRemaining, limits.minuteResetSeconds];
  response.setHeader('RateLimit', `"${name}";r=${remaining};t=${Math.ceil(seconds)}`);
  if (!limits.admitted) throw requestRefused(key, limits);
  return { key, admission, credentials: { keyId: key.id, sessionSha256 } };
}

/** Admits a call that no limit of the key counts. */
export async function authorizeUnmetered(
  context: ApiContext,
  request: Request,
  response: Response,
): Promise<Authorized> {
  const { keySha256, sessionSha256 } = await presentedKey(context, request);
  const key = await authenticate(context.sql, keySha256);
  noteRequest(response, { account: key.accountId, key: key.id });
  setCreditHeaders(response, 0, await availableCredits(context.sql, key.accountId));
  await countUnmeteredCall(context.limiter, key);
  return { key, admission: null, credentials: { keyId: key.id, sessionSha256 } };
}

/** Sets the headers about credits, which every response to a known key carries. */
export function setCreditHeaders(response: Response, charged: number, remaining: number): void {
  response.setHeader('X-Credits-Charged', String(charged));
  response.setHeader('X-Credits-Remaining', String(remaining));
}

/** The credentials of a call: a key in its header, or the session of its browser. */
async function presentedKey(context: ApiContext, request: Request): Promise<Presented> {
  if (request.headers.authorization !== undefined) {
    return { keySha256: readKey(bearerToken(request)), sessionSha256: null };
  }
  const presented = await presentedBySession(context.sql, request);
  return presented ?? { keySha256: readKey(undefined), sessionSha256: null };
}

function bearerToken(request: Request): string | undefined {
  return /^Bearer ([\w]{1,100})$/.exec(request.headers.authorization ?? '')?.[1];
}
