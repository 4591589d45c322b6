/**
 * Finds the record that a row means by name and company or place, with a probability. Reads only.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import type { CompanyRow } from '../match/compare-company.ts';
import type { PersonRow } from '../match/compare-person.ts';
import { decide, type ScoredCandidate, SHOWN_SHARE } from '../match/decide.ts';
import { explainCompany, explainPerson } from '../match/evidence.ts';
import {
  addCompanyLevels,
  addPersonLevels,
  companyClass,
  mayMatchPerson,
  personClass,
} from '../match/levels.ts';
import { calibrate, type ScoreModel, scoreOf } from '../match/score.ts';
import { companyModel, personModel } from '../match/weights.ts';
import { findCompanies, findPeople } from './likely-candidates.ts';
import { readCompanyRow, readPersonRow } from './likely-cards.ts';
import type { LikelyCells } from './likely-row.ts';
import { type GraphNames, readGraphNames } from './name-frequencies.ts';

/** A record that may be a row's. */
export interface LikelyCandidate {
  id: number;
  /** From 0 to 1. */
  probability: number;
  /** Its grounds in words. */
  evidence: string;
}

/** The outcome of one row. */
export interface LikelyOutcome {
  status: 'matched' | 'ambiguous' | 'no_match' | 'invalid';
  /** Code of why there is no match, or ''. */
  reason: string;
  /** The best first; of a match only it. At most `CANDIDATES_SHOWN_MAX`. */
  candidates: LikelyCandidate[];
  /** True when the row has nothing beside the name. */
  isNameOnly: boolean;
}

const CANDIDATES_SHOWN_MAX = 5;

/**
 * Matches rows about people or companies. Outcomes are in the order of the rows. `rejected` has the ids that a row must
 * not match: they count as not stored.
 */
export async function findLikely(
  sql: Sql,
  subject: 'person' | 'company',
  rows: readonly LikelyCells[],
  minProbability: number,
  rejected: (index: number) => ReadonlySet<number> | undefined = () => undefined,
): Promise<LikelyOutcome[]> {
  if (rows.length === 0) return [];
  const names = await readGraphNames(sql);
  const decideOne = (row: Scored, index: number) => decideRow(row, minProbability, rejected(index));
  return subject === 'person'
    ? decideReadable(rows, readPersonRow, decideOne, (people, judge) =>
        scorePeople(sql, names, people, judge),
      )
    : decideReadable(rows, readCompanyRow, decideOne, (companies, judge) =>
        scoreCompanies(sql, names, companies, judge),
      );
}

/** Takes a row whose candidates are scored, and its index. */
type Judge = (row: Scored, index: number) => void;

/** Decides the rows that `read` can read; the others are misses, with the reason that it says. */
async function decideReadable<Row>(
  rows: readonly LikelyCells[],
  read: (cells: LikelyCells) => Row | string,
  decideOne: (row: Scored, index: number) => LikelyOutcome,
  score: (rows: Row[], judge: Judge) => Promise<void>,
): Promise<LikelyOutcome[]> {
  const outcomes: LikelyOutcome[] = [];
  const readable: Row[] = [];
  const indexes: number[] = [];
  for (const [index, cells] of rows.entries()) {
    const row = read(cells);
    outcomes.push(miss(typeof row === 'string' ? row : 'not_found'));
    if (typeof row === 'string') continue;
    readable.push(row);
    indexes.push(index);
  }
  await score(readable, (row, place) => {
    const index = must(indexes[place], 'index of the row');
    outcomes[index] = decideOne(row, index);
  });
  return outcomes;
}

function miss(reason: string, isNameOnly = false): LikelyOutcome {
  const status = reason === 'not_found' ? 'no_match' : 'invalid';
  return { status, reason, candidates: [], isNameOnly };
}

/** Candidates of a row with what a decision needs. */
interface Scored {
  candidates: (ScoredCandidate & { explain: () => string })[];
  isCut: boolean;
  isNameOnly: boolean;
  model: ScoreModel;
}

async function scorePeople(
  sql: Sql,
  names: GraphNames,
  rows: readonly PersonRow[],
  judge: Judge,
): Promise<void> {
  await findPeople(sql, names, rows, ({ found, isCut }, index) => {
    const row = rows[index];
    const isNameOnly =
      row === undefined ||
      (row.company === null && row.city === '' && row.country === null && row.title.length === 0);
    const candidates = found.map(({ id, compared }) => ({
      id,
      score: scoreOf(personModel, (add) => addPersonLevels(compared, names, add)),
      className: personClass(compared),
      mayMatch: mayMatchPerson(compared),
      explain: () => explainPerson(compared, names),
    }));
    judge({ candidates, isCut, isNameOnly, model: personModel }, index);
  });
}

async function scoreCompanies(
  sql: Sql,
  names: GraphNames,
  rows: readonly CompanyRow[],
  judge: Judge,
): Promise<void> {
  await findCompanies(sql, names, rows, ({ found, isCut }, index) => {
    const isNameOnly = rows[index]?.city === '' && rows[index]?.country === null;
    const candidates = found.map(({ id, compared }) => ({
      id,
      score: scoreOf(companyModel, (add) => addCompanyLevels(compared, names, add)),
      className: companyClass(compared),
      mayMatch: !compared.isOfAnotherLaw,
      explain: () => explainCompany(compared),
    }));
    judge({ candidates, isCut, isNameOnly, model: companyModel }, index);
  });
}

function decideRow(
  { candidates, isCut, isNameOnly, model }: Scored,
  minProbability: number,
  rejected: ReadonlySet<number> | undefined,
): LikelyOutcome {
  const stored = candidates.filter(({ id }) => rejected?.has(id) !== true);
  const decision = decide(model, { candidates: stored, isCut }, minProbability);
  const { status, reason, ranked, shares } = decision;
  if (reason === 'not_found') return miss(reason, isNameOnly);
  // The name is too common to compare all who have it, and nothing else in the row tells who is meant.
  if (reason === 'name_too_common') return { status, reason, candidates: [], isNameOnly };
  const shown = ranked.slice(0, status === 'matched' ? 1 : CANDIDATES_SHOWN_MAX);
  return {
    status,
    reason,
    candidates: shown.flatMap((one, index) => {
      const share = shares[index] ?? 0;
      if (index > 0 && share < SHOWN_SHARE) return [];
      const probability = calibrate(model, one.className, share);
      return [{ id: one.id, probability, evidence: one.explain() }];
    }),
    isNameOnly,
  };
}
