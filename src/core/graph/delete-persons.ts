import type { Database } from '../db/client.ts';
import { deletePersonRows, forgetSourceRecords } from './graph.sql.ts';
import { writeGraph } from './write-graph.ts';

/**
 * Deletes people by id in one transaction: record, identifiers and stored record; officers keep their names and
 * lose the link; what sources said about them is forgotten. An opt-out stays, so that a later import of the same person is still suppressed. Unknown ids are
 * ignored. Returns the number of deleted people.
 */
export async function deletePersons(sql: Database, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  return writeGraph(sql, async (tx) => {
    await forgetSourceRecords(tx, ids);
    return deletePersonRows(tx, ids);
  });
}
