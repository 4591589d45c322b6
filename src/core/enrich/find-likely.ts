/**
 * Finds the record that a row means by name and company or place, with a probability. Reads only.
 */
import type { Sql } from '../db/client.ts';
import { decide, type ScoredCandidate, SHOWN_SHARE } from '../match/decide.ts';
import { explainCompany, explainPerson } from '../match/evidence.ts';
import {
  addCompanyLevels,
  addPersonLevels,
  companyClass,
  comparesMoreThanName,
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
  /** True when more candidates exist than were compared. */
  isCut: boolean;
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
  const read = rows.map((cells) =>
    subject === 'person' ? readPersonRow(cells) : readCompanyRow(cells),
  );
  const usable = read.flatMap((row, index) => (typeof row === 'string' ? [] : [index]));
  const outcomes: LikelyOutcome[] = read.map((row) => {
    return { ...miss(typeof row === 'string' ? row : 'not_found'), isNameOnly: false };
  });
  const find = subject === 'person' ? judgePeople : judgeCompanies;
  await find(
    sql,
    names,
    usable.map((index) => read[index] as never),
    (one, place) => {
      const index = usable[place] ?? -1;
      const { isNameOnly } = one;
      outcomes[index] = { ...decideRow(one, minProbability, rejected(index)), isNameOnly };
    },
  );
  return outcomes;
}

function miss(reason: string): Omit<LikelyOutcome, 'isNameOnly'> {
  const status = reason === 'not_found' ? 'no_match' : 'invalid';
  return { status, reason, candidates: [], isCut: false };
}

/** Candidates of a row with what a decision needs. */
interface Scored {
  candidates: (ScoredCandidate & { explain: () => string })[];
  isCut: boolean;
  isNameOnly: boolean;
  model: ScoreModel;
}

async function judgePeople(
  sql: Sql,
  names: GraphNames,
  rows: readonly Exclude<ReturnType<typeof readPersonRow>, string>[],
  judge: (row: Scored, index: number) => void,
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
      isMoreThanName: comparesMoreThanName(compared),
      explain: () => explainPerson(compared, names),
    }));
    judge({ candidates, isCut, isNameOnly, model: personModel }, index);
  });
}

async function judgeCompanies(
  sql: Sql,
  names: GraphNames,
  rows: readonly Exclude<ReturnType<typeof readCompanyRow>, string>[],
  judge: (row: Scored, index: number) => void,
): Promise<void> {
  await findCompanies(sql, names, rows, ({ found, isCut }, index) => {
    const isNameOnly = rows[index]?.city === '' && rows[index]?.country === null;
    const candidates = found.map(({ id, compared }) => ({
      id,
      score: scoreOf(companyModel, (add) => addCompanyLevels(compared, names, add)),
      className: companyClass(compared),
      isMoreThanName: true,
      explain: () => explainCompany(compared),
    }));
    judge({ candidates, isCut, isNameOnly, model: companyModel }, index);
  });
}

function decideRow(
  { candidates, isCut, model }: Scored,
  minProbability: number,
  rejected: ReadonlySet<number> | undefined,
): Omit<LikelyOutcome, 'isNameOnly'> {
  const stored = candidates.filter(({ id }) => rejected?.has(id) !== true);
  const decision = decide(model, { candidates: stored, isCut }, minProbability);
  const { status, reason, ranked, shares } = decision;
  if (reason === 'not_found') return miss(reason);
  // The name is too common to compare all who have it, and nothing else in the row tells who is meant.
  if (reason === 'name_too_common') return { status, reason, candidates: [], isCut: true };
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
    isCut,
  };
}
