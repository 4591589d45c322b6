/**
 * Answers a priced single call. Without an Idempotency-Key it rides with the others of its moment; with
 * one it has a transaction of its own, in which the answer is kept and the match is paid, or neither.
 */

import type { Request, Response } from 'express';
import { inTransaction } from '../core/db/client.ts';
import { answerToJson } from '../core/enrich/answer.ts';
import { countWork } from '../core/enrich/count-work.ts';
import { type EnrichCall, type EnrichedCall, enrichCalls } from '../core/enrich/enrich-calls.ts';
import { enrichMany, type Outcome } from '../core/enrich/enrich-many.ts';
import type { RowInput } from '../core/enrich/outcomes.ts';
import { peopleOfAnswer } from '../core/enrich/people-of-answer.ts';
import { projectAnswer } from '../core/enrich/project-answer.ts';
import { graphOf } from '../core/graph/graph-of.ts';
import type { StoredResponse } from '../core/idempotency/idempotency.sql.ts';
import { assertSameRequest, requestHash } from '../core/idempotency/idempotency.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { CallCredentials } from '../core/keys/keys.ts';
import { must } from '../core/lib/assert.ts';
import { AppError } from '../core/lib/errors.ts';
import { type OperationName, operations } from '../core/operations.ts';
import { isAnySuppressed } from '../core/suppression/suppress.ts';
import type { ApiContext } from './api-context.ts';
import { sayCredits } from './define-route.ts';
import { claimRequest } from './idempotent-request.ts';
import { toProblem } from './problem.ts';
import { sendJson } from './send-json.ts';

interface Asked {
  operation: OperationName;
  row: RowInput;
  fields: string[] | null;
  live: boolean;
  requestId: string;
}

interface Call {
  context: ApiContext;
  key: ApiKey;
  credentials: CallCredentials;
  request: Request;
  response: Response;
  asked: Asked;
  /** Credits of the wallet before the call. */
  available: number;
}

/** An answer as it is kept: with the people in it, so that a replay can ask whether they opted out. */
interface KeptBody {
  people: number[];
  answer: Record<string, unknown>;
}

/**
 * Sends the answer. `beforeLookUp` may refuse the call or take its time; it is not asked for an answer
 * that was given before. Throws `AppError` as the call comes out.
 */
export async function answerCall(call: Call, beforeLookUp: () => Promise<void>): Promise<void> {
  const { context, request, response } = call;
  if (request.get('Idempotency-Key') !== undefined) return answerOnce(call, beforeLookUp);
  await beforeLookUp();
  const enriched = await context.calls.run(toEnrichCall(call));
  sayCharge(call, enriched);
  const { outcome, charged } = enriched;
  sendJson(response, render(call.asked, outcome, charged));
}

async function answerOnce(call: Call, beforeLookUp: () => Promise<void>): Promise<void> {
  const { context, key, request, response, asked } = call;
  const idempotency = await claimRequest(context, key, request);
  try {
    const requestSha256 = requestHash(request.query, null);
    if (idempotency.stored !== null) {
      assertSameRequest(idempotency.stored, requestSha256);
      return await replayCall(call, idempotency.stored);
    }
    await beforeLookUp();
    const { enriched, kept } = await inTransaction(context.sql, async (tx) => {
      const [done] = await enrichCalls({ ...context, sql: tx }, [toEnrichCall(call)]);
      const enriched = must(done, 'outcome of the call');
      if (enriched instanceof Error) throw enriched;
      const kept = toKept(asked, enriched);
      await idempotency.respond(tx, { ...kept, requestSha256 });
      return { enriched, kept };
    });
    sayCharge(call, enriched);
    send(response, kept.status, kept.body.answer);
  } finally {
    await idempotency.release();
  }
}

/**
 * Sends what the same call was answered before. People who opted out since are not served: their own
 * records not at all, a company is shown as it is now.
 */
async function replayCall(call: Call, { status, body }: StoredResponse): Promise<void> {
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

function toEnrichCall({ key, credentials, asked }: Call): EnrichCall {
  const { operation, row, live, requestId } = asked;
  const reference = `call:${requestId}`;
  return { accountId: key.accountId, ...credentials, live, operation, row, reference };
}

/** Says what a call cost, and counts it: what it came to is committed. */
function sayCharge({ response, available, asked }: Call, enriched: EnrichedCall): void {
  const { outcome, charged, remaining } = enriched;
  sayCredits(response, charged, remaining ?? available);
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

/** What a call without a match is answered with; it cost nothing. */
function refusal(outcome: Outcome): AppError {
  switch (outcome.status) {
    case 'ambiguous':
      return new AppError({
        code: 'ambiguous_match',
        status: 409,
        message: `${outcome.reason}: send an identifier that only one of them has.`,
        extensions: { candidates: outcome.candidates },
      });
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
