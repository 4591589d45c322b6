/** Reads people, by identifiers or by id: the one interface, and its implementation by Postgres. */
import type { Sql } from '../db/client.ts';
import { endOfCell } from '../graph/record.ts';
import { parseHits } from './hits.ts';
import type { RecordBytes } from './match-data.ts';
import type { Hits } from './outcomes.ts';
import {
  GROUP_SEPARATOR,
  lookUpPersonRecords,
  lookUpPersons,
  RECORD_SEPARATOR,
  readPersonRecords,
  readPersonRecordsInOrder,
  readPersonRecordsWithCompany,
  SUPPRESSED_MARK,
} from './records.sql.ts';
import { splitRecords } from './split-records.ts';

/** A person's stored record, the fact that the person opted out, or undefined for a deleted person. */
export type StoredPerson = RecordBytes | 'opted_out' | undefined;

/** A person's stored record and the employer's, null for a person without one or with one that is not stored. */
export interface PersonWithCompany {
  person: RecordBytes;
  company: RecordBytes | null;
}

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
  /** Returns these people with their employers, as `read` with whole records. */
  readWithCompany(
    ids: readonly number[],
    options: { keep: (texts: Buffer[]) => Buffer[] },
  ): Promise<(PersonWithCompany | undefined)[]>;
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
    async readWithCompany(ids, { keep }) {
      if (ids.length === 0) return [];
      return splitRecords(keep(await readPersonRecordsWithCompany(sql, ids)), withCompany);
    },
    async readInOrder(ids, { brief }) {
      if (ids.length === 0) return [];
      const people: StoredPerson[] = [];
      for (const records of await readPersonRecordsInOrder(sql, ids, brief)) {
        forEachPerson(records, (id, person) => {
          while (people.length < ids.length && ids[people.length] !== id) people.push(undefined);
          people.push(person);
        });
      }
      while (people.length < ids.length) people.push(undefined);
      return people;
    },
  };
}

function withCompany({ bytes, from, to }: RecordBytes): PersonWithCompany {
  const middle = bytes.indexOf(GROUP_SEPARATOR, from);
  const company = middle + 1 < to ? { bytes, from: middle + 1, to } : null;
  return { person: { bytes, from, to: middle }, company };
}

/**
 * As `postgresPeople`, for a few look-ups whose people are read at once: one statement finds people and reads those whom a
 * value names alone, and `read` takes their whole records from it. Others are read as ever.
 */
export function peopleOfCalls(sql: Sql): PeopleReader {
  const postgres = postgresPeople(sql);
  const found = new Map<number, RecordBytes | undefined>();
  return {
    async lookUp(values) {
      if (values.length === 0) return postgres.lookUp(values);
      const { hits, records } = await lookUpPersonRecords(sql, values.join('\n'));
      forEachPerson(records, (id, person) => {
        found.set(id, typeof person === 'object' ? person : undefined);
      });
      return parseHits(hits, values.length);
    },
    async read(ids, options) {
      const areFound = !options.brief && ids.every((id) => found.has(id));
      return areFound ? ids.map((id) => found.get(id)) : postgres.read(ids, options);
    },
    readWithCompany: postgres.readWithCompany,
    readInOrder: postgres.readInOrder,
  };
}

/** Visits the records of a text, each of which begins with the person's id. */
function forEachPerson(
  records: Buffer,
  visit: (id: number, person: RecordBytes | 'opted_out') => void,
): void {
  let from = 0;
  while (from < records.length) {
    const end = records.indexOf(RECORD_SEPARATOR, from);
    const to = end === -1 ? records.length : end;
    const isHidden = records[to - 1] === SUPPRESSED_MARK;
    visit(idAt(records, from), isHidden ? 'opted_out' : { bytes: records, from, to });
    from = to + 1;
  }
}

/** Parses the first cell of a record. */
function idAt(bytes: Buffer, from: number): number {
  return Number(bytes.toString('latin1', from, endOfCell(bytes, from, bytes.length)));
}
