/** Opted-out people stay unnamed: by hash, as an officer, and after the next import. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createFilledTemplate,
  type FilledTemplate,
  type TestDatabase,
} from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { acme, smallGraph } from '../../../tests/support/small-graph.ts';
import { enrichMany } from '../enrich/enrich-many.ts';
import { matchToJson } from '../enrich/match-data.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { must } from '../lib/assert.ts';
import { lastSuppression, suppressedSince } from './opted-out-people.ts';
import { suppress, suppressHashes, suppressPeople } from './suppress.ts';

const databases: TestDatabase[] = [];
let template: FilledTemplate;
let sql: TestDatabase['sql'];
beforeAll(async () => {
  template = await createFilledTemplate((empty) => importGraph(empty, smallGraph));
});
beforeEach(async () => {
  const database = await template.copy();
  databases.push(database);
  sql = database.sql;
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.drop()));
  await template.drop();
});

interface Director {
  name: string | null;
  role: string;
  appointed_on: string;
  person_id: number | null;
}

async function directors(): Promise<Director[]> {
  const identifiers = [{ kind: 'registry_number' as const, values: ['GB-01234567'] }];
  const [outcome] = await enrichMany(sql, 'companies.enrich', [{ identifiers, invalid: null }]);
  const answer = must(outcome?.match, 'answer');
  return (JSON.parse(matchToJson('companies.enrich', answer)) as { directors: Director[] })
    .directors;
}

async function statusOf(email: string): Promise<string | undefined> {
  const identifiers = [{ kind: 'email' as const, values: [email] }];
  const [outcome] = await enrichMany(sql, 'people.enrich', [{ identifiers, invalid: null }]);
  return outcome?.status;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const nameless = async () => (await directors()).filter(({ name }) => name === null);
const optedRoles = ['opted out, linked', 'opted out'];

describe('a director who opted out', () => {
  test('keeps role and dates without a name, whether linked or found by name and birth', async () => {
    const before = await directors();
    expect(before.filter(({ person_id: id }) => id === 5)).toHaveLength(2);
    await suppress(sql, 'out@home.example');
    const after = await directors();
    expect(after).toHaveLength(before.length);
    expect(
      (await nameless()).map(({ role, appointed_on, person_id }) => [
        role,
        appointed_on,
        person_id,
      ]),
    ).toEqual([
      ['opted out, linked', '2012-01-01', null],
      ['opted out', '2013-01-01', null],
    ]);
    expect(JSON.stringify(after)).not.toMatch(/OUT/);
    const [stored] = await sql`select count(*)::int as n from officers where name ilike '%out, o%'`;
    expect(stored).toEqual({ n: 0 });
  });

  test('still has no name after the register is imported again and the person deleted', async () => {
    await suppress(sql, 'out@home.example');
    await deletePersons(sql, [5]);
    expect((await nameless()).map(({ role }) => role).sort()).toEqual([...optedRoles].sort());
    await importGraph(sql, { officers: smallGraph.officers });
    expect((await nameless()).map(({ role }) => role).sort()).toEqual([...optedRoles].sort());
    expect(await directors()).toHaveLength(9);
  });

  test('has no name in an imported company’s list of directors', async () => {
    const listed = { ...acme, directors: [{ personId: 5, name: 'Opt Out', position: 'chair' }] };
    await importGraph(sql, { companies: [listed] });
    await suppress(sql, 'out@home.example');
    for (const again of [listed, { ...listed, summary: 'changed' }]) {
      await importGraph(sql, { companies: [again] });
      expect((await nameless()).map(({ role }) => role)).toContain('chair');
      expect(await directors()).toHaveLength(10);
    }
    await importGraph(sql, { companies: [{ ...acme, directors: [] }] });
    expect(await directors()).toHaveLength(9);
  });

  test.each([
    ['is stored', []],
    ['was erased', [5]],
  ])('and %s has no name in another company that links to them later', async (_how, deleted) => {
    await suppress(sql, 'out@home.example');
    await deletePersons(sql, deleted);
    const fresh = { companyId: 10, name: 'Opt O. Out', role: 'late', personId: 5 };
    await importGraph(sql, { officers: [fresh] });
    expect((await nameless()).map(({ role }) => role)).toContain('late');
    // As a repeated erasure does.
    await suppressPeople(sql, [5], []);
    await deletePersons(sql, [5]);
    expect((await nameless()).map(({ role }) => role)).toContain('late');
  });
});

describe('an opt-out as a person gave it', () => {
  test.each([
    ['by two addresses', 'ada@home.example, bob@home.example', /several/],
    ['by two addresses in one line', 'ada@home.example ada@acme.example', /several/],
    ['by no identifier', 'Ada Lovely', /is not/],
  ])('%s changes nothing', async (_by, text, message) => {
    const before = await lastSuppression(sql);
    await expect(suppress(sql, text)).rejects.toThrow(message);
    expect(await lastSuppression(sql)).toBe(before);
    expect(await statusOf('ada@home.example')).toBe('matched');
  });

  test('with an address in the query of a profile URL is one by the profile', async () => {
    const url = 'https://www.linkedin.com/in/Ada-Lovely/details?sent=friend@home.example';
    expect(await suppress(sql, url)).toEqual({ persons: 1 });
    expect(await statusOf('ada@home.example')).toBe('no_match');
  });

  test('by an address that can be read in two ways is one by the address as written', async () => {
    await suppress(sql, 'www.ada@home.example');
    await importGraph(sql, { persons: [{ id: 70, email: 'www.ada@home.example' }] });
    expect(await statusOf('www.ada@home.example')).toBe('no_match');
  });
});

describe('a list of hashes', () => {
  test('suppresses the holders of an email or phone, but not of a handle', async () => {
    const before = await lastSuppression(sql);
    const lines = [
      sha256('out@acme.example'),
      '',
      sha256('+441632960001').toUpperCase(),
      sha256('eve'),
    ];
    expect(await suppressHashes(sql, lines)).toEqual({ hashes: 3, persons: 2 });
    expect(await statusOf('out@home.example')).toBe('no_match');
    expect(await statusOf('ada@acme.example')).toBe('no_match');
    expect(await statusOf('eve@home.example')).toBe('matched');
    const ids = (await suppressedSince(sql, 'person', before)).map(({ id }) => id);
    expect(ids.sort()).toEqual([1, 5]);
  });

  test('reaches people who are imported later', async () => {
    const lines = [sha256('later@home.example'), sha256('+447700900777')];
    expect(await suppressHashes(sql, lines)).toEqual({ hashes: 2, persons: 0 });
    await importGraph(sql, {
      persons: [
        { id: 70, workEmail: 'later@home.example' },
        { id: 71, email: 'by-phone@home.example', mobile: '+447700900777' },
        { id: 72, email: 'free@home.example' },
      ],
    });
    expect(await statusOf('later@home.example')).toBe('no_match');
    expect(await statusOf('by-phone@home.example')).toBe('no_match');
    expect(await statusOf('free@home.example')).toBe('matched');
  });

  test('changes nothing when a line is not a hash', async () => {
    const lines = [sha256('ada@acme.example'), 'ada@acme.example'];
    await expect(suppressHashes(sql, lines)).rejects.toThrow(/Line 2/);
    expect(await statusOf('ada@acme.example')).toBe('matched');
  });
});

test('an opt-out by a former handle applies to a later import of it', async () => {
  await suppress(sql, '@eve_past');
  await importGraph(sql, {
    persons: [{ id: 80, email: 'past@home.example', _meta: { twitterFormer: ['eve_past'] } }],
  });
  expect(await statusOf('past@home.example')).toBe('no_match');
});

test('an opt-out does not read all people, nor a company all officers who opted out', async () => {
  await sql.begin(async (tx) => {
    await tx`
      insert into persons (id, created_at, when_updated, name, surname, birth_year)
      select 1000000 + i, now(), now(), 'Given' || i, 'Surname', 1970 from generate_series(1, 20000) i`;
    await tx`analyze persons`;
    // Without statistics, as after a restore.
    await tx`
      insert into suppressed_officers (company_id, name_sha256, number)
      select 1000000 + i, sha256(i::text::bytea), 1 from generate_series(1, 20000) i`;
    const readRows = async (table: string) => {
      const [row] = await tx<{ rows: number }[]>`
        select seq_tup_read::int as rows from pg_stat_xact_user_tables
        where relid = ${table}::regclass`;
      return must(row, table).rows;
    };
    const people = await readRows('persons');
    await tx`select suppress_people(array[1])`;
    expect((await readRows('persons')) - people).toBeLessThan(1000);
    const officers = await readRows('suppressed_officers');
    await tx`select companies_hiding_officers(array(select generate_series(1, 100)::bigint))`;
    await tx`
      insert into officers (company_id, name) select 10, 'Officer ' || i from generate_series(1, 100) i`;
    expect((await readRows('suppressed_officers')) - officers).toBeLessThan(1000);
  });
});
