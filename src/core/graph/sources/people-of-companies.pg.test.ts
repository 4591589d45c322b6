/** People have the industry of the company to which they refer, whatever changes it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { Signal } from '../../../../tests/support/signal.ts';
import { filesOf, noRejects, sourceInput } from '../../../../tests/support/source-input.ts';
import { untilBlocked } from '../../../../tests/support/until-blocked.ts';
import { connect, type Database, inTransaction } from '../../db/client.ts';
import { lockGraphForWriting } from '../graph.sql.ts';
import { importValues } from '../import/import-harness.test-suite.ts';
import { entityCodes } from '../source-entities.ts';
import { buildQueued } from './build.ts';
import { importSource } from './import-source.ts';
import type { SourceRecord } from './source-record.ts';

let database: TestDatabase;
/** Another writer of the graph, and an observer. */
let other: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  other = connect({ url: database.url, connections: 2 });
});
afterEach(async () => {
  await other.end();
  await database.drop();
});

const domain = 'acme.example';
const acme = { name: 'Acme', domain };
const ada: SourceRecord = {
  entity: 'person',
  key: '1',
  record: { name: 'Ada', surname: 'Lark' },
  company: ['key:partners/7'],
};

async function load(source: string, asOf: string, ...records: SourceRecord[]): Promise<void> {
  const input = sourceInput({ source, asOf, rows: filesOf(records) });
  await importSource(database.sql, input, { rejects: noRejects() });
}

async function industryOfAda(): Promise<string | null | undefined> {
  const [row] = await database.sql<{ industry: string | null }[]>`
    select i.name as industry from persons p left join industries i on i.id = p.industry_id`;
  return row?.industry;
}

it('a contact has the industry that another source names for the company, until that one is another company', async () => {
  await load('partners', '2026-01-01', { entity: 'company', key: '7', record: acme }, ada);
  expect(await industryOfAda()).toBeNull();
  const listed = { entity: 'company', key: 'x' } as const;
  await load('pdl', '2026-01-02', { ...listed, record: { ...acme, industry: 'Mining' } });
  expect(await industryOfAda()).toBe('Mining');
  await load('pdl', '2026-01-03', { ...listed, record: { ...acme, industry: 'Banking' } });
  expect(await industryOfAda()).toBe('Banking');
  const other = { ...acme, domain: 'other.example', industry: 'Banking' };
  await load('pdl', '2026-01-04', { ...listed, record: other });
  expect(await industryOfAda()).toBeNull();
});

it('a contact has the industry of a company that another import has queued since the companies were built', async () => {
  const { sql } = database;
  const record = { ...acme, industry: 'Mining' };
  await load('partners', '2026-01-01', { entity: 'company', key: '7', record }, ada);
  expect(await industryOfAda()).toBe('Mining');

  const [person] = await sql<{ id: number }[]>`select id from persons`;
  await sql`insert into records_to_build (entity, id) values (${entityCodes.person}, ${person?.id ?? 0})`;
  // Both wait for their turn to write: an import of a company that has no industry of its own, and the build of Ada.
  const locked = new Signal();
  const waiting = new Signal();
  const holding = inTransaction(other, async (tx) => {
    await lockGraphForWriting(tx);
    locked.raise();
    await waiting.raised;
  });
  await locked.raised;
  const importing = importValues(sql, 'companies', [{ id: 5, name: 'Acme (own)', domain }]);
  await untilBlocked(other, 1);
  const building = buildQueued(sql);
  await untilBlocked(other, 2);
  waiting.raise();
  await Promise.all([holding, importing, building]);
  expect(await industryOfAda()).toBe('Mining');
});
