/** Every change of what matching reads has a number, in the order of commits, and lists the records that it touched. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { smallGraph } from '../../../tests/support/small-graph.ts';
import { connect, type Database } from '../db/client.ts';
import { packageRoot } from '../lib/package-root.ts';
import { suppress } from '../suppression/suppress.ts';
import { deleteOldChanges } from './changes.sql.ts';
import { deletePersons } from './delete-persons.ts';
import { writeGraph } from './write-graph.ts';

let database: TestDatabase;
let sql: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
  await importGraph(sql, smallGraph);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`delete from graph_changes where number > 0`;
  await sql`delete from changed_records`;
});

const PERSON = 2;
const COMPANY = 1;

/** The changes since the test began: what each touched, `whole` for more than is listed. */
async function changes(): Promise<unknown[]> {
  const rows = await sql<{ number: number; isWhole: boolean; touched: string[] }[]>`
    select number, is_whole, array(
      select entity || ':' || id from changed_records r where r.number = c.number order by 1) as touched
    from graph_changes c where number > 0 order by number`;
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
  return rows.map(({ isWhole, touched }) => (isWhole ? 'whole' : touched));
}

const person = (id: number) => `${PERSON}:${id}`;
const company = (id: number) => `${COMPANY}:${id}`;

test('every table that matching reads is watched for every statement that can change it', async () => {
  const text = await readFile(path.join(packageRoot, 'src/core/enrich/records.sql.ts'), 'utf8');
  const named = [...text.matchAll(/\b(?:from|join) (?<table>[a-z]+(?:_[a-z]+)*)\b(?! *\()/g)];
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'graph'::regnamespace and relkind = 'r'
      and relname = any(${named.map(({ groups }) => groups?.table ?? '')}::text[])`;
  expect(tables.length).toBeGreaterThan(7);
  for (const schema of ['graph', 'graph_test']) {
    const watched = await sql<{ name: string; triggers: string[] }[]>`
      select relname as name, array_agg(tgname::text order by tgname) as triggers
      from pg_trigger join pg_class on pg_class.oid = tgrelid
      where relnamespace = ${schema}::regnamespace and tgname like 'note\_%' and tgenabled = 'O'
      group by relname`;
    expect(watched.map(({ name }) => name).sort()).toEqual(tables.map(({ name }) => name).sort());
    for (const { triggers } of watched) {
      expect(triggers).toEqual(['note_deleted', 'note_inserted', 'note_truncated', 'note_updated']);
    }
  }
});

describe('a change lists', () => {
  test('the people and companies of an import, and nothing when it changes nothing', async () => {
    await importGraph(sql, { persons: [{ id: 1, email: 'new@home.example' }] });
    // She is no longer the person that a director of Acme is.
    expect(await changes()).toEqual([[company(10), person(1)]]);
    await importGraph(sql, { persons: [{ id: 1, email: 'new@home.example' }] });
    expect(await changes()).toHaveLength(1);
    const { companies = [] } = smallGraph;
    const renamed = companies.map((one) =>
      one.id === 10 ? { ...one, name: 'Acme Two Ltd' } : one,
    );
    await importGraph(sql, { companies: renamed });
    // Ada works there: her record has the name.
    expect((await changes())[1]).toEqual(expect.arrayContaining([company(10)]));
  });

  test('a person who opted out, and the companies of which they are an officer', async () => {
    await suppress(sql, 'out@home.example');
    expect(await changes()).toEqual([expect.arrayContaining([person(5), company(10)])]);
  });

  describe('the companies of which a person becomes, is no longer, or stays a director', () => {
    const officer = { companyId: 600, name: 'DOE, Jane', role: 'director', birthYear: 1970 };
    const jane = { id: 601, name: 'Jane', surname: 'Doe', birthYear: 1970 };
    const link = { ...officer, companyId: 610, name: 'X', personId: 601, birthYear: null };
    const importJane = (change: object) => importGraph(sql, { persons: [{ ...jane, ...change }] });
    beforeAll(() =>
      importGraph(sql, { companies: [600, 610].map((id) => ({ id })), officers: [officer, link] }),
    );
    afterAll(() => sql`delete from officers where company_id in (600, 610)`);

    test.each<[string, boolean, () => Promise<unknown>]>([
      ['is born', true, () => importJane({})],
      ['has another title', false, () => importJane({ title: 'Dr' })],
      ['has another month of birth', true, () => importJane({ birthDate: '1970-03-01' })],
      ['marries', true, () => importJane({ surname: 'Roe' })],
      ['divorces', true, () => importJane({})],
      ['has another year of birth', true, () => importJane({ birthYear: 1971 })],
      ['has the former one', true, () => importJane({})],
      [
        'opts out, by hand',
        true,
        () => sql`insert into suppressed_persons (person_id, number) values (601, 0)`,
      ],
      ['takes that back', true, () => sql`delete from suppressed_persons where person_id = 601`],
      ['is deleted, by hand', true, () => sql`delete from persons where id = 601`],
    ])('a person who %s', async (_name, isNoted, change) => {
      await change();
      const touched = (await changes()).flat();
      const both = [company(600), company(610)];
      if (isNoted) expect(touched).toEqual(expect.arrayContaining(both));
      else for (const one of both) expect(touched).not.toContain(one);
    });
  });

  test('a deleted person', async () => {
    await deletePersons(sql, [2]);
    expect(await changes()).toEqual([[company(10), person(2)]]);
  });

  test('what is written by hand, whatever the search path is', async () => {
    const bare = connect({ url: database.url, connections: 1 });
    await bare`set search_path to pg_catalog`;
    await bare`update graph.person_identifiers set person_id = 40 where person_id = 4`;
    await bare`insert into graph_test.company_records values (7, 'A')`;
    await bare.end();
    expect(await changes()).toEqual([[person(4), person(40)]]);
    const [test] = await sql`select number, entity, id from graph_test.changed_records`;
    expect(test).toEqual({ number: 1, entity: COMPANY, id: 7 });
  });

  test('up to a quarter as many records as a large graph has', async () => {
    await sql`insert into company_records select id, 'x' from generate_series(100000, 159999) id`;
    await sql`analyze company_records`;
    await sql`insert into company_records select id, 'x' from generate_series(200000, 211999) id`;
    await writeGraph(sql, async (tx) => {
      await tx`insert into company_records select id, 'x' from generate_series(300000, 311999) id`;
      await tx`update company_records set record = 'y' where id between 300000 and 311999`;
      await tx`delete from company_records where id between 100000 and 111999`;
    });
    const listed = (await changes()).map((change) => (change === 'whole' ? change : 'listed'));
    expect(listed).toEqual(['whole', 'listed', 'whole']);
    await sql`delete from company_records where id >= 100000`;
    await sql`analyze company_records`;
  });

  test('everything, when it touches more than ten thousand records or empties a table', async () => {
    await sql`insert into company_records select id, 'x' from generate_series(1000, 11000) id`;
    await writeGraph(sql, async (tx) => {
      await tx`insert into company_records values (20000, 'x')`;
      await tx`truncate company_records`;
      await tx`insert into company_records values (20000, 'x')`;
    });
    expect(await changes()).toEqual(['whole', 'whole']);
  });
});

test('one transaction takes one number, and gives it back when it is rolled back', async () => {
  await writeGraph(sql, async (tx) => {
    await tx`insert into person_briefs values (71, '')`;
    await tx`insert into company_records values (72, '')`;
  });
  const failing = writeGraph(sql, async (tx) => {
    await tx`insert into person_briefs values (73, '')`;
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await sql`insert into person_briefs values (74, '')`;
  expect(await changes()).toEqual([[company(72), person(71)], [person(74)]]);
});

test('numbers are in the order of commits, also of a writer without the lock', async () => {
  const [written, mayEnd] = [new Signal(), new Signal()];
  const first = writeGraph(sql, async (tx) => {
    await tx`insert into person_briefs values (81, '')`;
    written.raise();
    await mayEnd.raised;
  });
  await written.raised;
  const second = sql`insert into person_briefs values (82, '')`.execute();
  let blocked = 0;
  while (blocked === 0) {
    const [row] = await sql<{ blocked: number }[]>`
      select count(*)::int as blocked from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    blocked = row?.blocked ?? 0;
  }
  mayEnd.raise();
  await Promise.all([first, second]);
  expect(await changes()).toEqual([[person(81)], [person(82)]]);
});

test('old changes are deleted, and never the last ones', async () => {
  await sql`update graph_changes set changed_at = now() - interval '8 days'`;
  await sql`
    insert into graph_changes (number, changed_at) select n, now() - interval '8 days'
    from generate_series(1, 1500) n`;
  await sql`insert into changed_records select n, 2, 1 from generate_series(1, 1500) n`;
  await deleteOldChanges(sql);
  const [kept] = await sql`
    select (select min(number) from graph_changes) as changes, (select min(number) from changed_records) as records`;
  expect(kept).toEqual({ changes: 501, records: 501 });
  await sql`update graph_changes set changed_at = now()`;
  await sql`insert into graph_changes (number) select n from generate_series(1501, 3000) n`;
  await deleteOldChanges(sql);
  expect((await sql`select min(number) from graph_changes`)[0]).toEqual({ min: 501 });
});
