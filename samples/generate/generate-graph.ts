/**
 * Generates a synthetic graph of people and companies in the database, for demos, tests and measurements. No
 * person in it is real: names are drawn at random, domains are reserved ones. The same seed gives the same rows on
 * every machine.
 */
import type { Database, Sql } from '../../src/core/db/client.ts';
import { renderCompanyRecords, renderPersonRecords } from '../../src/core/graph/graph.sql.ts';
import { rebuildLookups } from '../../src/core/graph/lookup-values.sql.ts';
import { refreshNameCounts } from '../../src/core/graph/name-keys.sql.ts';
import { writeGraph } from '../../src/core/graph/write-graph.ts';
import { assert } from '../../src/core/lib/assert.ts';
import { type AppError, conflict, invalidParameter } from '../../src/core/lib/errors.ts';
import {
  analyzeCompanies,
  type CompanySlice,
  createCompanyWords,
  insertCompanies,
  insertCompanyIdentifiers,
  insertFinancialPeriods,
  insertOfficers,
} from './companies.sql.ts';
import {
  analyzeGraph,
  countGraph,
  createDrawFunctions,
  createWordTables,
  dropFilledIndexes,
  type GraphCounts,
  isGraphEmpty,
  prepareForBulk,
  restoreIndex,
} from './generate-graph.sql.ts';
import {
  createPeopleStage,
  insertPeople,
  insertPersonIdentifiers,
  numberNamesakes,
  type PersonSlice,
  stagePeople,
} from './people.sql.ts';

export interface GenerateGraphOptions {
  /** At most 10,000,000. */
  persons: number;
  /** At least 1, at most 5,000,000. */
  companies: number;
  /** A whole number from 0. */
  seed: number;
  onProgress?: (progress: GenerateProgress) => void;
}

/** `done` of `total` rows or statements of one step. */
export interface GenerateProgress {
  step: 'companies' | 'people' | 'identifiers' | 'officers' | 'records' | 'indexes';
  done: number;
  total: number;
}

const PERSONS_MAX = 10_000_000;
const COMPANIES_MAX = 5_000_000;
const SEED_MAX = 2 ** 40;
/** Salts of each seed: more than the properties of a row. */
const SALTS_PER_SEED = 4096;
const ROWS_PER_SLICE = 50_000;

/**
 * Fills an empty graph in one transaction and returns the numbers of rows. Throws `AppError` `graph_not_empty`
 * when any table has a row, `invalid_parameter` for a size or a seed outside the limits.
 */
export async function generateGraph(
  sql: Database,
  options: GenerateGraphOptions,
): Promise<GraphCounts> {
  assertSize('persons', options.persons, 0, PERSONS_MAX);
  assertSize('companies', options.companies, 1, COMPANIES_MAX);
  assertSize('seed', options.seed, 0, SEED_MAX);
  const report = options.onProgress ?? (() => {});
  await writeGraph(sql, async (tx) => {
    if (!(await isGraphEmpty(tx))) throw graphNotEmpty();
    await prepareForBulk(tx);
    await createDrawFunctions(tx);
    const indexes = await dropFilledIndexes(tx);
    await createWordTables(tx);
    await fill(tx, options, report);
    for (const [done, statement] of indexes.entries()) {
      await restoreIndex(tx, statement);
      report({ step: 'indexes', done: done + 1, total: indexes.length });
    }
  });
  await analyzeGraph(sql);
  return await countGraph(sql);
}

async function fill(
  tx: Sql,
  { persons, companies, seed }: GenerateGraphOptions,
  report: (progress: GenerateProgress) => void,
): Promise<void> {
  const salt = seed * SALTS_PER_SEED;
  await createCompanyWords(tx, { salt, companies });
  await eachSlice(companies, salt, async (slice: CompanySlice) => {
    await insertCompanies(tx, slice);
    await insertCompanyIdentifiers(tx, slice);
    report({ step: 'companies', done: slice.toId, total: companies });
  });
  await analyzeCompanies(tx);
  await createPeopleStage(tx);
  await eachSlice(persons, salt, (slice) => stagePeople(tx, { ...slice, companies }));
  await numberNamesakes(tx);
  await eachSlice(persons, salt, async (slice: PersonSlice) => {
    await insertPeople(tx, { ...slice, companies });
    report({ step: 'people', done: slice.toId, total: persons });
  });
  await eachSlice(persons, salt, async (slice) => {
    await insertPersonIdentifiers(tx, slice);
    report({ step: 'identifiers', done: slice.toId, total: persons });
  });
  await insertFinancialPeriods(tx, { salt });
  await insertOfficers(tx, { salt });
  report({ step: 'officers', done: 1, total: 1 });
  await eachSlice(companies, salt, async (slice) => void (await renderCompanyRecords(tx, slice)));
  await eachSlice(persons, salt, async (slice) => {
    await renderPersonRecords(tx, slice);
    report({ step: 'records', done: slice.toId, total: persons });
  });
  await rebuildLookups(tx);
  await refreshNameCounts(tx);
}

/** Calls `work` with ranges of ids that together cover 1 to `total`. */
async function eachSlice(
  total: number,
  salt: number,
  work: (slice: { salt: number; fromId: number; toId: number }) => Promise<void>,
): Promise<void> {
  for (let fromId = 1; fromId <= total; fromId += ROWS_PER_SLICE) {
    const toId = Math.min(total, fromId + ROWS_PER_SLICE - 1);
    assert(toId >= fromId, 'a slice holds at least one id');
    await work({ salt, fromId, toId });
  }
}

function assertSize(field: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw invalidParameter(field, `must be a whole number from ${min} to ${max}`);
}

function graphNotEmpty(): AppError {
  return conflict(
    'graph_not_empty',
    'The graph already contains rows. Generate into an empty database.',
  );
}
