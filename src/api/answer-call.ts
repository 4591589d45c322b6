/**
 * Responds to a priced single call. Without an Idempotency-Key it is served together with the others of its moment;
 * with one it has a transaction of its own, in which the response is kept and the match is paid, or neither.
 */
import type { Response } from 'express';
import { inTransaction } from '../core/db/client.ts';
import { answerToJson } from '../core/enrich/answer.ts';
import { countWork } from '../core/enrich/count-work.ts';
import { type EnrichCall, type EnrichedCall, enrichCalls } from '../core/enrich/enrich-calls.ts';
import { enrichMany, type Outcome } from '../core/enrich/enrich-many.ts';
import type { RowInput } from '../core/enrich/outcomes.ts';
import { peopleOfAnswer } from '../core/enrich/people-of-answer.ts';
import { projectAnswer } from '../core/enrich/project-answer.ts';
import { graphOf } from '../core/graph/graph-of.ts';
import { must } from '../core/lib/assert.ts';
import { AppError, conflict } from '../core/lib/errors.ts';
import { type OperationName, operations } from '../core/operations.ts';
import { isAnySuppressed } from '../core/suppression/suppress.ts';
import { setCreditHeaders } from './authorize.ts';
import type { HandlerInput, RouteInput } from './define-route.ts';
import type { KeptResponse } from './idempotent-request.ts';
import { toProblem } from './problem.ts';
import { sendJson } from './send-json.ts';

interface Asked {
  operation: OperationName;
  row: RowInput;
  fields: string[] | null;
  live: boolean;
  requestId: string;
}

/** A call, and what it asks for. */
interface Call extends RouteInput {
  asked: Asked;
}

/** An answer as it is kept: with the people in it, so that a replay can ask whether they opted out. */
interface KeptBody {
  people: number[];
  answer: Record<string, unknown>;
}

/** Sends the response. Throws `AppError` as the call comes out. */
export async function answerCall(
  call: Call,
  keep: HandlerInput<unknown, unknown, undefined, never>['keep'],
): Promise<void> {
  const { context, request, response, asked } = call;
  if (request.get('Idempotency-Key') === undefined) {
    const enriched = await context.calls.run(toEnrichCall(call));
    sayCharge(call, enriched);
    sendJson(response, render(asked, enriched.outcome, enriched.charged));
    return;
  }
  const { enriched, kept } = await inTransaction(context.sql, async (tx) => {
    const [done] = await enrichCalls({ ...context, sql: tx }, [toEnrichCall(call)]);
    const enriched = must(done, 'outcome of the call');
    if (enriched instanceof Error) throw enriched;
    const kept = toKept(asked, enriched);
    await keep(tx, kept);
    return { enriched, kept };
  });
  sayCharge(call, enriched);
  send(response, kept.status, kept.body.answer);
}

/**
 * Sends what was kept for the same call. People who opted out since are not served: their own records not at
 * all, a company is shown as it is now.
 */
export async function replayCall(call: Call, { status, body }: KeptResponse): Promise<void> {
  const { context, response, asked } = call;
  const { people, answer } = body as KeptBody;
  const graph = graphOf(context, asked.live);
  const isOutdated = await isAnySuppressed(graph, people);
  if (isOutdated && operations[asked.operation].subject === 'person') throw noMatch();
  response.setHeader('Idempotent-Replayed', 'true');
  if (!isOutdated) return send(response, status, answer);
  const [outcome] = await enrichMany(graph, asked.operation, [asked.row]);
  sendJson(response, render(asked, must(outcome, 'outcome'), 0));
}

/** Credits of the wallet before a counted call. */
export function availableBefore({ admission }: Pick<RouteInput, 'admission'>): number {
  return must(admission, 'admission of a counted call').available;
}

function toEnrichCall({ key, credentials, asked }: Call): EnrichCall {
  const { operation, row, live, requestId } = asked;
  const reference = `call:${requestId}`;
  return { accountId: key.accountId, ...credentials, live, operation, row, reference };
}

/** Says what a call cost, and counts it: what it came to is committed. */
function sayCharge(call: Call, enriched: EnrichedCall): void {
  const { response, asked } = call;
  const { outcome, charged, remaining } = enriched;
  setCreditHeaders(response, charged, remaining ?? availableBefore(call));
  const { operation, live } = asked;
  countWork({ channel: 'call', operation, live, rows: { [outcome.status]: 1 }, credits: charged });
}

function send(response: Response, status: number, body: Record<string, unknown>): void {
  response.status(status);
  if (status < 400) response.json(body);
  else response.type('application/problem+json').send(JSON.stringify(body));
}

/** The answer to keep. */
function toKept(
  asked: Asked,
  { outcome, charged }: EnrichedCall,
): { status: number; body: KeptBody } {
  if (outcome.answer === null) {
    const refused = refusal(outcome);
    return {
      status: refused.status,
      body: { people: [], answer: toProblem(refused, asked.requestId) },
    };
  }
  const people = peopleOfAnswer(outcome.answer);
  return { status: 200, body: { people, answer: JSON.parse(render(asked, outcome, charged)) } };
}

/** The JSON text of a match's body. Throws `AppError` for every other outcome. */
function render(asked: Asked, outcome: Outcome, charged: number): string {
  if (outcome.answer === null) throw refusal(outcome);
  const { operation, fields, live, requestId } = asked;
  const data = projectAnswer(operation, answerToJson(operation, outcome.answer), fields);
  const match = JSON.stringify({ by: outcome.by, conflict: outcome.conflict });
  const meta = JSON.stringify({ request_id: requestId, credits_charged: charged, live });
  return `{"data":${data},"match":${match},"meta":${meta}}`;
}

/** The response to a call without a match; it cost nothing. */
function refusal(outcome: Outcome): AppError {
  switch (outcome.status) {
    case 'ambiguous':
      return conflict(
        'ambiguous_match',
        `${outcome.reason}: send an identifier that only one of them has.`,
        { extensions: { candidates: outcome.candidates } },
      );
    default:
      return noMatch();
  }
}

/** Also for a person who opted out, and for a record that lacks what the operation gives. */
function noMatch(): AppError {
  return new AppError({
    code: 'no_match',
    status: 404,
    message: 'Nothing that this operation could return has this identifier.',
  });
}
