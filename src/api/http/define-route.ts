/**
 * An endpoint: one object with its path, scope, parameters, body, responses and handler. Validation, idempotency and
 * documentation derive from it.
 */
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { CallCredentials } from '../../core/call-credentials.ts';
import { beginningWith, inTransaction, type Sql } from '../../core/db/client.ts';
import type { StoredResponse } from '../../core/idempotency/idempotency.sql.ts';
import { assertSameRequest, requestHash } from '../../core/idempotency/idempotency.ts';
import type { Admission } from '../../core/keys/admission.ts';
import type { ApiKey } from '../../core/keys/keys.sql.ts';
import type { Scope } from '../../core/keys/keys.ts';
import { countInTurn } from '../../core/limits/count-in-turn.ts';
import type { Share } from '../../core/limits/shares.ts';
import { assertNotEnded, assertStillValid } from '../../core/sessions/still-valid.ts';
import type { ApiContext } from './api-context.ts';
import { type Authorized, assertScope, authorizeMetered, authorizeUnmetered } from './authorize.ts';
import { clientGone } from './client-gone.ts';
import { inFreeReadTurn } from './free-read-turns.ts';
import { assertResponsesRead, holdResponse } from './held-bytes.ts';
import { claimRequest, type KeptResponse, unclaimed } from './idempotent-request.ts';
import { parseParameters } from './parse-parameters.ts';
import { requestIdOf } from './problem.ts';
import { readJson } from './read-json.ts';
import { assertAccountNamed } from './session-cookie.ts';
import { assertValidIfLate } from './while-valid.ts';

export interface RouteInput<Query = unknown, Params = unknown> {
  context: ApiContext;
  /** The caller's key; the call sees only objects of its account. */
  key: ApiKey;
  /** The credentials that a charge checks. Transactions of `context.sql` check them automatically. */
  credentials: CallCredentials;
  authorizedAt: number;
  /** The state of the key's limits when a metered call was admitted; null for other calls. */
  admission: Admission | null;
  /** Set as its body is received: true for a call that was served before, which is only compared. */
  isRepeated?: boolean;
  query: Query;
  params: Params;
  request: Request;
  response: Response;
}

/** A documented response: JSON of a schema, a stream of one of the types, or no body. */
export interface DocumentedResponse {
  description: string;
  schema?: z.ZodType;
  types?: readonly string[];
}
export type Responses = Readonly<Record<number, DocumentedResponse>>;

/** Returned by a handler that has sent the response itself, such as a stream. */
export const sent = Symbol('sent');
type Sent = typeof sent;

/** The reply of a handler: one of the documented statuses, with the JSON of its schema. */
export type ReplyOf<Documented> = {
  [Status in keyof Documented]: { status: Status } & (Documented[Status] extends {
    schema: z.ZodType<infer Body>;
  }
    ? { body: Body }
    : { body?: undefined });
}[keyof Documented];

export interface HandlerInput<Query, Params, Body, Reply> extends RouteInput<Query, Params> {
  body: Body;
  /**
   * Runs `work` in a transaction, stores its reply for the Idempotency-Key in the same transaction, then wakes
   * workers. An idempotent handler makes all its changes in one such transaction.
   */
  commit<Committed extends Reply & AfterCommit>(
    work: (tx: Sql) => Promise<Committed>,
  ): Promise<Committed>;
  /** Stores a response for the Idempotency-Key, in the transaction of its changes. */
  keep(tx: Sql, response: KeptResponse): Promise<void>;
}

/** Parts of a reply other than its body. */
export interface AfterCommit {
  /** Wakes workers. An error is only logged, because the sweep finds work without a wake-up. */
  wake?: () => Promise<void>;
  /** Members of the body that are sent once and never stored. */
  shownOnce?: Record<string, unknown>;
}

/** A body that a route reads itself. */
interface Received<Body> {
  body: Body;
  /** Identifies a repeated request: its options, and the SHA-256 of its file if any. The query when absent. */
  same?: { options: Record<string, unknown>; fileSha256?: Buffer };
  /** Discards the body: the request was served before. */
  discard?(): Promise<void>;
}

export interface RouteDefinition<
  Query extends z.ZodType,
  Params extends z.ZodType,
  Body,
  Documented extends Responses,
> {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  summary: string;
  /** The required scope of the key; null for any key. */
  scope: Scope | null;
  /** True for a call that counts towards the key's limits per minute and day. */
  metered?: boolean;
  /** True for a metered call whose key is the path parameter `key`, and has the route's scope and no other. */
  keyInPath?: true;
  /** Price of a match in credits. */
  credits?: number;
  /** Query parameters; none when absent. */
  query?: Query;
  /** True for a GET whose handler responds to HEAD as well, free of charge. */
  head?: true;
  /** True for a handler that parses the raw query string; `query` only documents it. */
  readsQuery?: true;
  params?: Params;
  /** The schema of a JSON body. */
  body?: z.ZodType<Body>;
  /** Bodies by media type, for a route that reads its body with `receive`; null for bytes. */
  bodies?: Readonly<Record<string, z.ZodType | null>>;
  receive?(input: RouteInput<z.output<Query>, z.output<Params>>): Promise<Received<Body>>;
  responses: Documented;
  /** Bytes of a response that may be long: the account's calls wait for room for them. */
  responseBytesMax?: number;
  /** Statuses of further errors, in addition to those that the other members imply. */
  errors?: readonly number[];
  /**
   * Present for a call that takes effect once, however often it is repeated with its Idempotency-Key. `replay` responds
   * to a repeated call; by default the stored response is sent. `path` is the same for all paths of one endpoint, so that a
   * call is repeated under any of them; by default that of the request.
   */
  idempotent?:
    | true
    | {
        path?: string;
        replay(
          input: RouteInput<z.output<Query>, z.output<Params>>,
          kept: KeptResponse,
        ): Promise<Sent>;
      };
  /** True to send the object's `links.self` in the header `Location`. */
  locates?: true;
  /**
   * Returns the response, or throws `AppError`. All changes are made in transactions of `context.sql`, as by `commit`: each waits
   * for the account's turn and first checks that the credentials are still valid: the headers may have come hours ago.
   */
  handler(
    input: HandlerInput<z.output<Query>, z.output<Params>, Body, ReplyOf<Documented>>,
  ): Promise<(ReplyOf<Documented> & AfterCommit) | Sent>;
}

/** The reply of any route. */
interface Reply extends AfterCommit {
  status: PropertyKey;
  body?: unknown;
}

/** The definition of any route. */
interface Definition
  extends Omit<RouteDefinition<z.ZodType, z.ZodType, unknown, Responses>, 'handler'> {
  handler(input: HandlerInput<unknown, unknown, unknown, Reply>): Promise<Reply | Sent>;
}

/** A declared route, for the application and the OpenAPI document. */
export interface Route
  extends Pick<
    Definition,
    'method' | 'path' | 'head' | 'summary' | 'scope' | 'metered' | 'credits'
  > {
  query: z.ZodType;
  params: z.ZodType;
  bodies: Readonly<Record<string, z.ZodType | null>>;
  responses: Responses;
  /** Statuses of its errors, in ascending order. */
  errors: readonly number[];
  idempotent: boolean;
  /** Each transaction of the handler takes a place of the account in `writes`. */
  toHandler(context: ApiContext, writes: Share): RequestHandler;
}

/** A path or query without parameters; others are refused by name. */
const none = z.strictObject({});
/** The path parameter of every object with an id. */
export const idParams = z.strictObject({ id: z.string() });

/** An HTTP request to a route of the application. */
interface Call {
  context: ApiContext;
  writes: Share;
  request: Request;
  response: Response;
}

export function defineRoute<
  const Documented extends Responses,
  Query extends z.ZodType = typeof none,
  Params extends z.ZodType = typeof none,
  Body = undefined,
>(definition: RouteDefinition<Query, Params, Body, Documented>): Route {
  const bodies = definition.body ? { 'application/json': definition.body } : definition.bodies;
  return {
    ...definition,
    query: definition.query ?? none,
    params: definition.params ?? none,
    bodies: bodies ?? {},
    errors: impliedErrors(definition),
    idempotent: definition.idempotent !== undefined,
    toHandler: (context, writes) => async (request, response, next) => {
      // Express passes HEAD to the handler of GET, which would charge for a response without a body.
      if (request.method === 'HEAD' && !definition.head) return next('route');
      const call = { context, writes, request, response };
      if (definition.metered) {
        const keyInPath = definition.keyInPath ? String(request.params.key) : undefined;
        const admitted = await authorizeMetered(context, request, response, keyInPath);
        return respond(definition, call, admitted);
      }
      const authorized = await authorizeUnmetered(context, request, response);
      const { accountId } = authorized.key;
      const gone = clientGone(response);
      const countAndRespond = async () => {
        await countInTurn(context.limiter, authorized.key, gone);
        await respond(definition, call, authorized);
      };
      if (!isFreeRead(definition)) return countAndRespond();
      await inFreeReadTurn(accountId, gone, countAndRespond);
    },
  };
}

/** Returns true for an unmetered GET of JSON, of which an account may send hundreds at once. */
function isFreeRead({ method, metered, responses }: Definition): boolean {
  return method === 'get' && !metered && Object.values(responses).every(({ types }) => !types);
}

/** Checks an authorized call, and sends its response. */
async function respond(
  definition: Definition,
  { context, writes, request, response }: Call,
  authorized: Authorized,
): Promise<void> {
  const { key, credentials } = authorized;
  holdResponse(key.accountId, response, definition.responseBytesMax ?? 0);
  assertScope(definition, key);
  if (definition.credits !== undefined) assertAccountNamed(request, credentials);
  const sentQuery = definition.readsQuery ? {} : request.query;
  const query = parseParameters(definition.query ?? none, sentQuery);
  const called = { ...authorized, query, params: request.params, request, response };
  const isSingleCall = definition.metered && definition.method === 'get';
  const scoped = isSingleCall ? context : withRequestId(context, response);
  let gone: AbortSignal | undefined;
  const sql = beginningWith(
    context.sql,
    (transaction) => {
      gone ??= clientGone(response);
      return writes(key.accountId, gone, transaction);
    },
    // A GET writes only its charge, which checks the credentials itself.
    definition.method === 'get' ? async () => {} : (tx) => assertStillValid(tx, credentials),
  );
  await serve(definition, { ...called, context: { ...scoped, sql } });
}

/** Returns the statuses of errors that the members of a route imply, and its own. */
function impliedErrors({
  params,
  body,
  bodies,
  idempotent,
  credits,
  errors = [],
}: Definition): number[] {
  const implied = [
    ...(params === undefined ? [] : [404]),
    ...(body === undefined && bodies === undefined ? [] : [413, 415]),
    ...(idempotent === undefined ? [] : [409, 422]),
    ...(credits === undefined ? [] : [402]),
  ];
  return [...new Set([...implied, ...errors])].sort((a, b) => a - b);
}

/** Claims the Idempotency-Key, reads the body, and sends the handler's response or the stored one. */
async function serve(definition: Definition, input: RouteInput): Promise<void> {
  const { context, key, admission, request, response } = input;
  const { idempotent } = definition;
  const claim = idempotent
    ? await claimRequest(context, key, request, {
        path: (idempotent !== true && idempotent.path) || request.path,
        isMetered: admission !== null,
      })
    : unclaimed;
  try {
    const { kept } = claim;
    const isRepeated = kept !== null;
    const { body, same, discard } = await receive(definition, { ...input, isRepeated });
    const hash = () => requestHash(same?.options ?? request.query, same?.fileSha256 ?? null);
    if (kept !== null) {
      await discard?.();
      await repeat(definition, input, kept, hash());
      return;
    }
    const keep = (tx: Sql, made: KeptResponse) =>
      claim.keep(tx, () => ({ ...made, requestSha256: hash() }));
    const commit = <Committed extends Reply>(work: (tx: Sql) => Promise<Committed>) =>
      commitAndWake(context, keep, work);
    const reply = await definition.handler({ ...input, body, commit, keep });
    if (reply === sent) return;
    if (definition.method === 'get') await assertValidIfLate(context, input);
    if (definition.method === 'get' && admission === null) assertResponsesRead(key.accountId);
    send(response, reply, definition);
  } finally {
    await claim.release();
  }
}

/** Responds to a call that was served before as then. Throws `AppError` when it is another request with the same key. */
async function repeat(
  definition: Definition,
  input: RouteInput,
  kept: StoredResponse,
  requestSha256: Buffer,
): Promise<void> {
  const { context, credentials, response } = input;
  // A body may come long after the headers.
  if (definition.method !== 'get') await assertNotEnded(context.sql, credentials);
  assertSameRequest(kept, requestSha256);
  if (typeof definition.idempotent === 'object') {
    await definition.idempotent.replay(input, kept);
    return;
  }
  response.setHeader('Idempotent-Replayed', 'true');
  send(response, kept, definition);
}

/** Runs `work` in a transaction, which keeps its reply, then wakes workers. */
async function commitAndWake<Committed extends Reply>(
  { sql, log }: ApiContext,
  keep: (tx: Sql, response: KeptResponse) => Promise<void>,
  work: (tx: Sql) => Promise<Committed>,
): Promise<Committed> {
  const reply = await inTransaction(sql, async (tx) => {
    const made = await work(tx);
    await keep(tx, { status: Number(made.status), body: made.body });
    return made;
  });
  await reply.wake?.().catch((error: unknown) => {
    log.warn({ err: error }, 'workers not woken; the sweep will wake them');
  });
  return reply;
}

function send(response: Response, reply: Reply, { locates }: Definition): void {
  response.status(Number(reply.status));
  if (reply.body === undefined) {
    response.end();
    return;
  }
  if (locates) response.location((reply.body as { links: { self: string } }).links.self);
  response.json(reply.shownOnce === undefined ? reply.body : { ...reply.body, ...reply.shownOnce });
}

async function receive(definition: Definition, input: RouteInput): Promise<Received<unknown>> {
  if (definition.receive !== undefined) return definition.receive(input);
  if (definition.body === undefined) return { body: undefined };
  const body = parseParameters(definition.body, await readJson(input.request));
  return { body, same: { options: body as Record<string, unknown> } };
}

/** Adds the request id to the log lines of a request. Single calls write none. */
function withRequestId(context: ApiContext, response: Response): ApiContext {
  return { ...context, log: context.log.child({ requestId: requestIdOf(response) }) };
}
