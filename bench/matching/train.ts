/**
 * Trains the weights and the calibration of likely matches on labelled lists against the graph of a database, prints what
 * cross-validation says of them, and writes `src/core/match/weights.ts`:
 *
 *   node dist/bench/matching/train.js DATABASE_URL LIST TRUTH [LIST TRUTH ...]
 *
 * Nothing of the lists but the numbers is kept. The same lists on the same graph give the same file.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connect, type Sql } from '../../src/core/db/client.ts';
import { must } from '../../src/core/lib/assert.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { findCompanies, findPeople } from '../../src/core/likely/likely-candidates.ts';
import { readCompanyRow, readPersonRow } from '../../src/core/likely/likely-cards.ts';
import { type GraphNames, readGraphNames } from '../../src/core/likely/name-frequencies.ts';
import { decide } from '../../src/core/match/decide.ts';
import {
  type AddLevel,
  addCompanyLevels,
  addPersonLevels,
  companyClass,
  mayMatchPerson,
  personClass,
} from '../../src/core/match/levels.ts';
import { measureLikely } from '../../src/core/match/measure.ts';
import { logOddsOf, type ScoreModel, scoreOf } from '../../src/core/match/score.ts';
import { type LabelledRow, readLabelledList } from '../../src/mapping/read-labelled-list.ts';
import { fitCalibration } from './fit-calibration.ts';
import { fitWeights, type Levels, roundWeights } from './fit-weights.ts';

const FOLDS = 5;
/** A best candidate of less says nothing about calibration. */
const SHARE_MIN = 0.001;
const MIN_PROBABILITY = 0.95;

interface TrainingRow extends LabelledRow {
  fold: number;
  /** The records that fit the row: the expected one, or all that the truth calls equal. */
  fits: ReadonlySet<number>;
  compared: ComparedRecord[];
  isCut: boolean;
}

interface ComparedRecord {
  id: number;
  levels: Levels;
  className: string;
  mayMatch: boolean;
}

type Subject = 'person' | 'company';

async function main([databaseUrl = '', ...files]: string[]): Promise<void> {
  const sql = connect({ url: databaseUrl, connections: 2 });
  try {
    const names = await readGraphNames(sql);
    const rows: Record<Subject, TrainingRow[]> = { person: [], company: [] };
    for (let index = 0; index < files.length; index += 2) {
      const [list, truth] = await Promise.all(
        [files[index], files[index + 1]].map((file) => readFile(must(file, 'LIST TRUTH'), 'utf8')),
      );
      const labelled = readLabelledList(must(list, 'list'), must(truth, 'truth'));
      rows[labelled.subject].push(
        ...(await addCandidates(sql, names, labelled.subject, labelled.rows)),
      );
    }
    const models = {
      person: train('person', rows.person),
      company: train('company', rows.company),
    };
    const file = path.join(packageRoot, 'src/core/match/weights.ts');
    await writeFile(file, render(models));
  } finally {
    await sql.end();
  }
}

async function addCandidates(
  sql: Sql,
  names: GraphNames,
  subject: Subject,
  rows: readonly LabelledRow[],
): Promise<TrainingRow[]> {
  const read = rows.map(({ cells }) =>
    subject === 'person' ? readPersonRow(cells) : readCompanyRow(cells),
  );
  const usable = read.flatMap((row, index) => (typeof row === 'string' ? [] : [index]));
  const wanted = usable.map((index) => read[index] as never);
  const found = await (subject === 'person'
    ? findPeople(sql, names, wanted, ({ found, isCut }) => ({
        compared: found.map(({ id, compared }) => ({
          id,
          levels: listLevels((add) => addPersonLevels(compared, names, add)),
          className: personClass(compared),
          mayMatch: mayMatchPerson(compared),
        })),
        isCut,
      }))
    : findCompanies(sql, names, wanted, ({ found, isCut }) => ({
        compared: found.map(({ id, compared }) => ({
          id,
          levels: listLevels((add) => addCompanyLevels(compared, names, add)),
          className: companyClass(compared),
          mayMatch: !compared.isOfAnotherLaw,
        })),
        isCut,
      })));
  const candidates = new Map(usable.map((index, place) => [index, found[place]]));
  return rows.map((row, index) => ({
    ...row,
    fold: hash(`${subject}${index}${row.cells.name ?? row.cells.lastName}`) % FOLDS,
    fits: new Set(row.expected === 0 && row.kind === 'ambiguous' ? row.candidates : [row.expected]),
    ...(candidates.get(index) ?? { compared: [], isCut: false }),
  }));
}

function listLevels(tell: (add: AddLevel) => void): Levels {
  const levels: Levels = [];
  tell((name, amount) => levels.push([name, amount]));
  return levels;
}

function hash(text: string): number {
  let value = 2166136261;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 16777619);
  }
  return value >>> 0;
}

/** Chosen by cross-validation: companies have rarer levels. */
const PENALTIES = { person: 0.05, company: 2 } as const;

function weigh(subject: Subject, rows: readonly TrainingRow[]): ScoreModel['weights'] {
  const examples = rows.flatMap(({ compared, fits }) =>
    compared.map(({ id, levels }) => ({
      levels,
      isSame: fits.has(id),
      weight: fits.has(id) ? 1 / fits.size : 1,
    })),
  );
  return roundWeights(fitWeights(examples, PENALTIES[subject]));
}

/** Decides a row by a model. */
function decideRow(model: ScoreModel, { compared, isCut }: TrainingRow) {
  const candidates = compared.map((one) => ({
    ...one,
    score: scoreOf(model, (add) => {
      for (const [name, amount] of one.levels) add(name, amount);
    }),
  }));
  return decide(model, { candidates, isCut }, MIN_PROBABILITY);
}

/** The best candidate of a row. */
interface Best {
  id: number;
  share: number;
  className: string;
}

function bestOf({ ranked: [best], shares }: ReturnType<typeof decideRow>): Best | null {
  if (best === undefined) return null;
  return { id: best.id, share: shares[0] ?? 0, className: best.className };
}

function calibrationOf(judged: readonly { row: TrainingRow; best: Best | null }[]) {
  const byClass = new Map<string, { score: number; right: number }[]>();
  for (const { row, best } of judged) {
    if (best === null || best.share <= SHARE_MIN) continue;
    const list = byClass.get(best.className) ?? [];
    const right = row.fits.has(best.id) ? 1 / row.fits.size : 0;
    list.push({ score: logOddsOf(best.share), right });
    byClass.set(best.className, list);
  }
  const sorted = [...byClass].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, list]) => [name, fitCalibration(list)]));
}

/** Trains on all rows; the calibration is that of rows that the weights had not seen. */
function train(subject: Subject, rows: readonly TrainingRow[]): ScoreModel {
  const judged: { row: TrainingRow; weights: ScoreModel['weights']; best: Best | null }[] = [];
  for (let fold = 0; fold < FOLDS; fold++) {
    const weights = weigh(
      subject,
      rows.filter((row) => row.fold !== fold),
    );
    for (const row of rows.filter((one) => one.fold === fold)) {
      judged.push({ row, weights, best: bestOf(decideRow({ weights, calibration: {} }, row)) });
    }
  }
  const calibrations = Array.from({ length: FOLDS }, (_, fold) =>
    calibrationOf(judged.filter(({ row }) => row.fold !== fold)),
  );
  const measured = judged.map(({ row, weights, best }) => {
    const calibration = must(calibrations[row.fold], 'calibration');
    const { status, probability } = decideRow({ weights, calibration }, row);
    return {
      status,
      id: best?.id ?? 0,
      probability,
      fits: row.fits,
      expected: row.expected,
      kind: row.kind,
    };
  });
  process.stdout.write(`${subject}\n${JSON.stringify(measureLikely(measured), null, 1)}\n`);
  return { weights: weigh(subject, rows), calibration: calibrationOf(judged) };
}

function render(models: Record<Subject, ScoreModel>): string {
  const version = hash(JSON.stringify(models)).toString(36);
  return `/** Written by bench/matching/train.ts from labelled lists; docs/matching.md has the figures. */
import type { ScoreModel } from './score.ts';

/** Changes with the numbers below. */
export const MODEL_VERSION = '1-${version}';

export const personModel: ScoreModel = ${JSON.stringify(models.person)};

export const companyModel: ScoreModel = ${JSON.stringify(models.company)};
`;
}

await main(process.argv.slice(2));
