/** The rows of a part that cost nothing, because the account owns their people (`owned_days`). */
import { findOwned } from '../../core/credits/owned.ts';
import type { Sql } from '../../core/db/client.ts';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import { findAllIds } from '../../core/graph/merged-ids.ts';
import type { Batch } from '../batch/batch.ts';

/** For a part in which each match is charged. */
export const noRows: ReadonlySet<number> = new Set();

/**
 * Returns the indexes of the matches that cost nothing: their person is owned, or is a new one of an earlier row.
 * `seen` has new people of earlier parts and gets those of this one.
 */
export async function findOwnedRows(
  sql: Sql,
  batch: Pick<Batch, 'accountId' | 'operation'>,
  outcomes: readonly Outcome[],
  seen: Set<number> = new Set(),
): Promise<ReadonlySet<number>> {
  const ids = outcomes.flatMap(({ status, id }) => (status === 'matched' ? [id] : []));
  const owned = await findOwned(sql, batch, ids);
  const allIds = await findAllIds(sql, 'person', ids);
  const rows = new Set<number>();
  for (const [index, { status, id }] of outcomes.entries()) {
    if (status !== 'matched') continue;
    if (owned.has(id) || allIds(id).some((one) => seen.has(one))) rows.add(index);
    else seen.add(id);
  }
  return rows;
}

/** Returns the matched records of the rows that are charged; those at the indexes `owned` are not. */
export function chargedRecords(outcomes: readonly Outcome[], owned: ReadonlySet<number>): number[] {
  const ids: number[] = [];
  forEachCharged(outcomes, owned, (id) => ids.push(id));
  return ids;
}

/** Counts these rows. */
export function countCharged(outcomes: readonly Outcome[], owned: ReadonlySet<number>): number {
  let charged = 0;
  forEachCharged(outcomes, owned, () => charged++);
  return charged;
}

/** By index: an iterator of entries makes an array of each row, several times for a million rows. */
function forEachCharged(
  outcomes: readonly Outcome[],
  owned: ReadonlySet<number>,
  visit: (id: number) => void,
): void {
  for (let index = 0; index < outcomes.length; index++) {
    const outcome = outcomes[index];
    if (outcome?.status === 'matched' && !owned.has(index)) visit(outcome.id);
  }
}
