/**
 * Single calls: each is a batch of one, coalesced with concurrent calls. Match first, then charge the matches, in order of
 * arrival, one statement for all. A call that cannot be paid returns nothing of its match. Where there is a local copy of the
 * graph it answers, and the statement that charges proves that the graph still has the state of the answers.
 */

import type { CallCredentials } from '../call-credentials.ts';
import { chargeCalls } from '../credits/charge-calls.sql.ts';
import { cannotPay } from '../credits/payment-error.ts';
import type { Database, Sql } from '../db/client.ts';
import { enrichMany, type Outcome } from '../enrich/enrich-many.ts';
import { withoutConflict } from '../enrich/free-outcomes.ts';
import { graphOfCalls } from '../enrich/graph-reader.ts';
import type { RecordBytes } from '../enrich/match-data.ts';
import { hidesMobile, type MobileSetting } from '../enrich/mobile-in-records.ts';
import type { RowInput } from '../enrich/outcomes.ts';
import { requiredColumns } from '../enrich/required-fields.ts';
import { graphOf } from '../graph/graph-of.ts';
import type { GraphState } from '../graph/graph-state.ts';
import { type GraphInState, hasState, type LocalCopy } from '../graph-copy/local-copy.ts';
import { assert, must } from '../lib/assert.ts';
import { coalesce, type Lane, openLane } from '../lib/coalesce.ts';
import { openShare } from '../limits/shares.ts';
import { type OperationName, operations } from '../operations.ts';
import { credentialsEnded } from '../sessions/still-valid.ts';
import { countMatchedCalls } from './calls-matched.ts';

export interface EnrichCall extends CallCredentials {
  accountId: string;
  /** See `Caller`. */
  isPlain: boolean;
  live: boolean;
  operation: OperationName;
  row: RowInput;
  /** Probability from which the call matches by name; null for identifiers alone. */
  minProbability: number | null;
  /** Fields without which a record does not match; null for none. */
  required: readonly string[] | null;
  /** Unique within the account; the reference of the ledger line. */
  reference: string;
}

export interface EnrichedCall {
  outcome: Outcome;
  /** Credits charged for it; 0 unless it matched, for test keys, and for a person whom the account owns. */
  charged: number;
  /** Credits left in the wallet, if the call was charged. */
  remaining: number | null;
}

interface CallContext {
  sql: Sql;
  testSql: Sql;
  config: MobileSetting;
}

/** Of calls that the local copy of the graph may answer. */
interface CopyContext extends CallContext {
  sql: Database;
  localCopy: LocalCopy;
}

export interface EnrichCalls {
  /**
   * Runs a call together with concurrent ones, one by name in the account's turn. Throws `AppError` 402 when its match cannot be
   * paid, 401 or 403 when its session or key has ended since it was admitted, 503 when it waited too long for its turn, and the
   * reason of `gone` when that aborts before.
   */
  run(call: EnrichCall, gone: AbortSignal): Promise<EnrichedCall>;
}

const BATCH_MAX = 64;
/** A call by name takes some eight statements, and again as many for each probability among the calls. */
const LIKELY_BATCH_MAX = 16;

/** The batches of their lane. */
const NAMES_IN_FLIGHT_MAX = 2 * LIKELY_BATCH_MAX;
/** Turns of calls by name: without them, all that an account sends at once would come before the next one of another. */
const nameTurns = {
  name: 'calls by name',
  inFlightMax: NAMES_IN_FLIGHT_MAX,
  // Fewer would halve what an account alone gets. The next call of another one waits for a batch.
  accountInFlightMax: NAMES_IN_FLIGHT_MAX,
  // The limits of keys bound them.
  accountWaitingMax: Number.POSITIVE_INFINITY,
  // Before the connection is cut as stalled.
  waitMsMax: 50_000,
};

/**
 * Opens the runner of single calls over both graphs. Calls by name have a lane of their own: a minute's requests of one key, each
 * with another probability, would hold those by identifier for seconds.
 */
export function openEnrichCalls(context: CopyContext, lane: Lane = openLane(2)): EnrichCalls {
  const runBatch = (calls: EnrichCall[]) => enrichFromCopy(context, calls);
  const ownerOf = ({ accountId }: EnrichCall) => accountId;
  const exact = { lane, batchMax: BATCH_MAX, ownerOf };
  const byIdentifier = coalesce<EnrichCall, EnrichedCall>(runBatch, exact);
  const likely = { lane: openLane(2), batchMax: LIKELY_BATCH_MAX, ownerOf };
  const byName = coalesce<EnrichCall, EnrichedCall>(runBatch, likely);
  const inTurn = openShare(nameTurns);
  return {
    run: (call, gone) =>
      call.row.likely === undefined
        ? byIdentifier(call)
        : inTurn(call.accountId, gone, () => byName(call)),
  };
}

/** The result of a call; an `AppError` for one that gets nothing. */
type Answer = EnrichedCall | Error;

/**
 * Runs calls as `enrichCalls` does, from the local copy of the graph where there is one. When the graph has changed since
 * the copy was asked about changes, nothing was charged, and Postgres answers.
 */
async function enrichFromCopy(context: CopyContext, calls: EnrichCall[]): Promise<Answer[]> {
  const live = calls.filter((call) => call.live).length;
  if (live === 0) return enrichCalls(context, calls);
  let isRepeated = false;
  const copied = await context.localCopy.readAsKnown(context.sql, async (graph) => {
    const answers = await matchAndCharge(context, calls, graph);
    isRepeated = answers === null;
    return answers;
  });
  countMatchedCalls(copied === null ? 'postgres' : 'copy', live, isRepeated);
  return copied ?? enrichCalls(context, calls);
}

/**
 * Runs calls as one batch. Each has its own result: an `AppError` 402 when its match cannot be paid, 401 or 403
 * when its session or key has ended since it was admitted.
 */
export async function enrichCalls(context: CallContext, calls: EnrichCall[]): Promise<Answer[]> {
  return must(await matchAndCharge(context, calls, null), 'answers of Postgres');
}

/** Null, and nothing is charged, when the graph no longer has the state of the copy. */
async function matchAndCharge(
  context: CallContext,
  calls: readonly EnrichCall[],
  copy: GraphInState | null,
): Promise<Answer[] | null> {
  const outcomes = await matchCalls(context, calls, copy);
  const answers: Answer[] = outcomes.map((outcome) => ({ outcome, charged: 0, remaining: null }));
  const paying = calls.flatMap((call, index) =>
    call.live && outcomes[index]?.status === 'matched' ? [index] : [],
  );
  const state = copy?.state ?? null;
  const isProven =
    paying.length > 0
      ? await charge(context.sql, calls, answers, paying, state)
      : state === null || (await hasState(context.sql, state));
  return isProven ? answers : null;
}

/** Returns the outcomes of mixed calls: one look-up for each operation and graph among them. */
async function matchCalls(
  context: CallContext,
  calls: readonly EnrichCall[],
  copy: GraphInState | null,
): Promise<Outcome[]> {
  const groups = new Map<string, number[]>();
  for (const [index, call] of calls.entries()) {
    const group = `${call.operation} ${call.live} ${call.minProbability} ${call.required ?? ''}`;
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [index]);
    else members.push(index);
  }
  const outcomes: Outcome[] = [];
  for (const indexes of groups.values()) {
    const members = indexes.map((index) => must(calls[index], 'call'));
    const { live, operation, required, minProbability } = must(members[0], 'a call of the group');
    const graph = graphOf(context, live);
    const rows = members.map((call) => call.row);
    const found = await enrichMany(graph, operation, rows, {
      required: requiredColumns(operation, required),
      hidesMobile: hidesMobile(context.config, operation),
      minProbability,
      ...readerOf(graph, operation, live ? copy : null),
    });
    for (const [place, index] of indexes.entries()) {
      outcomes[index] = must(found[place], 'an outcome for each call');
    }
  }
  if (copy === null) return outcomes;
  const kept = outcomes.map(keepRecords);
  copy.release();
  return kept;
}

/** People read with their companies are not read alone. */
function readerOf(graph: Sql, operation: OperationName, copy: GraphInState | null) {
  if (copy !== null) return { reader: copy };
  return operation === 'people.enrich-with-company' ? {} : { reader: graphOfCalls(graph) };
}

/** Copies the records of a match, whose buffers are used again. */
function keepRecords(outcome: Outcome): Outcome {
  const { match } = outcome;
  if (match === null) return outcome;
  return {
    ...outcome,
    match: { ...match, person: keep(match.person), company: keep(match.company) },
  };
}

function keep(record: RecordBytes | null): RecordBytes | null {
  if (record === null) return null;
  const bytes = Buffer.from(record.bytes.subarray(record.from, record.to));
  return { bytes, from: 0, to: bytes.length };
}

/**
 * Charges the calls at these indexes. A call that did not fit after dearer ones is retried alone, because its own price may
 * still be available. Returns false, and charges nothing, when the graph has another state. Does not throw once some are
 * charged, because these must be delivered.
 */
async function charge(
  sql: Sql,
  calls: readonly EnrichCall[],
  answers: Answer[],
  places: number[],
  state: GraphState | null,
): Promise<boolean> {
  const paidCalls = places.map((place) => {
    const { outcome } = must(answers[place], 'outcome of the call') as EnrichedCall;
    return toPaidCall(must(calls[place], 'call'), outcome.id);
  });
  const results = await chargeCalls(sql, paidCalls, state);
  if (results.length === 0) return false;
  for (const [index, place] of places.entries()) {
    const { paid, charged, remaining, leftToday } = must(results[index], 'a result for each call');
    const { price } = must(paidCalls[index], 'call');
    const answer = answers[place];
    if (paid === null) {
      answers[place] = await orError(credentialsEnded(sql, must(calls[place], 'call')));
    } else if (paid && answer !== undefined && !(answer instanceof Error)) {
      const outcome = charged === 0 ? withoutConflict(answer.outcome) : answer.outcome;
      answers[place] = { outcome, charged, remaining };
    } else if (places.length > 1 && remaining >= price && (leftToday ?? price) >= price) {
      const alone = charge(sql, calls, answers, [place], null);
      const charged = await orError(alone);
      if (charged instanceof Error) answers[place] = charged;
      // The state was proven with the others.
      else assert(charged, 'Postgres needs no proof');
    } else {
      answers[place] = cannotPay(price, { available: remaining, leftToday });
    }
  }
  return true;
}

/** Returns the error of a promise as its result. */
function orError<T>(promise: Promise<T>): Promise<T | Error> {
  return promise.catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );
}

function toPaidCall(call: EnrichCall, recordId: number) {
  const { accountId, keyId, sessionSha256, isPlain, reference, operation } = call;
  const { price } = operations[operation];
  return { accountId, keyId, sessionSha256, isPlain, price, reference, operation, recordId };
}
