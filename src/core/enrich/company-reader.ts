/** Reads companies: the one interface, and its implementation by Postgres. */
import type { Sql } from '../db/client.ts';
import { parseHits } from './hits.ts';
import type { RecordBytes } from './match-data.ts';
import type { Hits } from './outcomes.ts';
import {
  lookUpCompanies,
  readCompanyRecords,
  readDirectors,
  readFinancials,
} from './records.sql.ts';
import { splitRecords } from './split-records.ts';

/**
 * Reads the companies of one graph. Every implementation returns what Postgres holds in one state of the graph, with the
 * same bytes; `company-readers.pg.test.ts` holds them to it.
 */
export interface CompanyReader {
  /** Finds the companies that have these canonical values, as `PeopleReader.lookUp`. */
  lookUp(values: readonly string[]): Promise<Hits>;
  /** Returns the stored records of these companies, in their order; undefined for a deleted one. `keep` as for people. */
  read(
    ids: readonly number[],
    options: { keep: (texts: Buffer[]) => Buffer[] },
  ): Promise<(RecordBytes | undefined)[]>;
  /** Returns the directors of these companies as JSON arrays, in their order; null for a company without any. */
  readDirectors(ids: readonly number[]): Promise<(string | null)[]>;
  /** Returns the financial periods of these companies, as `readDirectors`, latest first. */
  readFinancials(ids: readonly number[]): Promise<(string | null)[]>;
}

/** Reads the companies of the graph that `sql` sees, each time in the state of the statement. */
export function postgresCompanies(sql: Sql): CompanyReader {
  return {
    async lookUp(values) {
      if (values.length === 0) return parseHits(Buffer.alloc(0), 0);
      return parseHits(await lookUpCompanies(sql, values.join('\n')), values.length);
    },
    async read(ids, { keep }) {
      if (ids.length === 0) return [];
      return splitRecords(keep(await readCompanyRecords(sql, ids)), (record) => record);
    },
    async readDirectors(ids) {
      if (ids.length === 0) return [];
      const found = await readDirectors(sql, [...new Set(ids)]);
      const directors = new Map(found.map((row) => [row.companyId, row.directors]));
      return ids.map((id) => directors.get(id) ?? null);
    },
    async readFinancials(ids) {
      if (ids.length === 0) return [];
      const found = await readFinancials(sql, [...new Set(ids)]);
      const periods = new Map(found.map((row) => [row.companyId, row.periods]));
      return ids.map((id) => periods.get(id) ?? null);
    },
  };
}
