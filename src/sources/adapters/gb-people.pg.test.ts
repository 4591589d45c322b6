/** People with significant control and officers of the British register: the pitfalls of their files. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import type { Database } from '../../core/db/client.ts';
import { importValues } from '../../core/graph/import/import-harness.test-suite.ts';
import { countRows, importText, importTexts, personOf } from '../import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await importValues(database.sql, 'companies', [
    { id: 1, name: 'One Limited', registryNumber: '00000011', registryCountry: 'GB' },
    { id: 2, name: 'Two Limited', registryNumber: 'SC000022', registryCountry: 'GB' },
  ]);
});
afterEach(() => database?.drop());

async function officersOf(sql: Database, companyId: number) {
  return await sql`
    select name, role, appointed_on, resigned_on, birth_year, birth_month, person_id is not null as has_person
    from officers where company_id = ${companyId} order by name, appointed_on`;
}

describe('people with significant control', () => {
  const line = (number: string, self: string, data: object) =>
    JSON.stringify({
      company_number: number,
      data: {
        kind: 'individual-person-with-significant-control',
        links: { self },
        name_elements: { title: 'Ms', forename: 'Ada', middle_name: 'B', surname: 'Lark' },
        date_of_birth: { month: 3, year: 1970 },
        notified_on: '2017-01-02',
        ...data,
      },
    });
  const trailer = '{"data":{"kind":"totals#persons-of-significant-control-snapshot"}}';
  const load = (lines: readonly string[], asOf: string) =>
    importText(database.sql, { source: 'auto', name: 'psc.txt', text: lines.join('\n'), asOf });

  it('become officers, and one person by name and birth', async () => {
    const report = await load(
      [
        line('11', '/a', {}),
        line('SC22', '/b', { notified_on: '1083-01-01', ceased_on: '9999-01-01' }),
        '',
        line('SC000022', '/c', {
          kind: 'corporate-entity-person-with-significant-control',
          name: 'Owner Limited',
          date_of_birth: undefined,
          ceased_on: '2016-12-31',
        }),
        trailer,
      ],
      '2026-01-01',
    );
    expect(report).toMatchObject({ rows: 3, new: 3, rejected: 0 });
    expect(await officersOf(database.sql, 1)).toMatchObject([
      {
        name: 'Ms Ada B Lark',
        appointedOn: '2017-01-02',
        birthYear: 1970,
        birthMonth: 3,
        hasPerson: true,
      },
    ]);
    expect(await officersOf(database.sql, 2)).toMatchObject([
      { name: 'Ms Ada B Lark', appointedOn: null, resignedOn: null },
      { name: 'Owner Limited', resignedOn: null, hasPerson: false },
    ]);
    expect(await personOf(database.sql, 'gb-psc', 'person:ms ada b lark 1970-3')).toMatchObject({
      title: 'Ms',
      name: 'Ada B',
      surname: 'Lark',
      birthYear: 1970,
    });
    expect(await countRows(database.sql, 'persons')).toBe(1);
  });

  it('reject what names no person, and take nothing from a super-secure line', async () => {
    const kind = (name: string) => line('11', `/${name}`, { kind: name });
    const report = await load(
      [
        kind('exemptions'),
        kind('persons-with-significant-control-statement'),
        kind('a-new-kind'),
        kind('super-secure-person-with-significant-control'),
        line('00000099', '/x', {}),
        '{"company_number":"11","data":{"kind',
      ],
      '2026-01-01',
    );
    expect(report).toMatchObject({ rows: 6, new: 0, rejected: 5, suppressed: 1 });
    expect(report.rejects.map(({ line: at, reason }) => [at, reason]).sort()).toEqual([
      [1, 'names_no_person'],
      [2, 'names_no_person'],
      [3, 'unknown_kind'],
      [5, 'no_such_company'],
      [6, 'not_json'],
    ]);
    expect(await countRows(database.sql, 'persons')).toBe(0);
  });

  it('end with the line that is gone or became super-secure', async () => {
    await load(
      [line('11', '/a', {}), line('SC000022', '/b', { name: 'Someone Else' })],
      '2026-01-01',
    );
    const secure = line('11', '/a', { kind: 'super-secure-person-with-significant-control' });
    const report = await load(
      [secure, line('SC000022', '/b', { name: 'Someone Else' })],
      '2026-01-02',
    );
    expect(report).toMatchObject({ rows: 2, same: 1, suppressed: 1, gone: 1 });
    expect(await officersOf(database.sql, 1)).toEqual([]);
    expect(await countRows(database.sql, 'persons')).toBe(1);
  });

  it('stay with their people when a snapshot has lines for them that cannot be read', async () => {
    const selves = ['/a', '/b', '/c', '/d', '/e'];
    const named = (self: string, data = {}) =>
      line('11', self, { name_elements: { surname: self.slice(1) }, ...data });
    await load(
      selves.map((self) => named(self)),
      '2026-01-01',
    );
    const report = await load(
      [
        named('/a', { kind: 'a-new-kind' }),
        line('?', '/b', {}),
        line('11', '/c', { name_elements: {} }),
        `${named('/d')}}`,
        named('/e', { name: 'x'.repeat(9000) + crypto.randomUUID() }),
      ],
      '2026-01-02',
    );
    expect(report.rejects.map(({ reason }) => reason)).toEqual([
      'unknown_kind',
      'not_a_registry_number',
      'missing',
      'not_json',
      'too_long',
    ]);
    expect(report).toMatchObject({ gone: 0 });
    expect(await officersOf(database.sql, 1)).toHaveLength(5);
    expect(await countRows(database.sql, 'persons')).toBe(5);
  });
});

describe('a snapshot of people with significant control', () => {
  const line = (self: string) =>
    JSON.stringify({
      company_number: '00000011',
      data: {
        kind: 'individual-person-with-significant-control',
        links: { self },
        name_elements: { forename: 'Ada', surname: `Lark ${self.slice(1)}` },
      },
    });
  const selves = Array.from({ length: 40 }, (_, index) => `/${index}`);
  const lines = selves.map(line);
  const totals = (count: number) =>
    JSON.stringify({
      data: {
        kind: 'totals#persons-of-significant-control-snapshot',
        persons_of_significant_control_count: count - 3,
        statements_count: 2,
        exemptions_count: 1,
      },
    });
  const load = (parts: Record<string, readonly string[]>, asOf: string) =>
    importTexts(database.sql, {
      source: 'gb-psc',
      asOf,
      parts: Object.entries(parts).map(([name, texts]) => [name, `${texts.join('\n')}\n`]),
    });

  it('is refused when it has fewer lines than its trailer says, as one that lacks a part', async () => {
    await load({ 'psc.txt': [...lines, totals(40)] }, '2026-01-01');
    await expect(
      load({ 'psc.txt': [...lines.slice(1), totals(40)] }, '2026-01-02'),
    ).rejects.toMatchObject({ code: 'wrong_trailer', message: expect.stringContaining('39') });
    expect(await countRows(database.sql, 'officers')).toBe(40);
  });

  it('is refused when a part of it is not named', async () => {
    await load({ 'psc.txt': lines }, '2026-01-01');
    const parts = {
      'psc-snapshot_1of3.txt': lines.slice(0, 20),
      'psc-snapshot_2of3.txt': lines.slice(20, 39),
    };
    await expect(load(parts, '2026-01-02')).rejects.toMatchObject({
      code: 'incomplete_files',
      message: expect.stringContaining('2 of 3'),
    });
    expect(await countRows(database.sql, 'officers')).toBe(40);
    const whole = { ...parts, 'psc-snapshot_3of3.txt': [...lines.slice(39), totals(40)] };
    expect(await load(whole, '2026-01-02')).toMatchObject({ rows: 40, same: 40 });
  });
});

describe('officers', () => {
  const company = (number: string) => `${`${number}1`.padEnd(32)}00010004A<`;
  const officer = (
    number: string,
    given: Partial<
      Record<
        'type' | 'person' | 'corporate' | 'appointed' | 'resigned' | 'birth' | 'surname',
        string
      >
    > = {},
  ) => {
    const { type = '01', person = '123456780001', corporate = ' ', appointed = '20200102' } = given;
    const fixed =
      `${number}21${type}${person}${corporate}`.padEnd(32) +
      appointed.padEnd(8) +
      (given.resigned ?? '').padEnd(8) +
      'AB1 2CD '.padEnd(8) +
      (given.birth ?? '196502').padEnd(8) +
      ''.padEnd(8);
    return `${fixed}0100MR<JOS\u00c9 LUIS<${given.surname ?? 'LARK'}<<<<1 ROAD<<TOWN<<ENGLAND<BAKER<BRITISH<ENGLAND<`;
  };
  const update = (number: string, newType: string, person: string, resigned = '') =>
    `${number.padEnd(8)}21     01${newType}${person}${person}${'196502  '}${''.padEnd(16)}AB1 2CD 20200102${resigned.padEnd(8)}        202601020100` +
    'MR<JOS\u00c9 LUIS<LARKE<<<<1 ROAD<<TOWN<<ENGLAND<BAKER<BRITISH<ENGLAND<<<<<<<<<<<<<<';
  const file = (header: string, lines: readonly string[], count = lines.length) =>
    Buffer.from(
      [header, ...lines, `99999999${String(count).padStart(8, '0')}`, ''].join('\n'),
      'latin1',
    );
  const load = (text: Buffer) =>
    importText(database.sql, { source: 'auto', name: 'Prod216_1.dat', text });
  const snapshot = 'DDDDSNAP000120260101';

  it('link one person by the first eight digits of the number, over companies and offices', async () => {
    const report = await load(
      file(snapshot, [
        company('00000011'),
        officer('00000011'),
        officer('00000011', { type: '02', person: '123456780002', resigned: '20210304' }),
        officer('00000011', { corporate: 'Y', person: '999999990001', surname: 'OWNER LIMITED' }),
        company('SC000022'),
        officer('SC000022', { person: '123456780003', appointed: '' }),
      ]),
    );
    expect(report).toMatchObject({ rows: 4, new: 4, rejected: 0 });
    expect(await countRows(database.sql, 'persons')).toBe(1);
    expect(await officersOf(database.sql, 1)).toMatchObject([
      { name: 'MR JOSÉ LUIS LARK', role: 'director', appointedOn: '2020-01-02', hasPerson: true },
      { role: 'secretary', resignedOn: '2021-03-04', hasPerson: true },
      { name: 'MR JOSÉ LUIS OWNER LIMITED', hasPerson: false },
    ]);
    expect(await personOf(database.sql, 'gb-officers', 'person:12345678')).toMatchObject({
      surname: 'LARK',
      position: 'BAKER',
      postcode: 'AB1 2CD',
      birthYear: 1965,
    });
  });

  it('stay with their people when a snapshot has lines for them that cannot be read', async () => {
    const people = ['111111110001', '222222220001', '333333330001', '444444440001'] as const;
    const of = (person: string, given = {}) =>
      officer('00000011', { person, surname: person, ...given });
    await load(file(snapshot, [company('00000011'), ...people.map((person) => of(person))]));
    const [cut, unnamed, moved, read] = people;
    const report = await load(
      file(snapshot, [
        company('00000011'),
        of(cut).slice(0, 90),
        of(unnamed, { surname: ' ' }),
        of(moved, { type: '55' }),
        of(read),
      ]),
    );
    expect(report.rejects.map(({ reason }) => reason)).toEqual([
      'malformed_line',
      'missing',
      'unknown_type',
    ]);
    expect(report).toMatchObject({ gone: 0 });
    expect(await officersOf(database.sql, 1)).toHaveLength(4);
    expect(await countRows(database.sql, 'persons')).toBe(4);
  });

  it('live where they say, and not in the town of an address in another country', async () => {
    const abroad = officer('00000011').replace(/ENGLAND<$/, 'UNITED STATES<');
    const home = officer('00000011', { person: '222222220001' });
    await load(file(snapshot, [company('00000011'), abroad, home]));
    const people = await database.sql`
      select n.iso2, c.name as city, p.street from persons p join countries n on n.id = p.country_id
      left join cities c on c.id = p.city_id order by 1`;
    expect(people).toEqual([
      { iso2: 'GB', city: 'Town', street: '1 ROAD' },
      { iso2: 'US', city: null, street: '1 ROAD' },
    ]);
  });

  it('are refused as a whole when the trailer disagrees or is missing', async () => {
    const lines = [company('00000011'), officer('00000011')];
    await expect(load(file(snapshot, lines, 3))).rejects.toMatchObject({ code: 'wrong_trailer' });
    const cut = Buffer.from([snapshot, ...lines].join('\n'), 'latin1');
    await expect(load(cut)).rejects.toMatchObject({ code: 'wrong_trailer' });
    expect(await countRows(database.sql, 'officers')).toBe(0);
    expect(await countRows(database.sql, 'source_records')).toBe(0);
  });

  it('follow the daily changes: a resignation, a change for a nominee, an appointment in error', async () => {
    await load(
      file(snapshot, [
        company('00000011'),
        officer('00000011'),
        officer('00000011', { person: '222222220001' }),
      ]),
    );
    const changes = file('DDDDUPDT000220260102', [
      update('00000011', '03', '123456780001', '20260101'),
      update('00000011', '99', '222222220001'),
      update('', '01', '123456780001'),
    ]);
    expect(await load(changes)).toMatchObject({ rows: 3, gone: 1, rejected: 0 });
    expect(await officersOf(database.sql, 1)).toMatchObject([
      { role: 'director', resignedOn: '2026-01-01', hasPerson: true },
    ]);
    expect(await personOf(database.sql, 'gb-officers', 'person:12345678')).toMatchObject({
      surname: 'LARKE',
    });
    expect(await load(changes)).toMatchObject({ rows: 3, same: 3 });
  });

  it('stay as a later snapshot has them when daily changes from before it come after it', async () => {
    const lines = [company('00000011'), officer('00000011')];
    await load(file(snapshot, lines));
    await load(file('DDDDSNAP000320260105', lines));
    const changes = file('DDDDUPDT000220260103', [
      update('00000011', '03', '123456780001', '20260101'),
      update('00000011', '01', '222222220001'),
    ]);
    expect(await load(changes)).toMatchObject({ rows: 2, same: 2 });
    expect(await officersOf(database.sql, 1)).toMatchObject([{ resignedOn: null }]);
  });
});
