/** Reads the records of matches. */
import type { Sql } from '../db/client.ts';
import { type OperationName, operations } from '../operations.ts';
import type { MatchData, RecordBytes } from './match-data.ts';
import { bytesWithoutMobile } from './mobile-in-records.ts';
import type { Decision } from './outcomes.ts';
import { type PeopleReader, postgresPeople } from './people-reader.ts';
import {
  GROUP_SEPARATOR,
  readCompanyRecords,
  readDirectors,
  readFinancials,
  readPersonRecordsWithCompany,
} from './records.sql.ts';
import { splitRecords } from './split-records.ts';

export interface ReadOptions {
  /** Reads people without their long cells, which are then empty in the matches: see `needsOnlyBrief`. */
  brief?: boolean;
  /** Leaves `mobile` empty in the records of people: see `MOBILE_IN_RECORDS`. */
  hidesMobile?: boolean;
  /** Storage of the matches' texts: takes the driver's buffers, returns the ones to use. */
  keep?: (texts: Buffer[]) => Buffer[];
  /** Looks people up and reads them; Postgres by default. Companies are always read from Postgres. */
  people?: PeopleReader;
}

type ReadMatch = MatchData | undefined;

/**
 * Returns the matches of the matched decisions, in their order; undefined for a record that is gone or opted out.
 */
export async function readMatches(
  sql: Sql,
  operation: OperationName,
  matched: readonly Decision[],
  options: ReadOptions,
): Promise<ReadMatch[]> {
  const { brief = false, hidesMobile = false, keep = (texts: Buffer[]) => texts } = options;
  const { people = postgresPeople(sql) } = options;
  if (matched.length === 0) return [];
  const ids = matched.map((decision) => decision.id);
  if (operation === 'people.enrich-with-company') {
    const records = keep(await readPersonRecordsWithCompany(sql, ids));
    return splitRecords(records, hidesMobile ? withCompanyWithoutMobile : withCompany);
  }
  if (operations[operation].subject === 'person') {
    const records = await people.read(ids, { brief, keep });
    return records.map((stored) => {
      if (stored === undefined) return undefined;
      const person = hidesMobile ? bytesWithoutMobile(stored) : stored;
      return { person, company: null, directors: null, periods: null };
    });
  }
  const matches = splitRecords(keep(await readCompanyRecords(sql, ids)), (company) => {
    return { person: null, company, directors: null, periods: null };
  });
  if (operation === 'companies.enrich') await addDirectors(sql, matched, matches);
  if (operation === 'companies.financials') await addFinancials(sql, matched, matches);
  return matches;
}

function withCompany({ bytes, from, to }: RecordBytes): MatchData {
  const middle = bytes.indexOf(GROUP_SEPARATOR, from);
  const company = middle + 1 < to ? { bytes, from: middle + 1, to } : null;
  return { person: { bytes, from, to: middle }, company, directors: null, periods: null };
}

function withCompanyWithoutMobile(record: RecordBytes): MatchData {
  const match = withCompany(record);
  return { ...match, person: match.person && bytesWithoutMobile(match.person) };
}

/** Adds the directors to companies that were found by their UK registry number, and only to those. */
async function addDirectors(
  sql: Sql,
  matched: readonly Decision[],
  matches: ReadMatch[],
): Promise<void> {
  const byNumber = matched.filter(isByUkNumber);
  if (byNumber.length === 0) return;
  const found = await readDirectors(sql, [...new Set(byNumber.map(({ id }) => id))]);
  const directors = new Map(found.map((row) => [row.companyId, row.directors]));
  for (const [index, decision] of matched.entries()) {
    const match = matches[index];
    if (!isByUkNumber(decision) || typeof match !== 'object') continue;
    match.directors = directors.get(decision.id) ?? '[]';
  }
}

function isByUkNumber({ by, value }: Decision): boolean {
  return by === 'registry_number' && value.startsWith('GB-');
}

async function addFinancials(
  sql: Sql,
  matched: readonly Decision[],
  matches: ReadMatch[],
): Promise<void> {
  const found = await readFinancials(sql, [...new Set(matched.map(({ id }) => id))]);
  const periods = new Map(found.map((row) => [row.companyId, row.periods]));
  for (const [index, decision] of matched.entries()) {
    const match = matches[index];
    if (typeof match === 'object') match.periods = periods.get(decision.id) ?? null;
  }
}
