/**
 * Responds to a priced single call. Without an Idempotency-Key the call is coalesced with concurrent ones; with one it
 * has a transaction of its own, which both stores the response and charges the match.
 */
import type { Response } from 'express';
import { type EnrichCall, type EnrichedCall, enrichCalls } from '../core/calls/enrich-calls.ts';
import { refundCredits } from '../core/credits/credits.ts';
import { inTransaction, type Sql } from '../core/db/client.ts';
import { countWork } from '../core/enrich/count-work.ts';
import { enrichMany, type Outcome } from '../core/enrich/enrich-many.ts';
import { discloseAmbiguous } from '../core/enrich/free-outcomes.ts';
import { matchToJson, peopleOfMatch } from '../core/enrich/match-data.ts';
import type { RowInput } from '../core/enrich/outcomes.ts';
import { projectMatch } from '../core/enrich/project-match.ts';
import { graphOf } from '../core/graph/graph-of.ts';
import { must } from '../core/lib/assert.ts';
import { AppError, conflict, invalidParameter } from '../core/lib/errors.ts';
import type { LikelyCandidate } from '../core/likely/find-likely.ts';
import { type OperationName, operations } from '../core/operations.ts';
import { redactDirectors } from '../core/suppression/opted-out-people.ts';
import { isAnySuppressed } from '../core/suppression/suppress.ts';
import { resultChanging } from '../jobs/result/read-part.ts';
import { setCreditHeaders } from './http/authorize.ts';
import { clientGone } from './http/client-gone.ts';
import type { HandlerInput, RouteInput } from './http/define-route.ts';
import type { KeptResponse } from './http/idempotent-request.ts';
import { toProblem } from './http/problem.ts';
import { assertValidIfLate, isLate } from './http/while-valid.ts';

interface EnrichRequest {
  operation: OperationName;
  row: RowInput;
  fields: string[] | null;
  required: string[] | null;
  minProbability: number | null;
  live: boolean;
  requestId: string;
}

interface Call extends RouteInput {
  wanted: EnrichRequest;
}

/** A stored response, with the ids of its people: a replay checks whether they have opted out. */
interface KeptBody {
  /** The record that it answered; 0 or absent for none. */
  id?: number;
  people: number[];
  /** Empty when an erasure has cleared it. */
  answer: { data?: { directors?: unknown } } & Record<string, unknown>;
}

/** Sends the response. Throws `AppError` for every outcome but a match. */
export async function respondToCall(
  call: Call,
  keep: HandlerInput<unknown, unknown, undefined, never>['keep'],
): Promise<void> {
  const { context, request, response, wanted } = call;
  if (request.get('Idempotency-Key') === undefined) {
    const enriched = await runCall(call, toEnrichCall(call));
    if (enriched === null) throw optedOutMeanwhile(wanted);
    // A charge has checked key and session.
    if (enriched.charged === 0) await assertValidIfLate(context, call);
    setChargeHeaders(call, enriched);
    sendJson(response, render(wanted, enriched.outcome, enriched.charged));
    return;
  }
  const { enriched, kept } = await inTransaction(context.sql, async (tx) => {
    const [done] = await enrichCalls({ ...context, sql: tx }, [toEnrichCall(call)]);
    const enriched = must(done, 'outcome of the call');
    if (enriched instanceof Error) throw enriched;
    const kept = toKept(wanted, enriched);
    await keep(tx, kept);
    // Only now: an erasure that this does not see waits for the stored response, and clears it.
    const graph = graphOf({ ...context, sql: tx }, wanted.live);
    if (await isAnySuppressed(graph, kept.body.people)) throw optedOutMeanwhile(wanted);
    return { enriched, kept };
  });
  if (enriched.charged === 0) await assertValidIfLate(context, call);
  setChargeHeaders(call, enriched);
  send(response, kept.status, kept.body.answer);
}

/**
 * Runs a call. Before a late response it asks for opt-outs again, because the charge may have waited for a lock: returns null for
 * a person who opted out meanwhile, and refunds the charge. Throws as `EnrichCalls.run`.
 */
export async function runCall(
  { context, response, authorizedAt }: RouteInput,
  call: EnrichCall,
): Promise<EnrichedCall | null> {
  const enriched = await context.calls.run(call, clientGone(response));
  if (!isLate(authorizedAt)) return enriched;
  const people = peopleIn(call.operation, enriched.outcome);
  if (!(await isAnySuppressed(graphOf(context, call.live), people))) return enriched;
  if (enriched.charged > 0) await refundCredits(context.sql, call);
  return null;
}

/**
 * Sends the stored response to the same call. After an opt-out a person's record is withheld, as is an ambiguity that names
 * the person, and a company has that director no longer; after an erasure the same company is read again.
 */
export async function replayCall(call: Call, { status, body }: KeptResponse): Promise<void> {
  const { context, response, wanted } = call;
  const sendAgain = await readAgain(call, status, body as KeptBody);
  await assertValidIfLate(context, call);
  if (sendAgain === null) throw noMatch(wanted);
  response.setHeader('Idempotent-Replayed', 'true');
  sendAgain();
}

/** Returns what sends the stored response; null for one that is withheld. */
async function readAgain(
  { context, response, wanted }: Call,
  status: number,
  { id = 0, people, answer }: KeptBody,
): Promise<(() => void) | null> {
  const graph = graphOf(context, wanted.live);
  const isOutdated = await isAnySuppressed(graph, people);
  if (isOutdated && operations[wanted.operation].subject === 'person') return null;
  if (answer.data !== undefined) {
    // Also without directors who had no record in the graph then.
    const data = await withoutHidden(graph, id, answer.data);
    return () => send(response, status, { ...answer, data });
  }
  if (!isOutdated) return () => send(response, status, answer);
  const { minProbability } = wanted;
  const [outcome] = await enrichMany(graph, wanted.operation, [wanted.row], { minProbability });
  return outcome?.id === id ? () => sendJson(response, render(wanted, outcome, 0)) : null;
}

/** Returns the data of a company without the directors who opted out since. */
async function withoutHidden(
  graph: Sql,
  companyId: number,
  data: { directors?: unknown },
): Promise<object> {
  if (data.directors === undefined) return data;
  const directors = JSON.stringify(data.directors);
  const [left] = await redactDirectors(graph, [{ companyId, directors }]);
  return { ...data, directors: JSON.parse(must(left, 'directors of the company')) };
}

/** Available credits of the wallet before a metered call. */
export function availableBefore({ admission }: Pick<RouteInput, 'admission'>): number {
  return must(admission, 'admission of a metered call').available;
}

/** Returns what pays for a metered call. */
export function payerOf({ key, credentials, admission }: RouteInput) {
  const { isPlain } = must(admission, 'admission of a metered call');
  return { accountId: key.accountId, ...credentials, live: key.mode === 'live', isPlain };
}

function toEnrichCall({ wanted, ...input }: Call): EnrichCall {
  const { operation, row, required, minProbability, requestId } = wanted;
  const asked = { operation, row, required, minProbability };
  return { ...payerOf(input), ...asked, reference: `call:${requestId}` };
}

/** Sets the credit headers of a committed call and counts its outcome. */
function setChargeHeaders(call: Call, enriched: EnrichedCall): void {
  const { response, wanted } = call;
  const { outcome, charged, remaining } = enriched;
  setCreditHeaders(response, charged, remaining ?? availableBefore(call));
  const { operation, live } = wanted;
  countWork({ channel: 'call', operation, live, rows: { [outcome.status]: 1 }, credits: charged });
}

function send(response: Response, status: number, body: Record<string, unknown>): void {
  response.status(status);
  if (status < 400) response.json(body);
  else response.type('application/problem+json').send(JSON.stringify(body));
}

/** Returns the response to store. */
function toKept(
  wanted: EnrichRequest,
  { outcome, charged }: EnrichedCall,
): { status: number; body: KeptBody } {
  const people = peopleIn(wanted.operation, outcome);
  if (outcome.match === null) {
    const refused = refusal(outcome, wanted);
    const answer = { ...toProblem(refused, wanted.requestId) };
    return { status: refused.status, body: { people, answer } };
  }
  const answer = JSON.parse(render(wanted, outcome, charged));
  return { status: 200, body: { id: outcome.id, people, answer } };
}

/** Returns the people whom the response to an outcome names. */
function peopleIn(operation: OperationName, { match, likely }: Outcome): number[] {
  if (match !== null) return peopleOfMatch(match);
  // An ambiguity names its candidates.
  if (operations[operation].subject !== 'person') return [];
  return (likely?.candidates ?? []).map(({ id }) => id);
}

/** Returns the JSON text of a match. Throws `AppError` for every other outcome. */
function render(wanted: EnrichRequest, outcome: Outcome, charged: number): string {
  if (outcome.match === null) throw refusal(outcome, wanted);
  const { operation, fields, live, requestId } = wanted;
  const data = projectMatch(operation, matchToJson(operation, outcome.match), fields);
  const { by, conflict, likely } = outcome;
  const match = JSON.stringify({
    by,
    conflict,
    ...(likely ? { probability: likely.probability, evidence: likely.evidence } : {}),
  });
  const meta = JSON.stringify({ request_id: requestId, credits_charged: charged, live });
  return `{"data":${data},"match":${match},"meta":${meta}}`;
}

/** Returns the error for a call without a match, which is free. */
function refusal(unpaid: Outcome, wanted: EnrichRequest): AppError {
  const [outcome = unpaid] = discloseAmbiguous([unpaid], 0);
  switch (outcome.status) {
    case 'ambiguous': {
      const { candidates, reason, likely } = outcome;
      if (likely !== undefined) return ambiguousName(reason, likely.candidates);
      const records = reason.replace('shared_by_', '').replaceAll('_', ' ');
      return conflict(
        'ambiguous_match',
        `${records} share this identifier. Send one that only one of them has.`,
        { extensions: { candidates } },
      );
    }
    case 'invalid':
      return invalidParameter('name', notANameText(outcome.reason));
    default:
      return noMatch(wanted);
  }
}

/** Returns the error of a name that several records fit. It names them by id alone. */
function ambiguousName(reason: string, candidates: readonly LikelyCandidate[]): AppError {
  const messages: Record<string, string> = {
    several_fit: 'Several records fit the name. Send more of company, title, city and country.',
    name_too_common: 'Too many records have this name. Send a company, a city or a country too.',
  };
  return conflict('ambiguous_match', messages[reason] ?? 'Several records fit the name.', {
    extensions: {
      reason,
      // What they agree in is part of a record, which is paid for.
      candidates: candidates.map(({ id, probability }) => ({ id, probability })),
    },
  });
}

function notANameText(reason: string): string {
  return `cannot be matched: ${reason.replaceAll('_', ' ')}`;
}

/** Returns the error of a call that waited while a person of its match opted out. It costs nothing. */
function optedOutMeanwhile(wanted: EnrichRequest): AppError {
  return operations[wanted.operation].subject === 'person' ? noMatch(wanted) : resultChanging();
}

/** Returns the same error for a person who opted out, and for a record without the data of the operation. */
function noMatch({ operation, required }: EnrichRequest): AppError {
  const notFound =
    operation === 'people.email-verify'
      ? 'No stored work email has this address. Private addresses are not verified.'
      : 'No record that this operation can return has this identifier.';
  return new AppError({
    code: 'no_match',
    status: 404,
    message: `${notFound}${required === null ? '' : ` Records without ${required.join(', ')} do not count.`}`,
  });
}

/**
 * Sends JSON text as the body; status and headers are set before. Head and text leave in one write: Express would
 * copy the text into a buffer first, which costs a single call a second chunk and the copy.
 */
function sendJson(response: Response, json: string): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(json);
}
