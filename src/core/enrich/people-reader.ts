/** Reads people for matching by identifiers: the one interface, and its implementation by Postgres. */
import type { Sql } from '../db/client.ts';
import { parseHits } from './hits.ts';
import type { RecordBytes } from './match-data.ts';
import type { Hits } from './outcomes.ts';
import { lookUpPersons, readPersonRecords } from './records.sql.ts';
import { splitRecords } from './split-records.ts';

/**
 * Reads the people of one graph. Every implementation returns what Postgres holds in one state of the graph, with the
 * same bytes; `people-readers.pg.test.ts` holds them to it.
 */
export interface PeopleReader {
  /** Finds the people who hold these canonical values. The lines of the hits are the indexes of the values. */
  lookUp(values: readonly string[]): Promise<Hits>;
  /**
   * Returns the stored records of these people, in their order; undefined for a deleted person and for one who opted
   * out. `brief` reads records without long cells. `keep` takes buffers that are short-lived and returns the ones to use.
   */
  read(
    ids: readonly number[],
    options: { brief: boolean; keep: (texts: Buffer[]) => Buffer[] },
  ): Promise<(RecordBytes | undefined)[]>;
}

/** Reads the people of the graph that `sql` sees, each time in the state of the statement. */
export function postgresPeople(sql: Sql): PeopleReader {
  return {
    async lookUp(values) {
      const lines = values.join('\n');
      return parseHits(
        values.length === 0 ? Buffer.alloc(0) : await lookUpPersons(sql, lines),
        values.length,
      );
    },
    async read(ids, { brief, keep }) {
      if (ids.length === 0) return [];
      return splitRecords(keep(await readPersonRecords(sql, ids, brief)), (record) => record);
    },
  };
}
