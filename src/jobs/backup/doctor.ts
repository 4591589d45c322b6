/**
 * Finds what the database and the object store do not agree on, as after a restore of one of them from another hour, and
 * mends it: a list whose objects are missing is refunded and run again; one that was cancelled or cannot be run again is only
 * refunded. Parts that an opt-out replaced since are recorded as they are now, and nothing is refunded for them.
 */
import { Readable } from 'node:stream';
import { lockWallet, refundBatch } from '../../core/credits/credits.sql.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { AppError, conflict } from '../../core/lib/errors.ts';
import { bornAt } from '../../core/storage/abandoned-write.ts';
import { streamObject, twiceIfDamaged } from '../../core/storage/object-sum.ts';
import { describeStorage, type StorageConfig } from '../../core/storage-config.ts';
import { columnNumbers } from '../../mapping/guess-columns.ts';
import { checkBatches } from '../audit/check-batches.ts';
import { type CheckedObjects, checkObjects } from '../audit/check-objects.ts';
import { type Batch, type ListBatch, optionsOf } from '../batch/batch.ts';
import { batchOfKey } from '../batch/batch-keys.ts';
import { findBatch, isExpired, lockFiles, markFilesDeleted } from '../batch/batches.sql.ts';
import { isOwnStore, markStore, requireOwnStore } from '../batch/own-store.ts';
import {
  deleteAnsweredRecords,
  listRerunsBelow,
  listRerunsBeside,
  moveDecisions,
} from '../batch/reruns.sql.ts';
import { isFinal } from '../batch/states.ts';
import { listUnknownBatches } from '../batch/stored-bytes.sql.ts';
import { createList, wakeSplit } from '../list/create-list.ts';
import { rowsOfRerun } from '../list/rerun-list.ts';
import { storeUpload, type UploadContext } from '../list/store-upload.ts';
import { batchOfRewritten } from '../result/part-keys.ts';
import { adoptReplacements, findReplacements } from '../result/replaced-parts.ts';
import { deliverAgain, readDelivered } from '../schedule/deliver-again.ts';
import { isReported, type OnProgress } from './backup-file.ts';
import { type LeftPast, leaveThePast } from './leave-the-past.ts';

/** A batch of which objects are missing, damaged or cannot be read, and its cure. */
export interface Finding {
  batch_id: string;
  /** Objects that are missing, damaged, or cannot be read. */
  objects: number;
  /**
   * `rerun`: refunded and run again as `rerun_id`. `refunded`: it was cancelled, so that its other rows are not wanted, or
   * cannot be run again, because its upload is missing, the settings refuse it now, or it is a rerun and another one of the list
   * has matched some of its rows since, or may yet (they would be charged twice), or decisions have answered them. `open`: it has
   * not ended, or a rerun of it; look again then. `replaced`: an opt-out replaced them since, and with `fix` the new ones are
   * recorded; nothing is refunded. `expired`: it ended longer ago than files are kept, and with `fix` it has none any more;
   * nothing is refunded. `unreadable`: an object cannot be read, and may be sound. `found`: nothing was changed.
   */
  action: 'found' | 'rerun' | 'refunded' | 'open' | 'replaced' | 'expired' | 'unreadable';
  credits_refunded: number;
  rerun_id: string | null;
}

export interface Diagnosis {
  batches: number;
  findings: Finding[];
  /** Batches of which the store has objects, and the database no row; with `fix` those that were deleted. */
  unknown_batches: string[];
  unknown_deleted: boolean;
  /** Effects of `restored`, which come first; null without it. */
  left_past: LeftPast | null;
}

type DoctorContext = Omit<UploadContext, 'accountId' | 'signal'> & {
  config: { storage: StorageConfig };
};

const PAGE = 1_000;
/** An upload may be under way that long, or wait for its workbook to be read: it has no row before. */
const YOUNG_MS = 24 * 60 * 60 * 1000;

/**
 * Examines every batch that has files, and every object. With `fix` it mends what it finds; it may be ended and begun again
 * at any point. Throws `AppError` 409 `another_store` as `requireOwnStore`: in a wrong store everything is missing. With
 * `filesLost` a store without a mark is accepted. The same error when most of the stored batches are unknown: then the bucket
 * or the folder may be that of another service, and deleting them would be a disaster. With `restored` the database went back
 * in time: that explains them in a store with its own mark, and the database leaves the past (`leaveThePast`). What throws
 * one of these errors has changed nothing. Unknown batches of the last day are deleted only with `restored`, before the service
 * starts: uploads may be under way.
 */
export async function diagnose(
  context: DoctorContext,
  options: {
    fix: boolean;
    restored?: boolean;
    filesLost?: boolean;
    onProgress?: OnProgress;
  },
): Promise<Diagnosis> {
  const { fix, restored = false, filesLost = false, onProgress = () => {} } = options;
  await requireOwnStore(context, describeStorage(context.config.storage), { filesLost });
  const { known, unknown, rewritten } = await listStored(context, onProgress);
  if (fix && unknown.length > known) {
    const isOwn = await isOwnStore(context);
    if (!isOwn || !restored) throw anotherStore(known, unknown.length, isOwn);
  }
  const leftPast = restored ? await inTransaction(context.sql, leaveThePast) : null;
  const findings: Finding[] = [];
  let batches = 0;
  const checked = checkBatches(context, (batch, parts) => checkObjects(context, batch, { parts }));
  for await (const [{ id }, found] of checked) {
    if (isReported(++batches)) onProgress(`batches examined: ${batches}`);
    if (countLost(found) === 0) continue;
    // It, or a list that it belongs to, may have been changed or mended meanwhile: it is read again.
    const batch = await findBatch(context.sql, id);
    if (batch === undefined) continue;
    const rewrittenKeys = rewritten.get(batch.id) ?? [];
    const finding = await examine(context, batch, { fix, rewritten: rewrittenKeys, onProgress });
    if (finding !== null) findings.push(finding);
  }
  const youngFrom = restored ? Number.POSITIVE_INFINITY : Date.now() - YOUNG_MS;
  const old = unknown.filter((id) => bornAt(id) < youngFrom);
  const stillUnknown = fix ? await deleteUnknown(context, old) : unknown;
  if (fix) await markStore(context);
  return {
    batches,
    findings,
    unknown_batches: stillUnknown,
    unknown_deleted: fix,
    left_past: leftPast,
  };
}

/** Deletes the objects of batches without a row, and returns those: a row may have been written since the store was listed. */
async function deleteUnknown({ sql, store }: DoctorContext, ids: string[]): Promise<string[]> {
  const deleted: string[] = [];
  for (const id of ids) {
    if ((await listUnknownBatches(sql, [id])).length === 0) continue;
    await store.deletePrefix(`batches/${id}/`);
    deleted.push(id);
  }
  return deleted;
}

function countLost({ missing, damaged, unreadable }: CheckedObjects): number {
  return new Set([...missing, ...damaged]).size + unreadable.length;
}

async function examine(
  context: DoctorContext,
  batch: Batch,
  {
    fix,
    rewritten,
    onProgress,
  }: { fix: boolean; rewritten: readonly string[]; onProgress: OnProgress },
): Promise<Finding | null> {
  const checked = await checkObjects(context, batch);
  const { missing, damaged, unreadable } = checked;
  const lost = new Set([...missing, ...damaged]);
  const objects = countLost(checked);
  if (objects === 0) return null;
  const found = { batch_id: batch.id, objects, credits_refunded: 0, rerun_id: null };
  for (const { key, error } of unreadable) onProgress(`${key} cannot be read: ${String(error)}`);
  if (unreadable.length > 0) return { ...found, action: 'unreadable' };
  const replaced =
    damaged.length === 0 ? await findReplacements(context, batch, missing, rewritten) : null;
  if (replaced !== null) {
    if (fix) await adoptReplacements(context, replaced);
    return { ...found, action: 'replaced' };
  }
  if (!isFinal(batch.state)) return { ...found, action: 'open' };
  if (await isExpired(context.sql, batch.id, context.config.filesKeepDays)) {
    // What is left of them is deleted a day later, as that of a refunded one.
    if (fix) await inTransaction(context.sql, (tx) => markFilesDeleted(tx, batch.id));
    return { ...found, action: 'expired' };
  }
  if (!fix) return { ...found, action: 'found' };
  if (batch.kind === 'list' && batch.state !== 'cancelled' && !lost.has(batch.uploadKey)) {
    const reruns = await listRerunsBelow(context.sql, batch.id);
    if (reruns.some(({ hasEnded }) => !hasEnded)) return { ...found, action: 'open' };
    const beside = await listRerunsBeside(context.sql, batch.id);
    const again =
      beside.length > 0
        ? null
        : await runAgain(context, batch).catch((error: unknown) => {
            if (!isRefusal(error)) throw error;
            return null;
          });
    if (again !== null) return { ...found, ...again };
  }
  const people = await readDelivered(context, batch, lost);
  const refunded = await inTransaction(context.sql, async (tx) => {
    await deliverAgain(tx, batch, people);
    await lockKept(tx, batch.id);
    return endRefunded(tx, batch.accountId, [batch.id]);
  });
  return { ...found, action: 'refunded', credits_refunded: refunded };
}

/** True for a list that the settings no longer accept: it must not keep the doctor from all after it. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && [400, 413, 415, 422].includes(error.status);
}

/**
 * The refund, the new list and the end of the old one's files are one transaction: none happens twice. The new list runs the rows
 * of its reruns too, so that they are refunded and end with it. Decisions are paid, and become those of the new list.
 */
async function runAgain(
  context: DoctorContext,
  batch: ListBatch,
): Promise<Pick<Finding, 'action' | 'credits_refunded' | 'rerun_id'>> {
  const { accountId, live, keyId } = batch;
  const sum = { bytes: batch.uploadBytes, crc32: batch.uploadCrc32 };
  const signal = new AbortController().signal;
  const upload = await twiceIfDamaged(() =>
    storeUpload(context, Readable.from(streamObject(context.store, batch.uploadKey, sum))),
  );
  const { encoding, delimiter, header } = batch.dialect;
  const requested = {
    upload,
    request: {
      ...optionsOf(batch),
      operation: batch.operation,
      name: `${batch.name} (restored)`,
      mapping: columnNumbers(batch.mapping),
      hold: false,
      ...(await rowsOfRerun(context.sql, batch)),
      allowUnmapped: false,
    },
    dialect: { encoding, delimiter, headerRow: header === null ? 0 : batch.dialect.headerRow },
  };
  // It was accepted once: a full account would keep the doctor from this list and from all after it.
  const unbounded = Number.POSITIVE_INFINITY;
  const config = { ...context.config, openListsMax: unbounded, storedBytesMax: unbounded };
  let refunded = 0;
  const made = await createList(
    { ...context, config, accountId, signal },
    { accountId, live, keyId },
    requested,
    (insert) =>
      inTransaction(context.sql, async (tx) => {
        const inserted = await insert(tx);
        await lockKept(tx, batch.id);
        // No rerun of it can be added from here on.
        const beside = await listRerunsBeside(tx, batch.id);
        const other = beside.find((id) => id !== inserted.id);
        if (other !== undefined) throw mendedMeanwhile(other);
        const reruns = await listRerunsBelow(tx, batch.id);
        for (const { id, hasEnded } of reruns) {
          if (!hasEnded) throw mendedMeanwhile(id);
          await lockKept(tx, id);
        }
        const replaced = [batch.id, ...reruns.map(({ id }) => id)];
        // Before the wallet is locked: they are batches.
        await moveDecisions(tx, replaced, inserted.id);
        refunded = await endRefunded(tx, accountId, replaced);
        return inserted;
      }),
  );
  await wakeSplit(context, made.id);
  return { action: 'rerun', credits_refunded: refunded, rerun_id: made.id };
}

/** Locks a batch. Throws `AppError` 409 when another doctor has mended it meanwhile: begin again. */
async function lockKept(tx: Sql, batchId: string): Promise<void> {
  if (!(await lockFiles(tx, batchId))) throw mendedMeanwhile(batchId);
}

/** Refunds batches of an account, which are locked, and ends their files. Returns the credits. */
async function endRefunded(
  tx: Sql,
  accountId: string,
  batchIds: readonly string[],
): Promise<number> {
  await lockWallet(tx, accountId);
  let credits = 0;
  for (const id of batchIds) {
    credits += await refundBatch(tx, id);
    // They are not paid any more.
    await deleteAnsweredRecords(tx, id);
  }
  // All of them last: it locks the sum of the account's stored files, which comes after the wallet.
  for (const id of batchIds) await markFilesDeleted(tx, id);
  return credits;
}

function mendedMeanwhile(batchId: string) {
  const message = `Batch ${batchId} was repaired, deleted or rerun meanwhile. Run the doctor again.`;
  return conflict('mended_meanwhile', message);
}

interface Stored {
  /** How many stored batches the database knows, and the ids of the others. */
  known: number;
  unknown: string[];
  /** Keys of parts that were rewritten after an opt-out, by batch. */
  rewritten: ReadonlyMap<string, string[]>;
}

async function listStored({ sql, store }: DoctorContext, onProgress: OnProgress): Promise<Stored> {
  const ids = new Set<string>();
  const rewritten = new Map<string, string[]>();
  let files = 0;
  for await (const key of store.list()) {
    if (isReported(++files)) onProgress(`stored files listed: ${files}`);
    const id = batchOfKey(key);
    if (id !== null) ids.add(id);
    const batchId = batchOfRewritten(key);
    if (batchId === null) continue;
    const keys = rewritten.get(batchId) ?? [];
    rewritten.set(batchId, keys);
    keys.push(key);
  }
  const all = [...ids];
  const unknown: string[] = [];
  for (let from = 0; from < all.length; from += PAGE) {
    unknown.push(...(await listUnknownBatches(sql, all.slice(from, from + PAGE))));
  }
  return { known: all.length - unknown.length, unknown: unknown.sort(), rewritten };
}

function anotherStore(known: number, unknown: number, isOwn: boolean) {
  const next = isOwn
    ? 'If the database was restored to an earlier moment, add `--restored` before the service starts.'
    : 'Its object `installation` is not that of this database.';
  const message = `The store has ${unknown} batches that the database does not know, and ${known} that it knows. Does the store belong to another service? No list and no file was changed. ${next}`;
  return conflict('another_store', message);
}
