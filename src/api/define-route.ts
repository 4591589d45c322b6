/**
 * An endpoint: one object says its path, who may call it, what it takes and what it does. Validation
 * and documentation derive from it.
 */
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { availableCredits } from '../core/credits/credits.ts';
import { beginningWith } from '../core/db/client.ts';
import type { Admission } from '../core/keys/admission.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { CallCredentials } from '../core/keys/keys.ts';
import { authenticate, readKey, type Scope } from '../core/keys/keys.ts';
import { AppError, type ErrorDetail } from '../core/lib/errors.ts';
import { countUnmeteredCall, requestRefused } from '../core/limits/limits.ts';
import type { Share } from '../core/limits/shares.ts';
import { assertStillInForce } from '../core/sessions/still-in-force.ts';
import type { ApiContext } from './api-context.ts';
import { clientGone } from './client-gone.ts';
import { type Presented, presentedBySession } from './console/session-cookie.ts';
import { requestIdOf } from './problem.ts';
import { noteRequest } from './request-log.ts';

export interface RouteInput<Query, Params> {
  context: ApiContext;
  /** The caller's key; its account owns everything that the call may see. */
  key: ApiKey;
  /** What a charge has to find in force. Transactions of `context.sql` ask for it by themselves. */
  credentials: CallCredentials;
  /** What a counted call found when it was let in; null for other calls. */
  admission: Admission | null;
  query: Query;
  params: Params;
  request: Request;
  response: Response;
}

export interface RouteDefinition<Query extends z.ZodType, Params extends z.ZodType> {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  summary: string;
  /** What the key must be allowed to do; null: any key. */
  scope: Scope | null;
  /** True for the calls that the key's limits per minute and day count. */
  counted?: boolean;
  query: Query;
  /** True for a handler that reads the query string as it was sent; `query` is then empty. */
  readsQuery?: true;
  params: Params;
  /** The JSON that the call takes, for the documentation; the handler reads and checks it. */
  body?: z.ZodType;
  /**
   * Sends the answer itself, or throws `AppError`. It makes all its changes in transactions of `context.sql`: each
   * waits for the account's turn, and begins by finding the caller still allowed to call, however long ago the headers
   * came.
   */
  handler(input: RouteInput<z.output<Query>, z.output<Params>>): Promise<void>;
}

export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  summary: string;
  scope: Scope | null;
  counted?: boolean;
  query: z.ZodType;
  params: z.ZodType;
  body?: z.ZodType;
  /** `writes` has a place for each transaction of a handler, by account. */
  toHandler(context: ApiContext, writes: Share): RequestHandler;
}

/** A path or query with no parameters: one that is sent anyway is refused by name. */
export const none = z.strictObject({});
/** The path parameter of everything that has an id. */
export const idParams = z.strictObject({ id: z.string() });

export function defineRoute<Query extends z.ZodType, Params extends z.ZodType>(
  definition: RouteDefinition<Query, Params>,
): Route {
  const letIn = definition.counted ? letInCounted : letInOther;
  return {
    ...definition,
    toHandler: (context, writes) => async (request, response) => {
      // Express gives HEAD to the handler of GET: a call would be paid whose answer nobody can read.
      if (request.method === 'HEAD') throw headNotAllowed();
      const { key, admission, credentials } = await letIn(context, request, response);
      if (definition.scope !== null && !key.scopes.includes(definition.scope)) {
        throw forbidden(definition.scope);
      }
      const sent = definition.readsQuery ? {} : request.query;
      const query = parseParameters(definition.query, sent);
      // An id in an impossible form is one that nothing has.
      const params = parseValues(definition.params, request.params);
      const called = { key, admission, credentials, query, params, request, response };
      const isSingleCall = definition.counted && definition.method === 'get';
      const scoped = isSingleCall ? context : withRequestId(context, response);
      let gone: AbortSignal | undefined;
      const sql = beginningWith(
        context.sql,
        (transaction) => {
          gone ??= clientGone(response);
          return writes(key.accountId, gone, transaction);
        },
        // What a GET writes is its charge, which asks by itself.
        definition.method === 'get' ? async () => {} : (tx) => assertStillInForce(tx, credentials),
      );
      await definition.handler({ ...called, context: { ...scoped, sql } });
    },
  };
}

/** Lines that the work of a request writes say which request it was; single calls write none. */
function withRequestId(context: ApiContext, response: Response): ApiContext {
  return { ...context, log: context.log.child({ requestId: requestIdOf(response) }) };
}

interface LetIn {
  key: ApiKey;
  credentials: CallCredentials;
  admission: Admission | null;
}

/** A call that minute and day count. Says on every answer what is left, on a refusal too. */
async function letInCounted(
  context: ApiContext,
  request: Request,
  response: Response,
): Promise<LetIn> {
  const { keySha256, sessionSha256 } = await presentedKey(context, request);
  const admission = await context.admit(keySha256);
  const { key, limits, available } = admission;
  noteRequest(response, { account: key.accountId, key: key.id });
  sayCredits(response, 0, available);
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

async function letInOther(
  context: ApiContext,
  request: Request,
  response: Response,
): Promise<LetIn> {
  const { keySha256, sessionSha256 } = await presentedKey(context, request);
  const key = await authenticate(context.sql, keySha256);
  noteRequest(response, { account: key.accountId, key: key.id });
  sayCredits(response, 0, await availableCredits(context.sql, key.accountId));
  await countUnmeteredCall(context.limiter, key);
  return { key, admission: null, credentials: { keyId: key.id, sessionSha256 } };
}

/** The headers about credits, on every answer to a known key. */
export function sayCredits(response: Response, charged: number, remaining: number): void {
  response.setHeader('X-Credits-Charged', String(charged));
  response.setHeader('X-Credits-Remaining', String(remaining));
}

/**
 * Checks parameters against their schema. Throws `AppError` 400 `invalid_parameter` that names each
 * parameter that is wrong, unknown ones too, and those that hold a NUL, which no database text can hold.
 */
export function parseParameters<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): z.output<Schema> {
  const parsed = parseValues(schema, values);
  // As it was sent first: that names the parameter as the caller does.
  const withNul = pathOfNul(values) ?? pathOfNul(parsed);
  if (withNul === null) return parsed;
  throw invalidParameters([
    { field: withNul.join('.') || 'body', message: 'must not hold the character NUL' },
  ]);
}

/** As `parseParameters`, for values that are data and not parameters: any character may be in them. */
export function parseValues<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw invalidParameters(parsed.error.issues.flatMap(issueDetails));
}

function invalidParameters(errors: ErrorDetail[]): AppError {
  return new AppError({
    code: 'invalid_parameter',
    status: 400,
    message: errors.map((error) => `${error.field}: ${error.message}`).join('. '),
    errors,
  });
}

/** Where a text with a NUL stands in a value; null when there is none. */
function pathOfNul(value: unknown): string[] | null {
  if (typeof value === 'string') return value.includes('\0') ? [] : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (name.includes('\0')) return [];
    const inside = pathOfNul(member);
    if (inside !== null) return [name, ...inside];
  }
  return null;
}

function issueDetails(issue: z.core.$ZodIssue): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((field) => ({ field, message: 'is not a recognised parameter' }));
  }
  return [{ field: issue.path.join('.') || 'body', message: issue.message }];
}

/** What a call presents: a key in its header, or by the session of the browser it comes from. */
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

function forbidden(scope: Scope): AppError {
  return new AppError({
    code: 'forbidden',
    status: 403,
    message: `This key may not do that: it lacks the scope \`${scope}\`.`,
  });
}

function headNotAllowed(): AppError {
  return new AppError({
    code: 'method_not_allowed',
    status: 405,
    message: 'HEAD is not answered here; use GET.',
  });
}
