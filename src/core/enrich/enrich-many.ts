/**
 * Turns identifiers into outcomes, for one row or for thousands: the single call is a batch of one. Reads only;
 * charging comes later, because the price is known only when the outcomes are.
 */
import type { Sql } from '../db/client.ts';
import { isSharedMailbox, standsForNone } from '../identifiers/shared-mailbox.ts';
import { must } from '../lib/assert.ts';
import { findLikely, type LikelyCandidate, type LikelyOutcome } from '../likely/find-likely.ts';
import { type OperationName, operations } from '../operations.ts';
import { agrees, isOtherCompany } from './agreement.ts';
import { companiesLeftOut } from './companies-left-out.ts';
import { withPresentRecords } from './decided-records.ts';
import { type GraphReader, postgresGraph } from './graph-reader.ts';
import { isSuccess, type MatchData, type OutputColumn } from './match-data.ts';
import {
  type Agreement,
  type Decision,
  decide,
  levelsOf,
  matchedBy,
  noMatch,
  type OutcomeStatus,
  type RowInput,
} from './outcomes.ts';
import { peopleLeftOut } from './people-left-out.ts';
import { type ReadOptions, readMatches } from './read-matches.ts';
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
  /** Set by likely matches. */
  likely?: LikelyMatch;
  /** Agreement of the list's own name or company with the match: yes, no, unknown, or '' when not checked. */
  agrees: '' | Agreement;
  match: MatchData | null;
}

/** The grounds of a likely match, or of a row that several records fit. */
export interface LikelyMatch {
  /** Of the match, from 0 to 1; null without one. */
  probability: number | null;
  /** Its grounds in words; '' without a match. */
  evidence: string;
  /** The records that an ambiguous row may mean, best first. */
  candidates: readonly LikelyCandidate[];
  /** Of an ambiguous row with more than a name: the miss in its place where it is not disclosed. See `discloseAmbiguous`. */
  undisclosed?: Outcome;
}

export interface EnrichOptions extends ReadOptions {
  /** Called when the look-up is decided, when the matches are read, and when they are compared. */
  endPhase?: (phase: 'look_up' | 'fetch' | 'compare') => void;
  /** Returns the agreement of a row with a match. `index` is the row's position in `rows`. */
  agreementOf?: (index: number, match: MatchData, decision: Decision) => Agreement;
  /** Rejects records that a row disagrees with. */
  requireAgreement?: boolean;
  /** Rejects records in which one of these is empty. */
  required?: readonly OutputColumn[];
  /** The probability from which rows with `likely` cells match by name; absent: they do not. */
  minProbability?: number | null;
}

/**
 * Matches rows against the graph that `sql` sees. Outcomes are in the order of the rows. With `minProbability`, rows that no
 * identifier matched are matched by their names.
 *
 * A record that cannot be the match of a row counts as not stored for that row, and the next identifier decides: an unpaid
 * outcome must not reveal who is stored. Such a record belongs to a person who opted out, lacks what the operation returns or
 * what is required, or disagrees with the row where agreement is required or the mailbox is shared.
 */
export async function enrichMany(
  sql: Sql,
  operation: OperationName,
  asked: readonly RowInput[],
  options: EnrichOptions = {},
): Promise<Outcome[]> {
  const { minProbability = null } = options;
  if (minProbability === null) return enrichExactly(sql, operation, asked, options);
  const rows = asked.map(withoutLikelyName);
  const outcomes = await enrichExactly(sql, operation, rows, options);
  await addLikelyMatches(sql, operation, rows, outcomes, { ...options, minProbability });
  return outcomes;
}

/** The name of a company is then compared, with its place, and not looked up: many companies share one. */
function withoutLikelyName(row: RowInput): RowInput {
  if (row.likely === undefined) return row;
  const identifiers = row.identifiers.filter(({ kind }) => kind !== 'name');
  return identifiers.length === row.identifiers.length ? row : { ...row, identifiers };
}

/**
 * Matches by name the rows whose identifiers found nothing, or that have none: an identifier that finds a record, or
 * several, has decided already, but for the domain of an address, at which the row's name may be another company's. Changes
 * `outcomes`.
 */
async function addLikelyMatches(
  sql: Sql,
  operation: OperationName,
  rows: readonly RowInput[],
  outcomes: Outcome[],
  options: EnrichOptions & { minProbability: number },
): Promise<void> {
  const { minProbability, required = [], endPhase } = options;
  const { subject } = operations[operation];
  const rejected = new Map<number, Set<number>>();
  let open = rows.flatMap((row, index) => {
    const outcome = must(outcomes[index], 'outcome of the row');
    const isOpen =
      outcome.status === 'no_match' || outcome.status === 'invalid' || isOfParent(row, outcome);
    return row.likely !== undefined && isOpen ? [index] : [];
  });
  while (open.length > 0) {
    const cells = open.map((index) => must(rows[index]?.likely, 'likely cells'));
    const found = await findLikely(sql, subject, cells, minProbability, (place) =>
      rejected.get(open[place] ?? -1),
    );
    const matched: number[] = [];
    const decisions: Decision[] = [];
    for (const [place, index] of open.entries()) {
      const one = must(found[place], 'outcome of the row');
      const before = must(outcomes[index], 'outcome of the row');
      if (one.status !== 'matched') outcomes[index] = unmatchedLikely(one, before);
      const [best] = one.candidates;
      if (one.status !== 'matched' || best === undefined) continue;
      matched.push(index);
      decisions.push(matchedBy(BY_NAME, best.id));
      const likely = { probability: best.probability, evidence: best.evidence, candidates: [] };
      outcomes[index] = { ...before, likely };
    }
    endPhase?.('look_up');
    const matches = await readMatches(sql, operation, decisions, options);
    endPhase?.('fetch');
    open = matched.filter((index, place) => {
      const decision = must(decisions[place], 'decision of a matched row');
      const match = matches[place];
      const { likely, ...before } = must(outcomes[index], 'outcome of the row');
      if (match !== undefined && isSuccess(operation, match) && hasColumns(match, required)) {
        // The names were compared to find it.
        const agrees = options.agreementOf === undefined ? '' : 'yes';
        outcomes[index] = { ...matchOf(decision, match, agrees), ...(likely ? { likely } : {}) };
        return false;
      }
      outcomes[index] = before;
      const ids = rejected.get(index);
      if (ids === undefined) rejected.set(index, new Set([decision.id]));
      else ids.add(decision.id);
      return true;
    });
  }
}

/**
 * True for a match by an address that several people read when the row names another, or by one that is none unless it names the
 * person.
 */
function isOfOthers(
  operation: OperationName,
  { by, value }: Decision,
  agrees: Outcome['agrees'],
): boolean {
  if (by !== 'email') return false;
  // Whether an address is valid does not depend on whose it is.
  if (standsForNone(value) && operation !== 'people.email-verify') return agrees !== 'yes';
  return agrees === 'no' && isSharedMailbox(value);
}

/** True for a match by the domain of an address when the row clearly names another company. */
function isOfParent({ isDomainOfAddress, companyName }: RowInput, { by, match }: Outcome): boolean {
  if (isDomainOfAddress !== true || companyName === undefined || !domainLevels.has(by))
    return false;
  return match?.company != null && isOtherCompany(companyName, match.company);
}

const domainLevels: ReadonlySet<string> = new Set(['domain', 'alias_domain']);

/** Names a match by name and company, or by name and place. */
const BY_NAME = 'name_company';
/** Names a match with the candidate that the caller chose. */
export const BY_DECISION = 'decision';

/** The outcome of a decided row whose record, if any, is gone or has opted out. */
function missOfDecision(id: number): Outcome {
  return miss('no_match', BY_DECISION, id === 0 ? 'none_fits' : 'not_found');
}

function unmatchedLikely(
  { status, reason, candidates, isNameOnly }: LikelyOutcome,
  before: Outcome,
): Outcome {
  // No company has the name: a brand has another than the company that owns its domain.
  if (before.status === 'matched' && status !== 'ambiguous') return before;
  if (status === 'invalid') {
    // A usable identifier that found nothing says more than an unusable name, and an unusable one more than none.
    const isUnusable = before.status === 'invalid' && before.reason !== 'no_identifier';
    const saysMore = before.status === 'no_match' || (isUnusable && reason === 'empty_name');
    return saysMore ? before : miss('invalid', '', reason);
  }
  const by = before.by === '' || before.status === 'invalid' ? BY_NAME : `${before.by} ${BY_NAME}`;
  const undisclosed: Outcome = { ...miss('no_match', by, 'not_found'), agrees: before.agrees };
  if (status === 'no_match') return undisclosed;
  const disclosed = { probability: null, evidence: '', candidates };
  const likely = isNameOnly ? disclosed : { ...disclosed, undisclosed };
  return { ...miss('ambiguous', BY_NAME, reason), candidates: candidates.length, likely };
}

async function enrichExactly(
  sql: Sql,
  operation: OperationName,
  given: readonly RowInput[],
  options: EnrichOptions,
): Promise<Outcome[]> {
  const rows = await withPresentRecords(sql, operation, given);
  const { requireAgreement, required = [], endPhase } = options;
  const agreementOf = options.agreementOf ?? agreementWith(rows);
  const outcomes: Outcome[] = [];
  let undecided: number[] = [];
  // By index here and below: an iterator of entries makes an array of each row.
  for (let index = 0; index < rows.length; index++) {
    const row = must(rows[index], 'row');
    const { identifiers, decided = 0 } = row;
    if (row.decided !== undefined) outcomes.push(missOfDecision(row.decided));
    else if (identifiers.length > 0) outcomes.push(notFound(row));
    else outcomes.push(miss('invalid', '', row.invalid ?? 'no_identifier'));
    if (identifiers.length > 0 || decided !== 0) undecided.push(index);
  }
  const rejected = new Map<number, Set<number>>();
  const decideRow = await lookUpAll(sql, options.reader ?? postgresGraph(sql), operation, rows);
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
      const agrees = isMatch ? agreementOf(index, match, decision) : '';
      const isOther = agrees === 'no' && decision.by !== BY_DECISION;
      const isRefused = requireAgreement && isOther;
      if (isMatch && !isRefused && !isOfOthers(operation, decision, agrees)) {
        outcomes[index] = matchOf(decision, match, agrees);
        return false;
      }
      // A miss like any other; that it disagreed is kept for the report.
      if (isRefused) outcomes[index] = { ...notFound(must(rows[index], 'row')), agrees };
      const ids = rejected.get(index);
      if (ids === undefined) rejected.set(index, new Set([decision.id]));
      else ids.add(decision.id);
      return true;
    });
    endPhase?.('compare');
  }
  return outcomes;
}

/** Returns the agreement of rows that state the name of a person with their matches. */
function agreementWith(rows: readonly RowInput[]) {
  return (index: number, match: MatchData, decision: Decision): Outcome['agrees'] => {
    const { personName, companyName = '' } = must(rows[index], 'row');
    return personName === undefined ? '' : agrees({ personName, companyName }, match, decision);
  };
}

export function matchOf(
  { by, conflict, id }: Pick<Decision, 'by' | 'conflict' | 'id'>,
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

/** Looks up the values of all rows at once. */
async function lookUpAll(
  sql: Sql,
  { people, companies }: GraphReader,
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
  const isPersonal = operations[operation].subject === 'person';
  const hits = await (isPersonal ? people : companies).lookUp(values);
  const levels = levelsOf(operation);
  const leftOut = isPersonal
    ? await peopleLeftOut(sql, rows, firstLines, hits)
    : await companiesLeftOut(companies, rows, firstLines, hits);
  return (index, rejected) => {
    const row = must(rows[index], 'row');
    const { decided } = row;
    if (decided !== undefined) {
      return rejected?.has(decided) ? noMatch : matchedBy(BY_DECISION, decided);
    }
    return decide(levels, row, firstLines[index] ?? 0, hits, rejected, leftOut(index));
  };
}
