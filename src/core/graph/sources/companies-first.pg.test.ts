/** People are built after the companies to which they refer, also when another import queues these meanwhile. */
import { afterAll, beforeAll, expect, it } from 'vitest';
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

let database: TestDatabase;
/** Another writer of the graph, and an observer. */
let other: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  other = connect({ url: database.url, connections: 2 });
});
afterAll(async () => {
  await other.end();
  await database.drop();
});

it('a contact has the industry of a company that another import has queued since the companies were built', async () => {
  const { sql } = database;
  const domain = 'acme.example';
  const rows = filesOf([
    { entity: 'company', key: '7', record: { name: 'Acme', domain, industry: 'Mining' } },
    {
      entity: 'person',
      key: '1',
      record: { name: 'Ada', surname: 'Lark' },
      company: [`domain:${domain}`],
    },
  ]);
  await importSource(sql, sourceInput({ rows }), { rejects: noRejects() });
  const industryOfAda = async () => {
    const [ada] = await sql<{ industry: string | null }[]>`
      select i.name as industry from persons p left join industries i on i.id = p.industry_id`;
    return ada?.industry;
  };
  expect(await industryOfAda()).toBe('Mining');

  const [ada] = await sql<{ id: number }[]>`select id from persons`;
  await sql`insert into records_to_build (entity, id) values (${entityCodes.person}, ${ada?.id ?? 0})`;
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
