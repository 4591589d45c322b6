/** Finds records again that an import has joined with others. */
import type { Sql } from '../db/client.ts';
import { selectJoined, selectMerged } from './merged-ids.sql.ts';
import { entityCodes } from './source-entities.ts';

/** Returns the present ids of those people or companies that have been joined with another since they had these ids. */
export async function findPresentIds(
  sql: Sql,
  subject: 'person' | 'company',
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const merged = await selectMerged(sql, entityCodes[subject], ids);
  return new Map(merged.map(({ id, intoId }) => [id, intoId]));
}

/**
 * Returns a function that gives all ids of one of these people or companies, its own first. Those that imports have joined
 * are several until they are built.
 */
export async function findAllIds(
  sql: Sql,
  subject: 'person' | 'company',
  ids: readonly number[],
): Promise<(id: number) => readonly number[]> {
  const all = new Map<number, number[]>();
  for (const { id, joinedId } of await selectJoined(sql, entityCodes[subject], ids)) {
    all.set(id, [...(all.get(id) ?? [id]), joinedId]);
  }
  return (id) => all.get(id) ?? [id];
}
