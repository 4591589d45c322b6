/** Reads people, by identifiers or by id: the one interface, and its implementation by Postgres. */
import type { Sql } from '../db/client.ts';
import { endOfCell } from '../graph/record.ts';
import { parseHits } from './hits.ts';
import type { RecordBytes } from './match-data.ts';
import type { Hits } from './outcomes.ts';
import {
  lookUpPersons,
  RECORD_SEPARATOR,
  readPersonRecords,
  readPersonRecordsInOrder,
  SUPPRESSED_MARK,
} from './records.sql.ts';
import { splitRecords } from './split-records.ts';

/** A person's stored record, the fact that the person opted out, or undefined for a deleted person. */
export type StoredPerson = RecordBytes | 'opted_out' | undefined;

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
  /** Returns these people, whose ids ascend, in their order. `brief` as above. */
  readInOrder(ids: readonly number[], options: { brief: boolean }): Promise<StoredPerson[]>;
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
    async readInOrder(ids, { brief }) {
      if (ids.length === 0) return [];
      const people: StoredPerson[] = [];
      for (const records of await readPersonRecordsInOrder(sql, ids, brief)) {
        let from = 0;
        while (from < records.length) {
          const end = records.indexOf(RECORD_SEPARATOR, from);
          const to = end === -1 ? records.length : end;
          const id = idAt(records, from);
          while (people.length < ids.length && ids[people.length] !== id) people.push(undefined);
          const isHidden = records[to - 1] === SUPPRESSED_MARK;
          people.push(isHidden ? 'opted_out' : { bytes: records, from, to });
          from = to + 1;
        }
      }
      while (people.length < ids.length) people.push(undefined);
      return people;
    },
  };
}

/** Parses the first cell of a record. */
function idAt(bytes: Buffer, from: number): number {
  return Number(bytes.toString('latin1', from, endOfCell(bytes, from, bytes.length)));
}
