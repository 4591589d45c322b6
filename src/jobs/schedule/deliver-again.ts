/** Runs of a schedule whose result is lost and refunded: it delivers their people again. */
import type { Context } from '../../core/context.ts';
import type { Sql } from '../../core/db/client.ts';
import { readObject } from '../../core/storage/object-sum.ts';
import type { Batch } from '../batch/batch.ts';
import { deleteDeliveries } from './schedules.sql.ts';

/**
 * Returns the people whom an export of the new people of a schedule has delivered. None for every other batch, when the object
 * with their ids is `lost`, and when not all of them were delivered: which ones is known only from the result, and a later run
 * may have delivered the others.
 */
export async function readDelivered(
  { store }: Pick<Context, 'store'>,
  batch: Batch,
  lost: ReadonlySet<string>,
): Promise<number[]> {
  if (batch.kind !== 'export' || !batch.onlyNew || batch.matched !== batch.rowsTotal) return [];
  const { canonicalKey: key, canonicalBytes: bytes, canonicalCrc32: crc32 } = batch;
  if (key === null || bytes === null || crc32 === null || lost.has(key)) return [];
  const lines = (await readObject(store, key, { bytes, crc32 })).toString('latin1');
  return lines.split('\n').slice(0, -1).map(Number);
}

/** Forgets that the schedule of an export has delivered these people: its next run delivers them. */
export async function deliverAgain(
  tx: Sql,
  batch: Batch,
  people: readonly number[],
): Promise<void> {
  if (batch.kind !== 'export' || batch.scheduleId === null || people.length === 0) return;
  await deleteDeliveries(tx, batch.scheduleId, people);
}
