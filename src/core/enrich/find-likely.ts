/**
 * Finds the record that a row means by name and company or place, with a probability. Reads only. Never guesses: a match
 * needs its probability, which a second candidate that fits as well halves.
 */
import type { Sql } from '../db/client.ts';
import { explainCompany, explainPerson } from '../match/evidence.ts';
import {
  addCompanyLevels,
  addPersonLevels,
  companyClass,
  comparesMoreThanName,
  personClass,
} from '../match/levels.ts';
import { calibrate, type ScoreModel, scoreOf, sharesOf } from '../match/score.ts';
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
/** From this share on some candidate is the record, though it may not be told which. */
const AMBIGUOUS_SHARE = 0.5;
/** A candidate of less is not shown. */
const SHOWN_SHARE = 0.05;

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
  candidates: {
    id: number;
    score: number;
    className: string;
    /** False where only the name was compared, because the row or the record has nothing else to compare. */
    isMoreThanName: boolean;
    explain: () => string;
  }[];
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
      // Of people, a name alone matches none; several of that name make the row ambiguous.
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
  { candidates: all, isCut, model }: Scored,
  minProbability: number,
  rejected: ReadonlySet<number> | undefined,
): Omit<LikelyOutcome, 'isNameOnly'> {
  const candidates = all
    .filter(({ id }) => rejected?.has(id) !== true)
    // Equal scores in the order of ids, so that the same list gives the same bytes.
    .sort((a, b) => b.score - a.score || a.id - b.id);
  const shares = sharesOf(candidates.map(({ score }) => score));
  const [best] = candidates;
  const share = shares[0] ?? 0;
  if (best === undefined) return isCut ? cut() : miss('not_found');
  const shown = () =>
    candidates.slice(0, CANDIDATES_SHOWN_MAX).flatMap((one, index) => {
      const own = shares[index] ?? 0;
      if (index > 0 && own < SHOWN_SHARE) return [];
      const probability = calibrate(model, one.className, own);
      return [{ id: one.id, probability, evidence: one.explain() }];
    });
  const probability = calibrate(model, best.className, share);
  if (probability >= minProbability && best.isMoreThanName) {
    const candidate = { id: best.id, probability, evidence: best.explain() };
    return { status: 'matched', reason: '', candidates: [candidate], isCut };
  }
  const some = shares.reduce((sum, one) => sum + one, 0);
  // One candidate that is not likely enough is a miss: a free response must not reveal that a record is stored.
  if (some < AMBIGUOUS_SHARE || (shares[1] ?? 0) < SHOWN_SHARE) {
    return isCut ? cut() : miss('not_found');
  }
  return { status: 'ambiguous', reason: 'several_fit', candidates: shown(), isCut };
}

/** The name is too common to compare all who have it, and nothing else in the row tells who is meant. */
function cut(): Omit<LikelyOutcome, 'isNameOnly'> {
  return { status: 'ambiguous', reason: 'name_too_common', candidates: [], isCut: true };
}
