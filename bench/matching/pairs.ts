/**
 * Measures how well names alone tell whether two of them are one person's or one company's, on pairs whose truth is known:
 *
 *   node dist/bench/matching/pairs.js DATABASE_URL PAIRS
 *
 * PAIRS is a CSV with the columns `a`, `b`, `entity` (`person` or `company`), `kind` and `same` (1 or 0). The score is that of
 * likely matches, with the frequencies of the graph of the database. Nothing is learnt from the pairs but one threshold for
 * people and one for companies. Prints F1 at these, next to those of the letters that differ and of calling every pair the
 * same, and the share of each kind that is right.
 */
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { connect } from '../../src/core/db/client.ts';
import { fold } from '../../src/core/lib/fold.ts';
import { type GraphNames, readGraphNames } from '../../src/core/likely/name-frequencies.ts';
import { editDistance } from '../../src/core/lookups/edit-distance.ts';
import { readCompanyName } from '../../src/core/match/company-words.ts';
import { compareCompany } from '../../src/core/match/compare-company.ts';
import { comparePerson } from '../../src/core/match/compare-person.ts';
import { storedName } from '../../src/core/match/compare-persons.ts';
import { addCompanyLevels, addPersonLevels } from '../../src/core/match/levels.ts';
import { type PersonName, readPersonName } from '../../src/core/match/person-name.ts';
import { scoreOf } from '../../src/core/match/score.ts';
import { companyModel, personModel } from '../../src/core/match/weights.ts';
import { bestThreshold, f1Of, type ScoredPair } from './pair-score.ts';

interface Pair {
  a: string;
  b: string;
  entity: 'person' | 'company';
  kind: string;
  isSame: boolean;
}

interface JudgedPair extends Pair {
  ours: ScoredPair;
  letters: ScoredPair;
}

const ENTITIES = ['person', 'company'] as const;
/** Less than any score. */
const NO_NAME = -100;

async function main([databaseUrl = '', file = '']: string[]): Promise<void> {
  const sql = connect({ url: databaseUrl, connections: 1 });
  try {
    const names = await readGraphNames(sql);
    const pairs = readPairs(await readFile(file, 'utf8')).map((pair): JudgedPair => {
      const { isSame } = pair;
      const ours = scoreOfPair(pair, names);
      return {
        ...pair,
        ours: { score: ours, isSame },
        letters: { score: shareOfLetters(pair), isSame },
      };
    });
    process.stdout.write(`${describe(pairs).join('\n')}\n`);
  } finally {
    await sql.end();
  }
}

function readPairs(text: string): Pair[] {
  const rows: Record<string, string>[] = parse(text, { bom: true, columns: true });
  return rows.map(({ a = '', b = '', entity, kind = '', same }) => {
    if (entity !== 'person' && entity !== 'company') throw new Error(`entity ${entity}`);
    return { a, b, entity, kind, isSame: same === '1' };
  });
}

/** The better of both directions: a pair has no listed and no stored side. */
function scoreOfPair({ a, b, entity }: Pair, names: GraphNames): number {
  const score = entity === 'person' ? scoreOfPeople : scoreOfCompanies;
  return Math.max(score(a, b, names), score(b, a, names));
}

function scoreOfPeople(listed: string, stored: string, names: GraphNames): number {
  const row = readPersonName(listed, true);
  const name = readPersonName(stored, true);
  if (typeof row === 'string' || typeof name === 'string') return NO_NAME;
  const compared = comparePerson(
    { name: row, company: null, city: '', country: null, title: [] },
    { id: 1, name: divided(name), place: [], country: null, title: [] },
    [],
  );
  return scoreOf(personModel, (add) => addPersonLevels(compared, names, add));
}

/** The last word is the family name, unless the text says which is. */
function divided(name: PersonName): ReturnType<typeof storedName> {
  const { words, family, also, generation } = name.untitled ?? name;
  const at = family === 0 ? Math.max(1, words.length - 1) : family;
  const parts = { first: words.slice(0, at), second: words.slice(at) };
  const [given, last] = family === 0 ? [parts.first, parts.second] : [parts.second, parts.first];
  return storedName(
    { words: given, family: 0, also, generation },
    { words: last, family: 0, also: [], generation: '' },
  );
}

function scoreOfCompanies(listed: string, stored: string, names: GraphNames): number {
  const row = readCompanyName(listed);
  const name = readCompanyName(stored);
  if (row === null || name === null) return NO_NAME;
  const compared = compareCompany(
    { name: row, city: '', country: null },
    { id: 1, names: [name], place: [], country: null },
  );
  if (compared === null) return NO_NAME;
  return scoreOf(companyModel, (add) => addCompanyLevels(compared, names, add));
}

function shareOfLetters({ a, b }: Pair): number {
  const [one, other] = [fold(a), fold(b)];
  const longer = Math.max(one.length, other.length);
  return 1 - editDistance(one, other, longer) / longer;
}

/** Kinds of one record under names that do not resemble: another language's, a married name, a renamed company. */
const UNLIKE_KINDS: ReadonlySet<string> = new Set(['renamed', 'other', 'given', 'surname']);

type Thresholds = Record<Pair['entity'], { ours: number; letters: number }>;

function describe(pairs: readonly JudgedPair[]): string[] {
  const alike = pairs.filter(({ kind }) => !UNLIKE_KINDS.has(kind));
  return [
    `${'Pairs'.padEnd(40)}          prec.  recall  F1     F1 of letters  F1 of "all are the same"`,
    ...describeSome('all', pairs),
    '',
    ...describeSome('without names that do not resemble', alike),
    '',
    ...describeKinds(pairs, thresholdsOf(pairs)),
  ];
}

function thresholdsOf(pairs: readonly JudgedPair[]): Thresholds {
  const of = (entity: Pair['entity']) => {
    const own = pairs.filter((pair) => pair.entity === entity);
    return {
      ours: bestThreshold(own.map((pair) => pair.ours)),
      letters: bestThreshold(own.map((pair) => pair.letters)),
    };
  };
  return { person: of('person'), company: of('company') };
}

function describeSome(name: string, pairs: readonly JudgedPair[]): string[] {
  const thresholds = thresholdsOf(pairs);
  const line = (label: string, some: readonly JudgedPair[]) => {
    const judge = (isMatch: (pair: JudgedPair) => boolean) =>
      f1Of(some.map((pair) => ({ isSame: pair.isSame, isMatch: isMatch(pair) })));
    const ours = judge(({ entity, ours: { score } }) => score >= thresholds[entity].ours);
    const letters = judge(({ entity, letters: { score } }) => score >= thresholds[entity].letters);
    const figures = [ours.precision, ours.recall, ours.f1, letters.f1, judge(() => true).f1];
    const told = figures.map((one) => one.toFixed(3)).join('   ');
    return `${label.padEnd(40)} ${String(some.length).padStart(6)}   ${told}`;
  };
  return [
    line(name, pairs),
    ...ENTITIES.map((entity) => {
      return line(
        `- ${entity}`,
        pairs.filter((pair) => pair.entity === entity),
      );
    }),
  ];
}

function describeKinds(pairs: readonly JudgedPair[], thresholds: Thresholds): string[] {
  const kinds = new Map<string, { pairs: number; right: number }>();
  for (const { entity, kind, isSame, ours } of pairs) {
    const name = `${entity}, ${isSame ? 'same' : 'not same'}, ${kind}`;
    const counts = kinds.get(name) ?? { pairs: 0, right: 0 };
    counts.pairs += 1;
    if (isSame === ours.score >= thresholds[entity].ours) counts.right += 1;
    kinds.set(name, counts);
  }
  return [...kinds]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, counts]) => {
      const share = (counts.right / counts.pairs).toFixed(3);
      return `${name.padEnd(40)} ${String(counts.pairs).padStart(6)}   ${share} right`;
    });
}

await main(process.argv.slice(2));
