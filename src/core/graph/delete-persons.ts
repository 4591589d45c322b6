import type { Database } from '../db/client.ts';
import {
  forgetSourceRecords,
  hideOffices,
  listOffices,
  readLastImport,
} from './erased-records.sql.ts';
import { deletePersonRows } from './graph.sql.ts';
import { writeGraph } from './write-graph.ts';

/**
 * Deletes people by id in one transaction: record, identifiers and stored record; officers lose the link, and in the records of
 * sources their name. All else that sources said about them is forgotten. An opt-out stays, so that a later import of the same
 * person is still suppressed. Unknown ids are ignored. Returns the number of deleted people.
 */
export async function deletePersons(sql: Database, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  const last = await readLastImport(sql);
  const offices = await listOffices(sql, ids);
  return writeGraph(sql, async (tx) => {
    await hideOffices(tx, [...offices, ...(await listOffices(tx, ids, last))]);
    await forgetSourceRecords(tx, ids);
    return deletePersonRows(tx, ids);
  });
}
