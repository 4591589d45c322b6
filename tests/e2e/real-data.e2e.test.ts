/** Real people and companies, and lists about them as sales teams export them, through the service. */
import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Batch } from '../../src/client/api-types.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { buildIfStale } from './compiled-code.ts';
import {
  changedRows,
  countByKind,
  type EnrichedRow,
  type KindCounts,
  readEnrichedList,
} from './enriched-list.ts';
import { runJson } from './processes.ts';
import { type Service, startService } from './service.ts';

const data = path.join(packageRoot, '..', 'shared', 'data');
const isThere = existsSync(data);
if (!isThere) process.stdout.write('skipped: real data not found\n');

/** Kinds with a ground truth judged by eye, or with a cell that is not an identifier. */
const inexactKinds = /_labelled_pair$|^unparsed_email$/;
const foundShareMin = 0.97;
const needlesslyAmbiguousShareMax = 0.01;
const caseMs = 120_000;

const lists = [
  { name: 'leads', operation: 'people.enrich', id: 'person.id', expected: 'expected_person_id' },
  {
    name: 'companies',
    operation: 'companies.enrich',
    id: 'company.id',
    expected: 'expected_company_id',
  },
] as const;

describe.skipIf(!isThere)('the real data', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'enrich-real-'));
  let service: Service;
  let apiKey: string;

  beforeAll(async () => {
    await buildIfStale();
    service = await startService(path.join(root, 'data'));
    for (const entity of ['companies', 'persons']) {
      const file = path.join(data, 'graph', `${entity}.jsonl.gz`);
      const rejects = path.join(root, `${entity}.rejects.jsonl`);
      const report = await runJson<{ rejected: number }>(
        about('import', entity, file, '--rejects', rejects),
      );
      expect(report.rejected).toBe(0);
    }
    const account = about('account', 'create', '--name', 'Team', '--credits', '10000');
    const { account_id } = await runJson<{ account_id: string }>(account);
    const made = about('key', 'create', '--account', account_id, '--mode', 'live');
    apiKey = (await runJson<{ key: string }>(made)).key;
  }, caseMs);

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  }, 60_000);

  const about = (...words: string[]) => [...words, '--data-dir', service.dataDir];

  async function enrich(list: (typeof lists)[number]) {
    const file = path.join(data, 'leads', `${list.name}.csv`);
    const result = path.join(root, `${list.name}.enriched.csv`);
    const words = ['batch', 'run', file, '--operation', list.operation, '-o', result];
    const batch = await runJson<Batch>(about(...words), apiKey);
    const truth = path.join(data, 'leads', `${list.name}.truth.csv`);
    const rows = await readEnrichedList({ list: file, result, truth }, list.expected);
    return { batch, rows };
  }

  it.each(lists)(
    '$name: no person is mistaken for another',
    async (list) => {
      const { batch, rows } = await enrich(list);
      const kinds = countByKind(rows, list.id);
      print(list.name, kinds);
      expect(changedRows(rows)).toEqual([]);
      expectComplete(batch, rows);

      const exact = sum([...kinds].filter(([kind]) => !inexactKinds.test(kind)));
      expect(wrongRows(rows, list.id)).toEqual([]);
      expect(exact.found / exact.expected).toBeGreaterThanOrEqual(foundShareMin);
      const shared = kinds.get('ambiguous');
      expect(shared?.ambiguous, 'ambiguous rows reported as such').toBe(shared?.rows);
      const needless = exact.ambiguous - (shared?.rows ?? 0);
      expect(needless / exact.rows).toBeLessThanOrEqual(needlesslyAmbiguousShareMax);
      expect(missingDirectors(rows)).toEqual([]);
    },
    caseMs,
  );
});

/** Every row has one outcome, and each match was paid. */
function expectComplete({ state, rows: counts, credits }: Batch, rows: EnrichedRow[]): void {
  const { total, processed, ...outcomes } = counts;
  const added = Object.values(outcomes).reduce<number>((all, count) => all + (count ?? 0), 0);
  const matched = rows.filter(({ cell }) => cell('match.status') === 'matched').length;
  expect({ state, total, processed, added, charged: credits.charged }).toEqual({
    state: 'completed',
    total: rows.length,
    processed: rows.length,
    added: rows.length,
    charged: matched,
  });
}

/** Matches of exact kinds with another record than the expected one. */
function wrongRows(rows: readonly EnrichedRow[], idColumn: string): object[] {
  return rows.flatMap(({ input, truth, cell }) => {
    const isWrong = cell('match.status') === 'matched' && cell(idColumn) !== truth.expectedId;
    if (!isWrong || inexactKinds.test(truth.kind)) return [];
    return [{ input, ...truth, by: cell('match.by'), matched: cell(idColumn) }];
  });
}

/** Rows found by a UK number with other directors than the known ones. */
function missingDirectors(rows: readonly EnrichedRow[]): object[] {
  return rows
    .filter(({ truth, cell }) => truth.kind === 'match_with_directors' && cell('company.id') !== '')
    .flatMap(({ input, truth, cell }) => {
      const directors = JSON.parse(cell('company.directors')) as { person_id: number | null }[];
      const ids = new Set(directors.map(({ person_id }) => String(person_id)));
      const missing = truth.candidates.filter((id) => !ids.has(id));
      return missing.length === 0 ? [] : [{ input, missing, directors }];
    });
}

function sum(kinds: readonly (readonly [string, KindCounts])[]): KindCounts {
  const all = { rows: 0, expected: 0, found: 0, wrong: 0, ambiguous: 0, other: 0 };
  for (const [, counts] of kinds) {
    for (const name of Object.keys(all) as (keyof KindCounts)[]) all[name] += counts[name];
  }
  return all;
}

function print(name: string, kinds: Map<string, KindCounts>): void {
  const line = (cells: (string | number)[]) => {
    const [first, ...rest] = cells;
    return `${String(first).padEnd(28)}${rest.map((cell) => String(cell).padStart(10)).join('')}\n`;
  };
  let text = line([name, 'rows', 'expected', 'found', 'wrong', 'ambiguous', 'other']);
  for (const [kind, counts] of [...kinds].sort()) text += line([kind, ...Object.values(counts)]);
  process.stdout.write(`\n${text}`);
}
