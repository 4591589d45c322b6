/**
 * Person search: pages of a hundred compared with handwritten SQL for the same people on the same tables, then
 * paging by `skip`, a cold `skip`, and the preview. Both end in JSON; ours also parses, looks names up and
 * applies the do-not-contact list. The call over HTTP, including the charge, is reported too.
 */

import { createAccount } from '../src/core/accounts/accounts.ts';
import { connect, type Database } from '../src/core/db/client.ts';
import { personFields } from '../src/core/graph/fields.ts';
import { recordToJson } from '../src/core/graph/record.ts';
import { createKey } from '../src/core/keys/keys.ts';
import { assert, must } from '../src/core/lib/assert.ts';
import { compileSearch } from '../src/core/search/compile.sql.ts';
import { readPage } from '../src/core/search/page.ts';
import { parseFilter } from '../src/core/search/parse.ts';
import { defaultOrder } from '../src/core/search/parse-page.ts';
import { prepareFilter } from '../src/core/search/prepare.ts';
import { previewSearch } from '../src/core/search/preview.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import type { RunPair } from './interleave.ts';
import { searchCases } from './search-cases.ts';

const RUNS = 40;
const WARM_UP = 5;
const PAGE = {
  limit: 100,
  skip: 0,
  cursor: null,
  order: defaultOrder,
  count: false,
  partial: false,
  fields: null,
};
/** Most people have one; half a million of them are paged through. */
const COMMON = 'workEmail=*';
const SKIPPED = 500_000;
const STEP = 1000;

interface Bench {
  stack: BenchStack;
  sql: Database;
  accountId: string;
  key: string;
}

export async function measureSearch(
  stack: BenchStack,
  say: (line: string) => void,
): Promise<BenchResult[]> {
  const accountId = await createAccount(stack.sql, { name: 'Bench', credits: 1_000_000_000 });
  const limits = { requestsPerMinute: 1_000_000, requestsPerDay: 10_000_000 };
  const { key } = await createKey(stack.sql, { accountId, mode: 'live', ...limits });
  const sql = connect({ url: stack.databaseUrl, connections: 4, plansForValues: true });
  const bench = { stack, sql, accountId, key };
  try {
    const results: BenchResult[] = [];
    for (const { name, query, byHand } of searchCases) {
      results.push(await measurePages(bench, { name, query, byHand }));
      say(`  ${name}: ${JSON.stringify(results.at(-1)?.details)}`);
    }
    results.push(await measurePreview(bench));
    results.push(...(await measureSkips(bench)));
    return results;
  } finally {
    await sql.end();
  }
}

/** Reads a page of a hundred people and writes it as the API would. */
export async function readPageAsJson(
  sql: Database,
  hints: Database,
  { query, owner }: { query: string; owner: { accountId: string; live: boolean } },
): Promise<{ ids: number[]; bytes: number }> {
  const prepared = await prepareFilter(sql, parseFilter(query), owner);
  const { people } = await readPage({ graph: sql, hints }, prepared, PAGE);
  const body = `[${people.map(({ record }) => recordToJson(personFields, record)).join(',')}]`;
  return { ids: people.map(({ id }) => id), bytes: body.length };
}

/** Pages of one filter, ours and by hand in turn. */
async function measurePages(
  { stack, sql, accountId, key }: Bench,
  { name, query, byHand }: { name: string; query: string; byHand: string },
): Promise<BenchResult> {
  const owner = { accountId, live: true };
  const ours = () => readPageAsJson(sql, stack.sql, { query, owner });
  const reference = async () => {
    const rows = await sql.unsafe<{ id: number }[]>(wholePeople(byHand), [], { prepare: true });
    return { ids: rows.map(({ id }) => id), bytes: JSON.stringify(rows).length };
  };
  const runs: { ours: number; reference: number }[] = [];
  const overHttp: number[] = [];
  let people = 0;
  for (let run = -WARM_UP; run < RUNS; run++) {
    const mine = await timed(ours);
    const theirs = await timed(reference);
    assert(`${mine.value.ids}` === `${theirs.value.ids}`, `${name} means the same people by hand`);
    people = mine.value.ids.length;
    const call = await timed(() => get(stack, key, `/personsearch/?${query}&limit=100`));
    if (run < 0) continue;
    runs.push({ ours: mine.ms, reference: theirs.ms });
    overHttp.push(call.ms);
  }
  const { buffers } = await readBuffers(sql, query, owner);
  return {
    name: `search-${name}`,
    unit: 'ms',
    ours: quantile(
      runs.map((run) => run.ours),
      0.5,
    ),
    reference: quantile(
      runs.map((run) => run.reference),
      0.5,
    ),
    against: 'the same hundred people as JSON, by a statement written by hand',
    better: 'lower',
    goal: 1.25,
    details: {
      people,
      oursP95: quantile(
        runs.map((run) => run.ours),
        0.95,
      ),
      httpMedian: quantile(overHttp, 0.5),
      httpP95: quantile(overHttp, 0.95),
      buffersPerPerson: Number((buffers / Math.max(1, people)).toFixed(1)),
    },
    runs: runs.map(toPair),
  };
}

/** The people with the data of other tables in their records, as a handwritten select. */
function wholePeople(byHand: string): string {
  return `select p.*, i.name as industry, j.name as position_name, c.name as company, t.name as city,
      n.name as country, g.name as region
    from (${byHand} order by s.id limit 100) f
    join persons p on p.id = f.id
    left join industries i on i.id = p.industry_id
    left join positions j on j.id = p.position_id
    left join companies c on c.id = p.company_id
    left join cities t on t.id = p.city_id
    left join countries n on n.id = p.country_id
    left join regions g on g.id = p.region_id
    order by p.id`;
}

/** Shared buffers that finding the ids of a page reads. */
async function readBuffers(
  sql: Database,
  query: string,
  owner: { accountId: string; live: boolean },
): Promise<{ buffers: number }> {
  const prepared = await prepareFilter(sql, parseFilter(query), owner);
  const [row] = await sql<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }[]>`
    explain (analyze, buffers, format json)
    select s.id from person_search s where ${compileSearch(sql, prepared)}
    order by s.id limit 101`;
  const [plan] = Object.values(must(row, 'plan'))[0] as { Plan: Record<string, number> }[];
  const { 'Shared Hit Blocks': hit = 0, 'Shared Read Blocks': read = 0 } = must(plan, 'plan').Plan;
  return { buffers: hit + read };
}

/** A preview of three tenths of the people, compared with its maximum of a second. */
async function measurePreview({ sql, accountId }: Bench): Promise<BenchResult> {
  const prepared = await prepareFilter(sql, parseFilter('email=*'), { accountId, live: true });
  const runs: { ours: number; reference: number }[] = [];
  let total = 0;
  for (let run = 0; run < 7; run++) {
    const { ms, value } = await timed(() => previewSearch(sql, prepared));
    total = value.total;
    runs.push({ ours: ms, reference: 1000 });
  }
  return {
    name: 'search-preview',
    unit: 'ms',
    ours: quantile(
      runs.map((run) => run.ours),
      0.5,
    ),
    reference: 1000,
    against: 'one second',
    better: 'lower',
    goal: 1,
    details: { people: total },
    runs: runs.map(toPair),
  };
}

/** Paging by `skip`, the last page compared with the first; and a cold `skip`. */
async function measureSkips({ stack, key }: Bench): Promise<BenchResult[]> {
  const times: number[] = [];
  for (let skip = 0; skip <= SKIPPED; skip += STEP) {
    const path = `/personsearch/?${COMMON}&skip=${skip}&limit=${STEP}`;
    const { ms, value } = await timed(() => get(stack, key, path));
    if (value < STEP) break;
    times.push(ms);
  }
  const first = quantile(times.slice(0, 10), 0.5);
  const last = quantile(times.slice(-10), 0.5);
  const cold = await timed(() =>
    get(stack, key, `/personsearch/?${COMMON}&createdAt=2000-01-01..&skip=${SKIPPED / 2}&limit=1`),
  );
  const common = { unit: 'ms', better: 'lower' as const };
  return [
    {
      ...common,
      name: 'search-skip-deep',
      ours: last,
      reference: first,
      against: 'the first pages',
      goal: 3,
      details: { pages: times.length, people: times.length * STEP },
      runs: [toPair({ ours: last, reference: first })],
    },
    {
      ...common,
      name: 'search-skip-cold',
      ours: cold.ms,
      reference: 2000,
      against: 'two seconds',
      goal: 1,
      details: { skip: SKIPPED / 2 },
      runs: [toPair({ ours: cold.ms, reference: 2000 })],
    },
  ];
}

/** Calls the API; returns the number of people. */
async function get(stack: BenchStack, key: string, path: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(new URL(path, stack.url), { headers });
  assert(response.status === 200, `${path}: ${response.status}`);
  return ((await response.json()) as unknown[]).length;
}

export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const started = performance.now();
  const value = await work();
  return { ms: performance.now() - started, value };
}

export function toPair({ ours, reference }: { ours: number; reference: number }): RunPair {
  return { ours: { wallSeconds: ours / 1000 }, reference: { wallSeconds: reference / 1000 } };
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * part));
  return Number(must(sorted[index], 'a measurement').toFixed(2));
}
