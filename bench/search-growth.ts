/** The same pages of person search over a tenth of the people: the cost of a larger graph. */
import { createAccount } from '../src/core/accounts/accounts.ts';
import { connect } from '../src/core/db/client.ts';
import { type BenchGraph, type BenchStack, openBenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { quantile, readPageAsJson, timed, toPair } from './search.ts';
import { searchCases } from './search-cases.ts';

const RUNS = 40;
const WARM_UP = 5;

/** Medians of the pages of all filters, over the whole graph and over one of a tenth of its people. */
export async function measureSearchGrowth(
  stack: BenchStack,
  graph: BenchGraph,
  say: (line: string) => void,
): Promise<BenchResult> {
  const tenth = { ...graph, persons: graph.persons / 10, companies: graph.companies / 10 };
  await using small = await openBenchStack(tenth, say);
  await using largePages = await openPages(stack);
  await using smallPages = await openPages(small);
  const medians: Record<string, { large: number; small: number; people: [number, number] }> = {};
  const pairs: { ours: number; reference: number }[] = [];
  for (const { name, query } of searchCases) {
    const runs: { large: number; small: number }[] = [];
    let people: [number, number] = [0, 0];
    for (let run = -WARM_UP; run < RUNS; run++) {
      const large = await timed(() => largePages.read(query));
      const few = await timed(() => smallPages.read(query));
      people = [large.value.ids.length, few.value.ids.length];
      if (run >= 0) runs.push({ large: large.ms, small: few.ms });
    }
    pairs.push(...runs.map((run) => ({ ours: run.large, reference: run.small })));
    medians[name] = {
      large: quantile(
        runs.map((run) => run.large),
        0.5,
      ),
      small: quantile(
        runs.map((run) => run.small),
        0.5,
      ),
      people,
    };
    say(`  ${name}: ${JSON.stringify(medians[name])}`);
  }
  return {
    name: 'search-growth',
    unit: 'ms',
    ours: quantile(
      pairs.map((pair) => pair.ours),
      0.5,
    ),
    reference: quantile(
      pairs.map((pair) => pair.reference),
      0.5,
    ),
    against: 'the same pages over a tenth of the people',
    better: 'lower',
    goal: 1.5,
    details: medians,
    runs: pairs.map(toPair),
  };
}

interface Pages extends AsyncDisposable {
  read(query: string): Promise<{ ids: number[] }>;
}

async function openPages(stack: BenchStack): Promise<Pages> {
  const owner = {
    accountId: await createAccount(stack.sql, { name: 'Bench', credits: 0 }),
    live: true,
  };
  const sql = connect({ url: stack.databaseUrl, connections: 1, plansForValues: true });
  return {
    read: (query) => readPageAsJson(sql, stack.sql, { query, owner }),
    [Symbol.asyncDispose]: () => sql.end(),
  };
}
