/**
 * Runs one chunk of a batch: claims, matches, reserves the exact price, writes the part, commits. Everything up
 * to the commit may happen twice or be lost. The commit happens once, because it needs the epoch of the claim
 * and settles the reservation in the statement that records the part.
 */
import { z } from 'zod';
import { isPaidOnce, paysOnce } from '../../core/credits/owned.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { countWork } from '../../core/enrich/count-work.ts';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import {
  countUnpaidDisclosures,
  discloseAmbiguous,
  withoutConflict,
} from '../../core/enrich/free-outcomes.ts';
import { entityCodes } from '../../core/graph/source-entities.ts';
import { hasState } from '../../core/graph-copy/local-copy.ts';
import { takeRows, takeUnpaidDisclosures } from '../../core/limits/limits.ts';
import { priceOf, subjectOf } from '../../core/operations.ts';
import { isObjectLost } from '../../core/storage/object-sum.ts';
import { tracedIn } from '../../core/tracing.ts';
import type { Batch } from '../batch/batch.ts';
import { dispatch } from '../batch/dispatch.ts';
import { endWithError, processingFailed } from '../batch/fail-batch.ts';
import { endWhenObjectLost, pauseWhenLost } from '../batch/lost-object.ts';
import { haveBeenJoined } from '../batch/reruns.sql.ts';
import { assertStorageLeft, isStorageFull } from '../batch/stored-bytes.ts';
import { defineJob } from '../queue/define-job.ts';
import type { JobContext } from '../queue/job-context.ts';
import { deleteAbandonedParts } from '../result/delete-abandoned.ts';
import { finishBatch } from '../result/finish-batch.ts';
import { partKey, personIndexKey } from '../result/part-keys.ts';
import { encodePersonIndex, indexedSubject } from '../result/person-index.ts';
import { countOutcomes } from './afford.ts';
import { type ChunkPhases, countPart, startPhases, warnRefused } from './chunk-metrics.ts';
import type { ChunkWork, ReadChunk } from './chunk-work.ts';
import { type Claim, type ClaimedChunk, claimChunk } from './claim-chunk.sql.ts';
import { commitPaidOnce } from './commit-paid-once.sql.ts';
import {
  type CommitPart,
  type Committed,
  commitPart,
  type Release,
  releaseChunk,
} from './commit-part.sql.ts';
import { holdLease } from './hold-lease.ts';
import { answeredRecords } from './match-chunk.ts';
import { rowsOfPart } from './next-part.ts';
import { chargedRecords, countCharged, findOwnedRows, noRows } from './owned-rows.ts';
import { type PricedRows, payFor } from './pay-for-part.ts';
import { refusalOf } from './refused-batch.ts';
import { storeCall } from './store-call.ts';

/** Seconds before a failed chunk is retried. */
const RETRY_SECONDS = 2;

/**
 * A chunk that fails this often without committing a part ends its batch. Giving up single rows normally
 * comes first: halving reaches one row of any chunk in half as many failures.
 */
const FAILURES_MAX = 40;

/** The job of one chunk; `read` gives the work of each kind of batch. Throws the error of a failed chunk. */
export const runChunkJob = (read: ReadChunk) =>
  defineJob({
    name: 'run-chunk',
    payload: z.object({
      batchId: z.uuid(),
      chunk: z.number().int(),
      attempt: z.number().int(),
      chunkId: z.number().int(),
      epoch: z.number().int(),
    }),
    async run(context, wakeUp) {
      const phases = startPhases();
      const claim = await claimChunk(context.sql, wakeUp);
      try {
        if (claim !== undefined) await runTraced({ ...context, ...phases, read }, claim);
      } finally {
        // Its account may have another chunk in flight now.
        await dispatch(context).catch((error: unknown) =>
          context.log.warn({ err: error }, 'dispatch failed, the sweep will repeat it'),
        );
      }
    },
  });

interface ChunkContext extends JobContext, ChunkPhases {
  read: ReadChunk;
}

/** Runs a claim in its own span of the batch's trace. */
function runTraced(context: ChunkContext, claim: Claim): Promise<void> {
  const { batch, chunk, traceParent } = claim;
  const attributes = { 'enrich.batch': batch.id, 'enrich.chunk': chunk.number };
  const span = { name: 'chunk', from: context.start, attributes };
  return tracedIn(traceParent, span, () => runClaim(context, claim));
}

/** Runs a claim. After a failure the chunk waits for its next attempt, and the error is thrown. */
async function runClaim(context: ChunkContext, claim: Claim): Promise<void> {
  const { batch, chunk } = claim;
  const failed = chunk.failures >= FAILURES_MAX ? processingFailed(batch) : null;
  const refusal = failed ?? refusalOf(context.config, batch);
  if (refusal !== null) return endWithError(context, batch.id, refusal);
  const lease = holdLease(context, chunk);
  const rows = rowsToRun(batch, chunk);
  let rowsTaken = 0;
  try {
    const waitSeconds = await takeRows(context, chunk, rows);
    if (waitSeconds > 0) {
      // The key's open batches wait until the time given by the rate limit; other keys continue.
      const why = { waits: 'key', seconds: waitSeconds } as const;
      await inTransaction(context.sql, (tx) => releaseChunk(tx, chunk, why));
      return;
    }
    rowsTaken = rows;
    context.endPhase('claim');
    const committed = await processChunk(context, claim);
    if (committed !== undefined) context.end(batch.kind);
    if (committed?.batchDone) await finishBatch(context, batch.id);
  } catch (error) {
    countPart('failed');
    // A retry would meet the same.
    if (isStorageFull(error)) return await endWithError(context, batch.id, error);
    const why = releaseAfter(error);
    const isReleased = await inTransaction(context.sql, (tx) => releaseChunk(tx, chunk, why));
    // One object may be stored without the other, or both without the commit.
    await deleteUncommitted(context, chunk);
    if (!isReleased) {
      // Another worker holds the chunk, or the batch ended.
      const { batchId, number } = chunk;
      context.log.info({ err: error, batch: batchId, chunk: number }, 'chunk ended without effect');
      return;
    }
    // They could not be read, looked up or stored.
    if (why.waits === 'batch') await takeRows(context, chunk, -rowsTaken);
    if (isObjectLost(error)) {
      await endWhenObjectLost(context, batch, { error, chunkNumber: chunk.number });
    }
    throw error;
  } finally {
    lease.stop();
  }
}

/** Returns what waits for the next attempt after an error, and for how long. */
function releaseAfter(error: unknown): Release & { waits: 'chunk' | 'batch' } {
  // Nothing counts against the rows, and most likely those of the other chunks cannot be read either.
  if (isObjectLost(error)) return { waits: 'batch', seconds: pauseWhenLost(error) };
  return { waits: isUnavailable(error) ? 'batch' : 'chunk', seconds: RETRY_SECONDS };
}

/** Number of rows to match: none for a batch that is being cancelled. */
function rowsToRun(batch: Batch, chunk: ClaimedChunk): number {
  return batch.state === 'cancelling' ? 0 : rowsOfPart(chunk);
}

/**
 * Processes a claimed chunk, or the next part of it. Undefined when the lease was lost or nothing could be
 * paid.
 */
async function processChunk(
  context: ChunkContext,
  { batch, chunk, lastSuppression, ownedDays }: Claim,
): Promise<Committed | undefined> {
  const work =
    batch.kind === 'export'
      ? await context.read.export(context, batch, chunk)
      : await context.read.list(context, batch, chunk);
  const price = batch.live ? priceOf(batch.operation) : 0;
  const isOnce = isPaidOnce(batch, ownedDays);
  const owned = isOnce ? await findOwnedRows(context.sql, batch, work.outcomes) : noRows;
  // Only paid answers are stored beyond the maximum.
  if (owned.size > 0) await assertStorageLeft(context.sql, batch.accountId, context.config);
  const priced = { outcomes: work.outcomes, owned, isOnce };
  const paid = await payFor(context, batch, chunk, priced, price);
  context.endPhase('reserve');
  if (paid === undefined) return undefined;

  const outcomes = await discloseOutcomes(context, batch, { outcomes: paid.outcomes, owned });
  const objects = await storeRows(context, { batch, chunk }, work, { outcomes, owned });
  const people = chargedRecords(outcomes, owned);
  const counts = countOutcomes(outcomes);
  const records = batch.dedupe ? answeredRecords(chunk, outcomes) : [];
  const part: CommitPart = {
    batchId: batch.id,
    keyId: chunk.keyId,
    chunkId: chunk.chunkId,
    chunkNumber: chunk.number,
    epoch: chunk.epoch,
    number: chunk.parts,
    rows: outcomes.length,
    ...objects,
    counts,
    owned: counts.matched - people.length,
    paysOnce: isPaidOnce(batch, 1) ? isOnce : null,
    operation: batch.operation,
    reservationId: paid.reservationId,
    price,
    shortOf: paid.shortOf,
    records,
    distinct: distinctRecords(batch, records),
    delivered: deliveredBy(batch, outcomes),
    // Read before the match: a suppression that the match missed is found by the next check.
    suppressionNumber: indexedSubject(batch) === null ? null : lastSuppression,
    graph: work.graph,
  };
  const { accountId } = batch;
  const committed =
    isOnce && people.length > 0
      ? await inTransaction(context.sql, (tx) => commitPaidOnce(tx, part, { accountId, people }))
      : await commitPart(context.sql, part);
  context.endPhase('commit');
  if (!committed) {
    const mustRepeat = committed === null || (await isOutdated(context.sql, batch, part));
    await leaveUncommitted(context, chunk, mustRepeat);
    return undefined;
  }
  countPart('committed');
  countWork({
    channel: batch.kind,
    operation: batch.operation,
    live: batch.live,
    rows: counts,
    credits: paid.reservationId === null ? 0 : people.length * price,
  });
  return committed;
}

/** Releases a chunk whose part must be priced again, and deletes the part that its claim can no longer commit. */
async function leaveUncommitted(
  context: ChunkContext,
  chunk: ClaimedChunk,
  mustRepeat: boolean,
): Promise<void> {
  if (mustRepeat) {
    countPart('repeated');
    await inTransaction(context.sql, (tx) => releaseChunk(tx, chunk, { waits: 'nothing' }));
  } else warnRefused(context.log, chunk);
  await deleteUncommitted(context, chunk);
}

/**
 * Deletes what a claim has stored and not committed. It counts towards no account's storage, and callers can end or delete a
 * list at any moment of its run. It may have someone who was erased since the match. A store that fails keeps it until a day
 * after the end of the list.
 */
async function deleteUncommitted(context: ChunkContext, chunk: ClaimedChunk): Promise<void> {
  const { batchId, number } = chunk;
  await deleteAbandonedParts(context, objectKeysOf(chunk)).catch((error: unknown) =>
    context.log.warn({ err: error, batch: batchId, chunk: number }, 'uncommitted part is left'),
  );
}

/** The records of a part that are each charged once, by `dedupe`; null for none. */
function distinctRecords(
  { id: batchId, live, operation }: Batch,
  records: CommitPart['records'],
): CommitPart['distinct'] {
  if (!live || records.length === 0) return null;
  const entity = entityCodes[subjectOf(operation)];
  return { batchId, entity, ids: records.map(({ id }) => id) };
}

/** Returns true for a part that must be priced again: another state of a copy, joined records, or other `owned_days`. */
async function isOutdated(sql: Sql, batch: Batch, part: CommitPart): Promise<boolean> {
  const { graph, distinct } = part;
  if (graph !== null && !(await hasState(sql, graph))) return true;
  if (part.paysOnce !== null && (await paysOnce(sql, batch)) !== part.paysOnce) return true;
  return distinct !== null && haveBeenJoined(sql, distinct);
}

/** Returns the keys of the part that a claim writes, and of its person index. */
function objectKeysOf({ batchId, number, parts, epoch }: ClaimedChunk): [string, string] {
  const key = partKey({ batchId, chunkNumber: number, number: parts }, epoch);
  return [key, personIndexKey(key)];
}

/** Renders and stores the rows of a part with its person index, and frees what they were rendered from. */
async function storeRows(
  context: ChunkContext,
  { batch, chunk }: Pick<Claim, 'batch' | 'chunk'>,
  work: ChunkWork,
  { outcomes, owned }: PricedRows,
): Promise<Pick<CommitPart, 'objectKey' | 'part' | 'ids' | 'rowBytesMax' | 'report'>> {
  const shown = indexedSubject(batch);
  const { bytes, rowBytesMax, report, release } = work.render(outcomes, owned);
  const beside = shown === null ? null : encodePersonIndex(shown, work.lines(outcomes));
  const [objectKey] = objectKeysOf(chunk);
  context.endPhase('render');
  const stored = await storeCall(storePart(context.store, objectKey, bytes, beside));
  context.endPhase('write');
  release();
  return { objectKey, ...stored, rowBytesMax, report };
}

/**
 * Returns the outcomes as far as this number of charged matches allows to disclose them (`discloseAmbiguous`,
 * `withoutConflict`).
 */
async function discloseOutcomes(
  { limiter }: JobContext,
  { accountId }: Batch,
  { outcomes: found, owned }: PricedRows,
): Promise<readonly Outcome[]> {
  const matches = countCharged(found, owned);
  const outcomes =
    owned.size === 0
      ? found
      : found.map((one, index) => (owned.has(index) ? withoutConflict(one) : one));
  const disclosed = discloseAmbiguous(outcomes, matches);
  const unpaid = countUnpaidDisclosures(disclosed, matches);
  if (unpaid === 0) return disclosed;
  return discloseAmbiguous(
    outcomes,
    matches,
    await takeUnpaidDisclosures(limiter, accountId, unpaid),
  );
}

/** The people that a part delivers for a schedule, to be recorded with it. */
function deliveredBy(batch: Batch, outcomes: readonly Outcome[]): CommitPart['delivered'] {
  if (batch.kind !== 'export' || batch.scheduleId === null) return null;
  const people = outcomes.filter(({ status }) => status === 'matched');
  return { scheduleId: batch.scheduleId, ids: people.map(({ id }) => id) };
}

/** Stores a part and its person index. Returns the size and checksum of each object. */
async function storePart(
  store: JobContext['store'],
  key: string,
  bytes: Buffer,
  beside: Buffer | null,
): Promise<Pick<CommitPart, 'part' | 'ids'>> {
  const puts = [
    store.put(key, [bytes]),
    beside && store.put(personIndexKey(key), [beside]),
  ] as const;
  // Waits for both writes, so that none is still running when a failed chunk is released.
  await Promise.allSettled(puts);
  return { part: await puts[0], ids: await puts[1] };
}
