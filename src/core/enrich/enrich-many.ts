/**
 * Turns identifiers into outcomes, for one row or for thousands: the single call is a batch of one. Reads only;
 * charging comes later, because the price is known only when the outcomes are.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { type OperationName, operations } from '../operations.ts';
import { countryOfCompany } from './agreement.ts';
import { parseHits } from './hits.ts';
import { isSuccess, type MatchData, type OutputColumn, type RecordBytes } from './match-data.ts';
import { bytesWithoutMobile } from './mobile-in-records.ts';
import {
  type Agreement,
  type Decision,
  decide,
  type Hits,
  levelsOf,
  type OutcomeStatus,
  type RowInput,
} from './outcomes.ts';
import {
  GROUP_SEPARATOR,
  lookUpCompanies,
  lookUpPersons,
  RECORD_SEPARATOR,
  readCompanyRecords,
  readDirectors,
  readFinancials,
  readPersonRecords,
  readPersonRecordsWithCompany,
  SUPPRESSED_MARK,
} from './records.sql.ts';
import { hasColumns } from './required-fields.ts';

/** The outcome of one row. Only `matched` has a match and a price. */
export interface Outcome {
  status: OutcomeStatus;
  /** The identifier kind that matched or is ambiguous; without a match those that were tried; or ''. */
  by: string;
  /** A code that says why a row did not match, or ''. */
  reason: string;
  conflict: boolean;
  /** Number of equally good records, when ambiguous. */
  candidates: number;
  /** The matched record's id, or 0. */
  id: number;
  /** Agreement of the list's own name or company with the match: yes, no, unknown, or '' when not checked. */
  agrees: '' | Agreement;
  match: MatchData | null;
}

export interface EnrichOptions {
  /** Reads people without their long cells, which are then empty in the matches: see `needsOnlyBrief`. */
  brief?: boolean;
  /** Storage of the matches' texts: takes the driver's buffers, returns the ones to use. */
  keep?: (texts: Buffer[]) => Buffer[];
  /** Called when the look-up is decided, when the matches are read, and when they are compared. */
  endPhase?: (phase: 'look_up' | 'fetch' | 'compare') => void;
  /** Returns the agreement of a row with the match that `by` found. `index` is the row's position in `rows`. */
  agreementOf?: (index: number, match: MatchData, by: string) => Agreement;
  /** Rejects records that a row disagrees with. */
  requireAgreement?: boolean;
  /** Leaves `mobile` empty in the records of people: see `MOBILE_IN_RECORDS`. */
  hidesMobile?: boolean;
  /** Rejects records in which one of these is empty. */
  required?: readonly OutputColumn[];
}

/**
 * Matches rows against the graph that `sql` sees. Outcomes are in the order of the rows. A record that cannot be a
 * row's match (the person opted out, it lacks what the operation returns or what is required, or the row disagrees and
 * agreement is required) counts as not stored for that row, and the next identifier decides: an unpaid outcome must not reveal who
 * is stored.
 */
export async function enrichMany(
  sql: Sql,
  operation: OperationName,
  rows: readonly RowInput[],
  options: EnrichOptions = {},
): Promise<Outcome[]> {
  const { agreementOf, requireAgreement, required = [], endPhase } = options;
  const outcomes = rows.map((row) =>
    row.identifiers.length === 0
      ? miss('invalid', '', row.invalid ?? 'no_identifier')
      : notFound(row),
  );
  const rejected = new Map<number, Set<number>>();
  const decideRow = await lookUpAll(sql, operation, rows);
  let undecided = rows.flatMap(({ identifiers }, index) =>
    identifiers.length === 0 ? [] : [index],
  );
  // Each round rejects one more record of a row, of the few that its values name.
  while (undecided.length > 0) {
    const matched: number[] = [];
    const decisions: Decision[] = [];
    for (const index of undecided) {
      const decision = decideRow(index, rejected.get(index));
      if (decision.status === 'ambiguous') outcomes[index] = ambiguous(decision);
      if (decision.status !== 'matched') continue;
      matched.push(index);
      decisions.push(decision);
    }
    endPhase?.('look_up');
    const matches = await readMatches(sql, operation, decisions, options);
    endPhase?.('fetch');
    undecided = matched.filter((index, place) => {
      const decision = must(decisions[place], 'decision of a matched row');
      const match = matches[place];
      const isMatch =
        match !== undefined && isSuccess(operation, match) && hasColumns(match, required);
      const agrees = isMatch ? (agreementOf?.(index, match, decision.by) ?? '') : '';
      if (isMatch && !(requireAgreement && agrees === 'no')) {
        outcomes[index] = matchOf(decision, match, agrees);
        return false;
      }
      // A miss like any other; that it disagreed is kept for the report.
      if (agrees === 'no') outcomes[index] = { ...notFound(must(rows[index], 'row')), agrees };
      const ids = rejected.get(index);
      if (ids === undefined) rejected.set(index, new Set([decision.id]));
      else ids.add(decision.id);
      return true;
    });
    endPhase?.('compare');
  }
  return outcomes;
}

function matchOf(
  { by, conflict, id }: Decision,
  match: MatchData,
  agrees: Outcome['agrees'],
): Outcome {
  return { status: 'matched', by, reason: '', conflict, candidates: 1, id, agrees, match };
}

function ambiguous({ by, candidates, areCandidatesCut }: Decision): Outcome {
  const several = areCandidatesCut ? `${candidates}_or_more` : candidates;
  return { ...miss('ambiguous', by, `shared_by_${several}_records`), candidates };
}

/** Returns an outcome without a match. */
export function miss(status: OutcomeStatus, by: string, reason: string): Outcome {
  return { status, by, reason, conflict: false, candidates: 0, id: 0, agrees: '', match: null };
}

/**
 * Returns the outcome of a row without a match: the identifiers that were tried. It is the same whatever the reason:
 * no record, a person who opted out, a record without the data, or one that disagrees.
 */
function notFound({ identifiers }: RowInput): Outcome {
  const [only] = identifiers;
  const tried =
    identifiers.length === 1 ? (only?.kind ?? '') : identifiers.map(({ kind }) => kind).join(' ');
  const known = notFoundBy.get(tried);
  if (known !== undefined) return known;
  const outcome = Object.freeze(miss('no_match', tried, 'not_found'));
  notFoundBy.set(tried, outcome);
  return outcome;
}

/** A third of many lists: shared objects, one for each set of kinds, since a miss is never changed. */
const notFoundBy = new Map<string, Outcome>();

/** Decides the row at an index, as if the records with the rejected ids were not stored. */
type DecideRow = (index: number, rejected?: ReadonlySet<number>) => Decision;

/** Looks up the values of all rows in one statement. */
async function lookUpAll(
  sql: Sql,
  operation: OperationName,
  rows: readonly RowInput[],
): Promise<DecideRow> {
  const values: string[] = [];
  const firstLines = new Int32Array(rows.length);
  for (let index = 0; index < rows.length; index++) {
    firstLines[index] = values.length;
    for (const identifier of rows[index]?.identifiers ?? []) {
      for (const value of identifier.values) values.push(value);
    }
  }
  const lookUp = operations[operation].subject === 'person' ? lookUpPersons : lookUpCompanies;
  const found = values.length === 0 ? Buffer.alloc(0) : await lookUp(sql, values.join('\n'));
  const hits = parseHits(found, values.length);
  const levels = levelsOf(operation);
  const elsewhere = await companiesElsewhere(sql, rows, firstLines, hits);
  return (index, rejected) =>
    decide(
      levels,
      must(rows[index], 'row'),
      firstLines[index] ?? 0,
      hits,
      rejected,
      elsewhere.get(index),
    );
}

/**
 * Returns, for each row that states its country, the companies to leave out when its name is looked up: those of
 * another country, and those of unknown country when a company of the row's country has the name.
 */
async function companiesElsewhere(
  sql: Sql,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const named = new Map<number, Set<number>>();
  for (const [index, { identifiers, country }] of rows.entries()) {
    if (country === undefined || country === null) continue;
    let line = firstLines[index] ?? 0;
    for (const { kind, values } of identifiers) {
      if (kind === 'name') {
        const ids = named.get(index) ?? new Set();
        for (let place = 0; place < values.length; place++) {
          hits.forEach(line + place, (_, id) => {
            ids.add(id);
          });
        }
        if (ids.size > 0) named.set(index, ids);
      }
      line += values.length;
    }
  }
  if (named.size === 0) return named;
  const ids = [...new Set([...named.values()].flatMap((found) => [...found]))];
  const countries = splitRecords(await readCompanyRecords(sql, ids), countryOfCompany);
  const countryOf = new Map(ids.map((id, place) => [id, countries[place] ?? null]));
  for (const [index, found] of named) {
    const own = rows[index]?.country;
    const isThere = [...found].some((id) => countryOf.get(id) === own);
    for (const id of found) {
      const country = countryOf.get(id) ?? null;
      if (country === own || (country === null && !isThere)) found.delete(id);
    }
  }
  return named;
}

type ReadMatch = MatchData | undefined;

/**
 * Returns the matches of the matched decisions, in their order; undefined for a record that is gone or opted out.
 */
async function readMatches(
  sql: Sql,
  operation: OperationName,
  matched: readonly Decision[],
  { brief = false, hidesMobile = false, keep = (texts) => texts }: EnrichOptions,
): Promise<ReadMatch[]> {
  if (matched.length === 0) return [];
  const ids = matched.map((decision) => decision.id);
  if (operation === 'people.enrich-with-company') {
    const records = keep(await readPersonRecordsWithCompany(sql, ids));
    return splitRecords(records, hidesMobile ? withCompanyWithoutMobile : withCompany);
  }
  if (operations[operation].subject === 'person') {
    const records = await readPersonRecords(sql, ids, brief);
    return splitRecords(keep(records), (stored) => {
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

function splitRecords<Value>(
  texts: readonly Buffer[],
  match: (record: RecordBytes) => Value,
): (Value | undefined)[] {
  const matches: (Value | undefined)[] = [];
  for (const text of texts) splitText(text, match, matches);
  return matches;
}

function splitText<Value>(
  blob: Buffer,
  match: (record: RecordBytes) => Value,
  matches: (Value | undefined)[],
): void {
  let from = 0;
  while (from <= blob.length) {
    const end = blob.indexOf(RECORD_SEPARATOR, from);
    const to = end === -1 ? blob.length : end;
    if (from === to || blob[from] === SUPPRESSED_MARK) matches.push(undefined);
    else matches.push(match({ bytes: blob, from, to }));
    from = to + 1;
  }
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
