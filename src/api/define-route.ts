/**
 * An endpoint: one object with its path, who may call it, what it takes, what it responds with and its handler.
 * Validation, idempotency and documentation derive from it.
 */
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { beginningWith, inTransaction, type Sql } from '../core/db/client.ts';
import { assertSameRequest, requestHash } from '../core/idempotency/idempotency.ts';
import type { Admission } from '../core/keys/admission.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { CallCredentials, Scope } from '../core/keys/keys.ts';
import { AppError, forbidden } from '../core/lib/errors.ts';
import type { Share } from '../core/limits/shares.ts';
import { assertStillInForce } from '../core/sessions/still-in-force.ts';
import type { ApiContext } from './api-context.ts';
import { authorizeMetered, authorizeUnmetered } from './authorize.ts';
import { clientGone } from './client-gone.ts';
import { claimRequest, type KeptResponse, unclaimed } from './idempotent-request.ts';
import { parseParameters } from './parse-parameters.ts';
import { requestIdOf } from './problem.ts';
import { readJson } from './read-json.ts';

export interface RouteInput<Query = unknown, Params = unknown> {
  context: ApiContext;
  /** The caller's key; its account owns everything that the call may see. */
  key: ApiKey;
  /** The credentials that a charge must find valid. Transactions of `context.sql` check them by themselves. */
  credentials: CallCredentials;
  /** The state of the key's limits when a metered call was admitted; null for other calls. */
  admission: Admission | null;
  query: Query;
  params: Params;
  request: Request;
  response: Response;
}

/** A response as it is documented: JSON of a schema, a stream of one of the types, or no body. */
export interface DocumentedResponse {
  description: string;
  schema?: z.ZodType;
  types?: readonly string[];
}
export type Responses = Readonly<Record<number, DocumentedResponse>>;

/** Returned by a handler that has sent the response itself: a stream, or prepared text. */
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
   * Runs `work` in a transaction, keeps its reply for the Idempotency-Key in the same one, then wakes workers.
   * A handler that is idempotent makes all its changes in one such transaction.
   */
  commit<Committed extends Reply & AfterCommit>(
    work: (tx: Sql) => Promise<Committed>,
  ): Promise<Committed>;
  /** Keeps a response for the Idempotency-Key, in the transaction of what it is about. */
  keep(tx: Sql, response: KeptResponse): Promise<void>;
}

/** Parts of a reply other than its body. */
export interface AfterCommit {
  /** Wakes workers; what it throws is logged, because the sweep finds what has no wake-up. */
  wake?: () => Promise<void>;
  /** Members of the body that are shown this once and never kept. */
  shownOnce?: Record<string, unknown>;
}

/** A body that a route reads by itself. */
interface Received<Body> {
  body: Body;
  /** The identity of a request: options and the SHA-256 of its file, if there is one; its query when absent. */
  same?: { options: Record<string, unknown>; fileSha256?: Buffer };
  /** Undoes the reading: the request was served before. */
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
  /** The scope that the key needs; null for any key. */
  scope: Scope | null;
  /** True for the calls that the key's limits per minute and day count. */
  counted?: boolean;
  /** Credits of a match. */
  credits?: number;
  /** Query parameters; none when absent. */
  query?: Query;
  /** True for a handler that reads the query string as it was sent; `query` only documents it. */
  readsQuery?: true;
  params?: Params;
  /** The JSON that the call takes. */
  body?: z.ZodType<Body>;
  /** Bodies by type, of a call that reads its body with `receive`; null for bytes. */
  bodies?: Readonly<Record<string, z.ZodType | null>>;
  receive?(input: RouteInput<z.output<Query>, z.output<Params>>): Promise<Received<Body>>;
  responses: Documented;
  /** Statuses of its own errors, beside those that its other members imply. */
  errors?: readonly number[];
  /**
   * True for a call that may be sent twice with one Idempotency-Key and happens once. With `replay` it decides
   * itself what the second one is served.
   */
  idempotent?:
    | true
    | {
        replay(
          input: RouteInput<z.output<Query>, z.output<Params>>,
          kept: KeptResponse,
        ): Promise<Sent>;
      };
  /** True when the header `Location` says where the object of the response is: its `links.self`. */
  locates?: true;
  /**
   * Returns the response, or throws `AppError`. It makes all its changes in transactions of `context.sql`, as `commit`
   * does: each waits for the account's turn, and begins by finding the caller still allowed to call, however long ago
   * the headers came.
   */
  handler(
    input: HandlerInput<z.output<Query>, z.output<Params>, Body, ReplyOf<Documented>>,
  ): Promise<(ReplyOf<Documented> & AfterCommit) | Sent>;
}

/** A route as the application and the document see it. */
export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  summary: string;
  scope: Scope | null;
  counted?: boolean;
  credits?: number;
  query: z.ZodType;
  params: z.ZodType;
  bodies: Readonly<Record<string, z.ZodType | null>>;
  responses: Responses;
  /** Statuses of all errors that are its own, sorted. */
  errors: readonly number[];
  idempotent: boolean;
  /** `writes` has a place for each transaction of a handler, by account. */
  toHandler(context: ApiContext, writes: Share): RequestHandler;
}

/** A path or query with no parameters: one that is sent anyway is refused by name. */
const none = z.strictObject({});
/** The path parameter of everything that has an id. */
export const idParams = z.strictObject({ id: z.string() });

export function defineRoute<
  const Documented extends Responses,
  Query extends z.ZodType = typeof none,
  Params extends z.ZodType = typeof none,
  Body = undefined,
>(definition: RouteDefinition<Query, Params, Body, Documented>): Route {
  const authorize = definition.counted ? authorizeMetered : authorizeUnmetered;
  const bodies = definition.body ? { 'application/json': definition.body } : definition.bodies;
  return {
    ...definition,
    query: definition.query ?? none,
    params: definition.params ?? none,
    bodies: bodies ?? {},
    errors: impliedErrors(definition),
    idempotent: definition.idempotent !== undefined,
    toHandler: (context, writes) => async (request, response) => {
      // Express gives HEAD to the handler of GET: a call would be paid whose answer nobody can read.
      if (request.method === 'HEAD') throw headNotAllowed();
      const { key, admission, credentials } = await authorize(context, request, response);
      if (definition.scope !== null && !key.scopes.includes(definition.scope)) {
        throw scopeMissing(definition.scope);
      }
      const sentQuery = definition.readsQuery ? {} : request.query;
      const query = parseParameters((definition.query ?? none) as Query, sentQuery);
      const params = request.params as z.output<Params>;
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
      await serve(definition, { ...called, context: { ...scoped, sql } });
    },
  };
}

/** The errors that follow from what a route takes, and its own. */
function impliedErrors(
  definition: Pick<
    RouteDefinition<z.ZodType, z.ZodType, unknown, Responses>,
    'params' | 'body' | 'bodies' | 'idempotent' | 'credits' | 'errors'
  >,
): number[] {
  const { params, body, bodies, idempotent, credits, errors = [] } = definition;
  const implied = [
    ...(params === undefined ? [] : [404]),
    ...(body === undefined && bodies === undefined ? [] : [413, 415]),
    ...(idempotent === undefined ? [] : [409, 422]),
    ...(credits === undefined ? [] : [402]),
  ];
  return [...new Set([...implied, ...errors])].sort((a, b) => a - b);
}

/** Claims the Idempotency-Key, reads the body, and sends what the handler returns, or what it returned before. */
async function serve<
  Query extends z.ZodType,
  Params extends z.ZodType,
  Body,
  Documented extends Responses,
>(
  definition: RouteDefinition<Query, Params, Body, Documented>,
  input: RouteInput<z.output<Query>, z.output<Params>>,
): Promise<void> {
  const { context, key, request, response } = input;
  const { idempotent } = definition;
  const claim = idempotent ? await claimRequest(context, key, request) : unclaimed;
  try {
    const { body, same, discard } = await receive(definition, input);
    const hash = () => requestHash(same?.options ?? request.query, same?.fileSha256 ?? null);
    if (claim.kept !== null) {
      await discard?.();
      assertSameRequest(claim.kept, hash());
      if (typeof idempotent === 'object') {
        await idempotent.replay(input, claim.kept);
        return;
      }
      response.setHeader('Idempotent-Replayed', 'true');
      send(response, claim.kept, definition);
      return;
    }
    const keep = (tx: Sql, kept: KeptResponse) =>
      claim.keep(tx, () => ({ ...kept, requestSha256: hash() }));
    const commit = async <Committed extends ReplyOf<Documented> & AfterCommit>(
      work: (tx: Sql) => Promise<Committed>,
    ) => {
      const reply = await inTransaction(context.sql, async (tx) => {
        const made = await work(tx);
        await keep(tx, { status: Number(made.status), body: made.body });
        return made;
      });
      await reply.wake?.().catch((error: unknown) => {
        context.log.warn({ err: error }, 'workers not woken: the sweep does it');
      });
      return reply;
    };
    const reply = await definition.handler({ ...input, body, commit, keep });
    if (reply !== sent) send(response, reply, definition);
  } finally {
    await claim.release();
  }
}

function send(
  response: Response,
  reply: { status: PropertyKey; body?: unknown } & AfterCommit,
  { locates }: { locates?: true | undefined },
): void {
  response.status(Number(reply.status));
  if (reply.body === undefined) {
    response.end();
    return;
  }
  if (locates) response.location((reply.body as { links: { self: string } }).links.self);
  if (reply.shownOnce !== undefined) response.setHeader('Cache-Control', 'no-store');
  response.json(reply.shownOnce === undefined ? reply.body : { ...reply.body, ...reply.shownOnce });
}

async function receive<Query extends z.ZodType, Params extends z.ZodType, Body>(
  definition: Pick<RouteDefinition<Query, Params, Body, Responses>, 'method' | 'body' | 'receive'>,
  input: RouteInput<z.output<Query>, z.output<Params>>,
): Promise<Received<Body>> {
  if (definition.receive !== undefined) return definition.receive(input);
  if (definition.body === undefined) {
    return { body: undefined as Body };
  }
  const body = parseParameters(definition.body, await readJson(input.request));
  return { body, same: { options: body as Record<string, unknown> } };
}

/** Lines that the work of a request writes say which request it was; single calls write none. */
function withRequestId(context: ApiContext, response: Response): ApiContext {
  return { ...context, log: context.log.child({ requestId: requestIdOf(response) }) };
}

function scopeMissing(scope: Scope): AppError {
  return forbidden(`This key may not do that: it lacks the scope \`${scope}\`.`);
}

function headNotAllowed(): AppError {
  return new AppError({
    code: 'method_not_allowed',
    status: 405,
    message: 'HEAD is not answered here; use GET.',
  });
}
