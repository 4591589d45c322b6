/** Reads the records of matches. */
import type { Sql } from '../db/client.ts';
import { type OperationName, operations } from '../operations.ts';
import type { CompanyReader } from './company-reader.ts';
import { type GraphReader, postgresGraph } from './graph-reader.ts';
import type { MatchData } from './match-data.ts';
import { bytesWithoutMobile } from './mobile-in-records.ts';
import type { Decision } from './outcomes.ts';

export interface ReadOptions {
  /** Reads people without their long cells, which are then empty in the matches: see `needsOnlyBrief`. */
  brief?: boolean;
  /** Leaves `mobile` empty in the records of people: see `MOBILE_IN_RECORDS`. */
  hidesMobile?: boolean;
  /** Storage of the matches' texts: takes the driver's buffers, returns the ones to use. */
  keep?: (texts: Buffer[]) => Buffer[];
  /** Looks people and companies up and reads them; Postgres by default. Likely matches are always found by Postgres. */
  reader?: GraphReader;
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
  const { people, companies } = options.reader ?? postgresGraph(sql);
  if (matched.length === 0) return [];
  const ids = matched.map((decision) => decision.id);
  const { subject } = operations[operation];
  if (operation === 'people.enrich-with-company') {
    return matchesOf(await people.readWithCompany(ids, { keep }), ({ person, company }) =>
      dataOf(hidesMobile ? bytesWithoutMobile(person) : person, company),
    );
  }
  if (subject === 'person') {
    return matchesOf(await people.read(ids, { brief, keep }), (person) =>
      dataOf(hidesMobile ? bytesWithoutMobile(person) : person, null),
    );
  }
  const records = await companies.read(ids, { keep });
  const matches = matchesOf(records, (company) => dataOf(null, company));
  if (operation === 'companies.enrich') await addDirectors(companies, matched, matches);
  if (operation === 'companies.financials') {
    const periods = await companies.readFinancials(ids);
    for (const [index, match] of matches.entries()) {
      if (match !== undefined) match.periods = periods[index] ?? null;
    }
  }
  return matches;
}

/** Returns the data of a match that has these records. */
export function dataOf(person: MatchData['person'], company: MatchData['company']): MatchData {
  return { person, company, directors: null, periods: null };
}

function matchesOf<Stored>(
  stored: readonly (Stored | undefined)[],
  match: (one: Stored) => MatchData,
): ReadMatch[] {
  return stored.map((one) => (one === undefined ? undefined : match(one)));
}

/** Adds the directors to companies that were found by their UK registry number, and only to those. */
async function addDirectors(
  companies: CompanyReader,
  matched: readonly Decision[],
  matches: ReadMatch[],
): Promise<void> {
  const byNumber = matched.flatMap((decision, index) => {
    const match = matches[index];
    return match !== undefined && isByUkNumber(decision) ? [{ id: decision.id, match }] : [];
  });
  const directors = await companies.readDirectors(byNumber.map(({ id }) => id));
  for (const [index, { match }] of byNumber.entries()) match.directors = directors[index] ?? '[]';
}

function isByUkNumber({ by, value }: Decision): boolean {
  return by === 'registry_number' && value.startsWith('GB-');
}
