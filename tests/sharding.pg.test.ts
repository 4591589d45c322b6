/**
 * Counts the statements that would leave one shard if the graph were on several servers, as docs/scaling.md
 * describes for Citus. Identifiers are hashed by value, people and companies by id. Vocabularies and
 * suppressions, which are small, are on every server; accounts, batches and credits stay on one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction, type Sql } from '../src/core/db/client.ts';
import { type CountingProxy, openCountingProxy } from './support/counting-proxy.ts';
import { importGraph } from './support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from './support/pipeline.ts';
import { crowd, smallGraph } from './support/small-graph.ts';

/** The hash column of each table and its hash group: tables of one group are on the same shards. */
const hashed: Record<string, { column: string; by: 'value' | 'person' | 'company' }> = {
  person_identifiers: { column: 'value', by: 'value' },
  company_identifiers: { column: 'value', by: 'value' },
  persons: { column: 'id', by: 'person' },
  person_records: { column: 'id', by: 'person' },
  person_briefs: { column: 'id', by: 'person' },
  person_search: { column: 'id', by: 'person' },
  companies: { column: 'id', by: 'company' },
  company_records: { column: 'id', by: 'company' },
  officers: { column: 'company_id', by: 'company' },
  financial_periods: { column: 'company_id', by: 'company' },
};

/**
 * `one_server` reads no hashed table. `by_key` reads each by its hash column, so only the shards of the keys
 * respond. `two_hashes` does so too, but takes the keys of one table from the rows of another, on other shards.
 * `all_shards` has no key or no hash: every shard is queried.
 */
type Reach = 'one_server' | 'by_key' | 'two_hashes' | 'all_shards';

interface PlanNode {
  'Relation Name'?: string;
  Alias?: string;
  'Index Cond'?: string;
  'Recheck Cond'?: string;
  Plans?: PlanNode[];
}

let proxy: CountingProxy;
let pipeline: Pipeline;
let caller: Caller;

beforeAll(async () => {
  pipeline = await openPipeline({}, 'files', async (url) => {
    proxy = await openCountingProxy(url);
    return proxy.url;
  });
  const { companies, persons, officers, financials } = smallGraph;
  await importGraph(pipeline.sql, { companies, persons, officers, financials });
  await importGraph(pipeline.sql, { persons: crowd(50) });
  caller = await pipeline.account(1_000_000);
});

afterAll(async () => {
  await pipeline.close();
  proxy.close();
});

/** The reach of each statement that `act` runs. */
async function reachOf(act: () => Promise<unknown>): Promise<Record<Reach, number>> {
  proxy.take();
  await act();
  const reaches: Record<Reach, number> = { one_server: 0, by_key: 0, two_hashes: 0, all_shards: 0 };
  const texts = Object.keys(proxy.take().texts);
  for (const text of texts) reaches[await planReach(text)]++;
  return reaches;
}

/** The reach of a statement, by its plan on a large graph: without sequential scans. */
async function planReach(sent: string): Promise<Reach> {
  // A cursor has the reach of its query.
  const text = sent.replace(/^\s*declare \w+ no scroll cursor for /i, '');
  if (!/^\s*(select|insert|update|delete|with|merge)/i.test(text)) return 'one_server';
  const plan = await inTransaction(pipeline.sql, async (tx) => {
    await tx`set local enable_seqscan = off`;
    await tx`set local enable_hashjoin = off`;
    await tx`set local enable_mergejoin = off`;
    return explain(tx, text);
  });
  const scans = scansOf(plan);
  if (scans.length === 0) return 'one_server';
  if (scans.some(({ isKeyed }) => !isKeyed)) return 'all_shards';
  return new Set(scans.map(({ by }) => by)).size === 1 ? 'by_key' : 'two_hashes';
}

async function explain(tx: Sql, text: string): Promise<PlanNode> {
  const [row] = (await tx.unsafe(`explain (generic_plan, format json) ${text}`)) as unknown as [
    { 'QUERY PLAN': [{ Plan: PlanNode }] },
  ];
  return row['QUERY PLAN'][0].Plan;
}

/** The scans of hashed tables in a plan, and whether they use the hash column. */
function scansOf(node: PlanNode): { by: string; isKeyed: boolean }[] {
  const table = hashed[node['Relation Name'] ?? ''];
  const below = (node.Plans ?? []).flatMap(scansOf);
  if (table === undefined) return below;
  const condition = node['Index Cond'] ?? node['Recheck Cond'] ?? '';
  const isKeyed = new RegExp(`\\b${table.column} = `).test(condition);
  return [...below, { by: table.by, isKeyed }];
}

/** The expected counts when all reads of hashed tables are by key. */
const nothingElse = { two_hashes: 0, all_shards: 0 };

const list = (header: string, ...rows: string[]) => `${[header, ...rows].join('\n')}\n`;

test('a list queries the shards of its identifiers, then those of its records', async () => {
  const run = (operation: string, text: string) =>
    reachOf(() => pipeline.enrich(caller, text, { operation }));
  const emails = list('Email', 'p1@list.example', 'p2@list.example', 'nobody@list.example');
  const numbers = list('Company number', '01234567');
  expect(await run('people.enrich', emails)).toMatchObject({ by_key: 2, ...nothingElse });
  expect(await run('companies.financials', numbers)).toMatchObject({ by_key: 3, ...nothingElse });
  // A director without a link is sought by name and birth, which are not hash columns.
  const companies = await run('companies.enrich', numbers);
  expect(companies).toMatchObject({ by_key: 2, two_hashes: 0, all_shards: 1 });
  // The employer is on the shard of its own id.
  const withCompany = await run('people.enrich-with-company', emails);
  expect(withCompany).toMatchObject({ by_key: 1, two_hashes: 1, all_shards: 0 });
});

const call = async (pathname: string) => {
  const answer = await pipeline.call(caller, pathname);
  expect(answer.status, await answer.text()).toBe(200);
};

test('a call takes the record of its person from another shard, in one statement', async () => {
  const reach = await reachOf(() => call('/v1/people/enrich?email=p1@list.example'));
  expect(reach).toMatchObject({ by_key: 0, two_hashes: 1, all_shards: 0 });
});

test('a lookup queries no shard', async () => {
  const reach = await reachOf(() => call('/v1/lookups/job-titles?q=cook'));
  expect(reach).toMatchObject({ by_key: 0, ...nothingElse });
});

test('a page of a search queries all shards once', async () => {
  const reach = await reachOf(() => call('/personsearch/?surname=Lovely'));
  expect(reach).toMatchObject({ by_key: 0, two_hashes: 0, all_shards: 1 });
});

test('an export queries all shards once for its ids, then those of the people', async () => {
  const reach = await reachOf(async () => {
    await pipeline.makeExport(caller, { filter: 'id=1001-1010', fields: ['id'] });
    await pipeline.runUntilIdle();
  });
  expect(reach).toMatchObject({ by_key: 1, two_hashes: 0, all_shards: 1 });
});
