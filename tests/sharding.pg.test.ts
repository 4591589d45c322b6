/**
 * Which statements would leave one shard if the graph lay on several servers: what docs/scaling.md says of
 * Citus, counted. Identifiers are hashed by their value, people and companies by their id. Vocabularies
 * and suppressions, which are small, are on every server; accounts, batches and credits stay on one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction, type Sql } from '../src/core/db/client.ts';
import { type CountingProxy, openCountingProxy } from './support/counting-proxy.ts';
import { importGraph } from './support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from './support/pipeline.ts';
import { crowd, smallGraph } from './support/small-graph.ts';

/** The column that each table is hashed by, and whose hash it is: tables of one hash lie together. */
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
 * `one_server` reads no hashed table. `by_key` reads each by the column of its hash, so the shards that hold
 * the keys answer alone. `two_hashes` does so too, but takes the keys of one from the rows of another, which
 * are elsewhere. `all_shards` has no key, or no hash: every shard is asked.
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

/** How far the statements reach that `act` runs, once each. */
async function reachOf(act: () => Promise<unknown>): Promise<Record<Reach, number>> {
  proxy.take();
  await act();
  const reaches: Record<Reach, number> = { one_server: 0, by_key: 0, two_hashes: 0, all_shards: 0 };
  const texts = Object.keys(proxy.take().texts);
  for (const text of texts) reaches[await planReach(text)]++;
  return reaches;
}

/** The reach of a statement, by the plan that a large graph would get: no table is read from end to end. */
async function planReach(sent: string): Promise<Reach> {
  // A cursor reaches as far as what it reads.
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

/** The scans of hashed tables in a plan, and whether the column of the hash finds their rows. */
function scansOf(node: PlanNode): { by: string; isKeyed: boolean }[] {
  const table = hashed[node['Relation Name'] ?? ''];
  const below = (node.Plans ?? []).flatMap(scansOf);
  if (table === undefined) return below;
  const condition = node['Index Cond'] ?? node['Recheck Cond'] ?? '';
  const isKeyed = new RegExp(`\\b${table.column} = `).test(condition);
  return [...below, { by: table.by, isKeyed }];
}

/** What is asked of hashed tables when keys lead to all of it. */
const nothingElse = { two_hashes: 0, all_shards: 0 };

const list = (header: string, ...rows: string[]) => `${[header, ...rows].join('\n')}\n`;

test('a list asks the shards of its identifiers and then those of its records', async () => {
  const run = (operation: string, text: string) =>
    reachOf(() => pipeline.enrich(caller, text, { operation }));
  const emails = list('Email', 'p1@list.example', 'p2@list.example', 'nobody@list.example');
  const numbers = list('Company number', '01234567');
  expect(await run('people.enrich', emails)).toMatchObject({ by_key: 2, ...nothingElse });
  expect(await run('companies.financials', numbers)).toMatchObject({ by_key: 3, ...nothingElse });
  // A director without a link is looked for by name and birth, which is no hash.
  const companies = await run('companies.enrich', numbers);
  expect(companies).toMatchObject({ by_key: 2, two_hashes: 0, all_shards: 1 });
  // The employer lies where its own id says.
  const withCompany = await run('people.enrich-with-company', emails);
  expect(withCompany).toMatchObject({ by_key: 1, two_hashes: 1, all_shards: 0 });
});

const call = async (pathname: string) => {
  const answer = await pipeline.call(caller, pathname);
  expect(answer.status, await answer.text()).toBe(200);
};

test('a call asks the shard of its identifier and that of the record', async () => {
  const reach = await reachOf(() => call('/v1/people/enrich?email=p1@list.example'));
  expect(reach).toMatchObject({ by_key: 2, ...nothingElse });
});

test('a lookup asks no shard', async () => {
  const reach = await reachOf(() => call('/v1/lookups/job-titles?q=cook'));
  expect(reach).toMatchObject({ by_key: 0, ...nothingElse });
});

test('a page of a search asks all shards, once', async () => {
  const reach = await reachOf(() => call('/personsearch/?surname=Lovely'));
  expect(reach).toMatchObject({ by_key: 0, two_hashes: 0, all_shards: 1 });
});

test('an export asks all shards once for its ids, and then those of the people', async () => {
  const reach = await reachOf(async () => {
    await pipeline.makeExport(caller, { filter: 'id=1001-1010', fields: ['id'] });
    await pipeline.runUntilIdle();
  });
  expect(reach).toMatchObject({ by_key: 1, two_hashes: 0, all_shards: 1 });
});
