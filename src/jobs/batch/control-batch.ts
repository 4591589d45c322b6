/** Actions on a batch: start, pause, resume, cancel, change, quote, delete its files. */

import type { Owner, OwnerWithKey } from '../../core/accounts/owner.ts';
import type { Context } from '../../core/context.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import type { MobileSetting } from '../../core/enrich/mobile-in-records.ts';
import { checkListFields } from '../../core/enrich/required-fields.ts';
import { must } from '../../core/lib/assert.ts';
import { type AppError, conflict, forbidden, unprocessable } from '../../core/lib/errors.ts';
import { tooManyOpen } from '../../core/limits/limits.ts';
import { creditsText, operations, priceOf } from '../../core/operations.ts';
import { isMapped } from '../../mapping/columns.ts';
import { type Batch, type ListBatch, titleOf } from './batch.ts';
import { promisedCredits } from './batch-view.ts';
import { findBatch, findOwnBatch, markFilesDeleted } from './batches.sql.ts';
import {
  askQuote,
  type BatchChange,
  cancelBatch,
  changeBatch,
  countOpenQuotes,
  endWithoutFiles,
  expireBatch,
  listAbandoned,
  lockLimit,
  lockQuotesOf,
  pauseBatch,
  type RereadUpload,
  resumeBatch,
  setMaxCredits,
  setName,
  spendsLess,
  startBatch,
} from './control-batch.sql.ts';
import { type DispatchContext, dispatch } from './dispatch.ts';
import { rememberMapping } from './list-mappings.sql.ts';
import { type BatchState, cappableStates } from './states.ts';
import { lockStoredBytes } from './stored-bytes.sql.ts';
import { assertRecordedFits, type StorageBounds } from './stored-bytes.ts';

export type BatchAction = 'start' | 'pause' | 'resume' | 'cancel' | 'quote';

type Act = (tx: Sql, owner: OwnerWithKey, id: string, batch: Batch) => Promise<boolean>;

const actions: Record<BatchAction, { act: Act; refusal: string }> = {
  start: {
    act: (tx, owner, id, batch) => startBatch(tx, owner, id, promisedCredits(batch)),
    refusal: 'only a `ready` batch can be started',
  },
  pause: { act: pauseBatch, refusal: 'only a queued or running batch can be paused' },
  resume: { act: resumeBatch, refusal: 'only a paused batch can be resumed' },
  cancel: { act: cancelBatch, refusal: 'it has already ended' },
  quote: {
    act: askBoundedQuote,
    refusal: 'only a `ready` batch can be quoted: upload it with hold=true',
  },
};

/** Maximum pending quotes of an account. */
const OPEN_QUOTES_MAX = 10;

/** Records a pending quote. Throws `AppError` 429 when the account has too many others pending. */
async function askBoundedQuote(tx: Sql, owner: Owner, id: string): Promise<boolean> {
  await lockQuotesOf(tx, owner.accountId);
  const others = await countOpenQuotes(tx, owner.accountId, id);
  if (others >= OPEN_QUOTES_MAX) throw tooManyOpen('quotes', OPEN_QUOTES_MAX);
  return askQuote(tx, owner, id);
}

/**
 * Performs the action and returns the batch after it, which must be the owner's. Call `wakeAfter` with the result after the
 * commit. Throws `AppError`
 * - 409 `invalid_state` when its state does not allow the action,
 * - 403 for a resume by a key that may spend less in a day,
 * - 422 `unmapped` without a column to match on,
 * - 429 for a quote while too many others are pending.
 */
export async function controlBatch(
  tx: Sql,
  owner: OwnerWithKey,
  batch: Batch,
  action: BatchAction,
): Promise<Batch> {
  const { act, refusal } = actions[action];
  if (action === 'start' || action === 'quote') assertMapped(batch);
  if (action === 'resume') await assertMaySpend(tx, owner, batch);
  const done = await act(tx, owner, batch.id, batch);
  const now = must(await findBatch(tx, batch.id), `batch ${batch.id}`);
  if (done) return now;
  const isCapped = action === 'resume' && now.reason === 'max_credits';
  throw invalidState(now, isCapped ? raiseIt(now) : refusal);
}

/**
 * A batch that has started counts towards its own key. Throws `AppError` 403 for a key that may spend less in a day: it
 * would spend past its maximum by the other key.
 */
async function assertMaySpend(tx: Sql, { keyId }: OwnerWithKey, batch: Batch): Promise<void> {
  if (!(await spendsLess(tx, keyId, batch.id))) return;
  throw forbidden(
    `Batch ${batch.id} counts towards a key that may spend more in a day than the key of this call. Use that key, one without \`credits_per_day\`, or the web console.`,
  );
}

/** Throws `AppError` 422 for a held list that was accepted without a column to match on. */
function assertMapped(batch: Batch): void {
  if (batch.kind !== 'list' || batch.state !== 'ready') return;
  if (isMapped(batch.operation, batch.mapping, batch.match)) return;
  const { identifiers } = operations[batch.operation];
  throw unprocessable(
    'unmapped',
    `Batch ${batch.id} has no column to match on. Send a mapping of ${identifiers.join(', ')} with PATCH.`,
  );
}

function raiseIt({ maxCredits }: Batch): string {
  return `its max_credits of ${maxCredits} are used up. Raise them with PATCH to resume it`;
}

/** Wakes the workers that an action gives work to; the sweep repeats a lost wake-up. */
export async function wakeAfter(
  context: DispatchContext,
  batch: Batch,
  action: BatchAction,
): Promise<void> {
  if (action === 'pause' || batch.finishedAt !== null) return;
  if (action !== 'quote') return dispatch(context);
  const { id: batchId } = batch;
  await context.queues.wake('quote-batch', [
    { id: `quote-batch-${batchId}`, payload: { batchId } },
  ]);
}

/**
 * Changes a held batch, or has its upload split again as `reread` says, and returns it. A mapping is remembered for lists with
 * the same header. Throws as `controlBatch`, and `AppError` 400 for unknown fields, 409 `invalid_state` when another call had
 * the list read again meanwhile, and 409 `storage_full` when the account has no room for another sheet.
 */
export async function changeHeldBatch(
  context: Pick<Context, 'sql'> & { config: StorageBounds & MobileSetting },
  owner: Owner,
  batch: ListBatch,
  change: BatchChange,
  reread?: RereadUpload,
): Promise<ListBatch> {
  const { fields = null, required = null } = change;
  checkListFields(context.config, batch.operation, { fields, required });
  return inTransaction(context.sql, async (tx) => {
    // Calls lock the account before its lists.
    if (reread !== undefined) await lockStoredBytes(tx, owner.accountId);
    if (!(await changeBatch(tx, owner, batch, { ...change, ...reread }))) {
      throw changeRefused(
        must(await findOwnBatch(tx, owner, 'list', batch.id), `batch ${batch.id}`),
      );
    }
    const { mapping } = change;
    if (mapping !== undefined) await rememberMapping(tx, owner, { ...batch, mapping });
    if (reread !== undefined) await assertRecordedFits(tx, owner.accountId, context.config);
    return must(await findOwnBatch(tx, owner, 'list', batch.id), `batch ${batch.id}`);
  });
}

/**
 * Sets the `max_credits` of a list, null for none, and returns the list. A list that was paused at them resumes when they pay
 * for one more match. Call `wakeAfter` with `resume` after the commit. Throws `AppError`
 * - 403 for a key that raises them and may spend less in a day than the list's key,
 * - 409 `invalid_state` for a list that is not read yet or ends,
 * - 409 `max_credits_too_low` with the credits that it has charged and reserved.
 */
export async function capBatch(
  tx: Sql,
  owner: OwnerWithKey,
  batch: ListBatch,
  maxCredits: number | null,
): Promise<ListBatch> {
  // As they are now: another key may have lowered them, or started the list, since it was read.
  const before = must(await lockLimit(tx, batch.id), `batch ${batch.id}`);
  const isRaised = before.maxCredits !== null && (maxCredits ?? Infinity) > before.maxCredits;
  if (isRaised && before.state !== 'ready') await assertMaySpend(tx, owner, batch);
  const limit = { maxCredits, price: priceOf(batch.operation) };
  const set = await setMaxCredits(tx, owner, batch.id, limit);
  const now = must(await findOwnBatch(tx, owner, 'list', batch.id), `batch ${batch.id}`);
  if (!set) throw capRefused(now);
  return now;
}

/** Gives a list another name, in whatever state it is. */
export async function renameList(
  tx: Sql,
  owner: Owner,
  { id }: ListBatch,
  name: string,
): Promise<ListBatch> {
  await setName(tx, owner, id, name);
  return must(await findOwnBatch(tx, owner, 'list', id), `batch ${id}`);
}

function capRefused(batch: ListBatch): AppError {
  const states: readonly BatchState[] = cappableStates;
  if (!states.includes(batch.state)) {
    const listed = cappableStates.map((state) => `\`${state}\``).join(', ');
    return invalidState(batch, `max_credits can be changed in the states ${listed}`);
  }
  const { creditsCharged: charged, creditsReserved: reserved } = batch;
  return conflict(
    'max_credits_too_low',
    `Batch ${batch.id} has charged ${creditsText(charged)} and reserved ${reserved}: max_credits must be at least ${charged + reserved}.`,
    { extensions: { charged, reserved } },
  );
}

/** Throws `AppError` 409 `invalid_state` for a batch that is not held. */
export function assertHeld(batch: ListBatch): void {
  if (batch.state !== 'ready') throw notHeld(batch);
}

/** The change was made for the list as it was read before. */
function changeRefused(now: ListBatch): AppError {
  if (now.state !== 'ready') return notHeld(now);
  return invalidState(now, 'it was read in another way meanwhile. Send the change again');
}

function notHeld(batch: Batch): AppError {
  return invalidState(
    batch,
    'only a `ready` batch can be changed: upload it with hold=true. Later, send max_credits alone',
  );
}

/**
 * Deletes the files of a batch. Cancels it first if it has not ended; rows without an outcome become
 * `not_processed`. Its counts and charges stay. Throws `AppError` 409 `invalid_state` while it is being
 * finished, and the error of a store that has not deleted all of them. Safe to repeat.
 */
export async function deleteBatchFiles(
  context: Pick<Context, 'sql' | 'store'>,
  owner: Owner,
  batch: Batch,
): Promise<void> {
  const { id } = batch;
  await inTransaction(context.sql, async (tx) => {
    await cancelBatch(tx, owner, id);
    await endWithoutFiles(tx, id);
    const now = must(await findBatch(tx, id), `batch ${id}`);
    if (now.finishedAt === null) throw invalidState(now, 'try again in a moment');
  });
  // Before the files: the caller may leave or lose the key meanwhile, and one that is named and missing is taken for a loss,
  // which fails backups and is refunded. Housekeeping deletes what an error leaves.
  await inTransaction(context.sql, (tx) => markFilesDeleted(tx, id));
  await context.store.deletePrefix(`batches/${id}/`);
}

/**
 * Cancels the batches held or paused for `keepDays`, with the reason `expired`. The sweep continues with them
 * as with any cancelled batch. Safe to repeat.
 */
export async function expireAbandoned(sql: Context['sql'], keepDays: number): Promise<void> {
  while (true) {
    let expired = 0;
    for (const id of await listAbandoned(sql, keepDays)) {
      if (await inTransaction(sql, (tx) => expireBatch(tx, id, keepDays))) expired++;
    }
    // Also when every one of a page has moved meanwhile: the next round lists what is left.
    if (expired === 0) return;
  }
}

function invalidState(batch: Batch, why: string): AppError {
  return conflict(
    'invalid_state',
    `${titleOf(batch.kind)} ${batch.id} is ${batch.state}: ${why}.`,
    { extensions: { state: batch.state } },
  );
}
