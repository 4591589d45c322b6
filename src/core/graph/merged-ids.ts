/** Finds records again that an import has joined with others. */
import type { Sql } from '../db/client.ts';
import { selectMerged } from './merged-ids.sql.ts';
import { entityCodes } from './sources/source-record.ts';

/** Returns the present ids of those people or companies that have been joined with another since they had these ids. */
export async function findPresentIds(
  sql: Sql,
  subject: 'person' | 'company',
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const merged = await selectMerged(sql, entityCodes[subject], ids);
  return new Map(merged.map(({ id, intoId }) => [id, intoId]));
}
