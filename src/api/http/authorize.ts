/** Finds the key or session of a call and applies its limits. */
import type { Request, Response } from 'express';
import type { CallCredentials } from '../../core/call-credentials.ts';
import type { Admission } from '../../core/keys/admission.ts';
import type { ApiKey } from '../../core/keys/keys.sql.ts';
import { readKey, refuseAddressKey, type Scope } from '../../core/keys/keys.ts';
import { forbidden } from '../../core/lib/errors.ts';
import { requestRefused } from '../../core/limits/limits.ts';
import type { ApiContext } from './api-context.ts';
import { noteRequest } from './request-log.ts';
import { type Presented, presentedBySession } from './session-cookie.ts';

export interface Authorized {
  key: ApiKey;
  credentials: CallCredentials;
  admission: Admission | null;
  /** Time on the monotonic clock. */
  authorizedAt: number;
}

/**
 * Admits a call that counts towards the key's minute and day. All responses have the remaining requests. `keyInPath` is the
 * key of the address of a service whose clients send no header.
 */
export async function authorizeMetered(
  context: ApiContext,
  request: Request,
  response: Response,
  keyInPath: string | undefined,
): Promise<Authorized> {
  const { keySha256, sessionSha256 } = await presentedKey(context, request, keyInPath);
  const admission = await context.admit(keySha256);
  const { key, limits, available } = admission;
  noteCall(context, response, key, available);
  response.setHeader(
    'RateLimit-Policy',
    `"minute";q=${key.requestsPerMinute};w=60, "day";q=${key.requestsPerDay};w=86400`,
  );
  // Clients should obey the tighter of the two.
  const [name, remaining, seconds] =
    limits.dayRemaining < limits.minuteRemaining
      ? ['day', limits.dayRemaining, limits.dayResetSeconds]
      : ['minute', limits.minuteRemaining, limits.minuteResetSeconds];
  response.setHeader('RateLimit', `"${name}";r=${remaining};t=${Math.ceil(seconds)}`);
  if (!limits.admitted) throw requestRefused(key, limits);
  const credentials = { keyId: key.id, sessionSha256 };
  return { key, admission, credentials, authorizedAt: performance.now() };
}

/** Finds the key of a call that counts towards the account's limit instead of the key's; the caller counts it. */
export async function authorizeUnmetered(
  context: ApiContext,
  request: Request,
  response: Response,
): Promise<Authorized> {
  const { keySha256, sessionSha256 } = await presentedKey(context, request);
  const { key, available } = await context.authenticate(keySha256);
  noteCall(context, response, key, available);
  const credentials = { keyId: key.id, sessionSha256 };
  return { key, admission: null, credentials, authorizedAt: performance.now() };
}

/** Notes a call of a known key for the log and the key's last use, and sets its credit headers. */
function noteCall(
  { keyUses }: ApiContext,
  response: Response,
  { id, accountId }: ApiKey,
  available: number,
): void {
  noteRequest(response, { account: accountId, key: id });
  keyUses.note(id);
  setCreditHeaders(response, 0, available);
}

/**
 * Throws `AppError` 403 for a key without the scope. Addresses end up in logs and histories: a key in an address must be
 * good for nothing else, nor may it be sent in a header.
 */
export function assertScope(
  { scope, keyInPath }: { scope: Scope | null; keyInPath?: true },
  key: ApiKey,
): void {
  const { scopes, accountId, mode } = key;
  if (scope !== null && !scopes.includes(scope)) {
    throw forbidden(
      `This key lacks the scope \`${scope}\`. Use a key that has it; on the server, \`enrich key create --account ${accountId} --mode ${mode} --scopes ${scope}\` creates one.`,
    );
  }
  if (keyInPath && scopes.length > 1) {
    throw forbidden(
      `A key in an address must have the scope \`${scope}\` and no other. Create one, and revoke this one if others can read the address.`,
    );
  }
  if (!keyInPath) refuseAddressKey(key);
}

/** Sets the credit headers, which every response to a known key has. */
export function setCreditHeaders(response: Response, charged: number, remaining: number): void {
  response.setHeader('X-Credits-Charged', String(charged));
  response.setHeader('X-Credits-Remaining', String(remaining));
}

/** Returns the credentials of a call: the key of its address or its header, or its browser's session. */
async function presentedKey(
  context: ApiContext,
  request: Request,
  keyInPath?: string,
): Promise<Presented> {
  const isInHeader = request.headers.authorization !== undefined;
  if (keyInPath === undefined && !isInHeader) {
    const session = await presentedBySession(context.findSession, request);
    if (session !== null) return session;
  }
  return { keySha256: readKey(keyInPath ?? bearerToken(request)), sessionSha256: null };
}

/** The case of a scheme does not count (RFC 9110, 11.1). */
function bearerToken(request: Request): string | undefined {
  return /^Bearer (\w{1,100})$/i.exec(request.headers.authorization ?? '')?.[1];
}
