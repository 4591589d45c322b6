/** Free Company Data Product: every pitfall in a small file, and the samples when they are there. */
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { readVersions } from '../../core/graph/import/import-harness.test-suite.ts';
import {
  companyOf,
  countRows,
  csvOf,
  hasSamples,
  importFiles,
  importText,
  readExpected,
  samples,
} from '../import-files.test-suite.ts';

const header = [
  'CompanyName',
  ' CompanyNumber',
  ...['CareOf', 'POBox', 'AddressLine1'].map((name) => `RegAddress.${name}`),
  ' RegAddress.AddressLine2',
  ...['PostTown', 'County', 'Country', 'PostCode'].map((name) => `RegAddress.${name}`),
  'CompanyCategory',
  'CompanyStatus',
  'IncorporationDate',
  ...[1, 2, 3, 4].map((index) => `SICCode.SicText_${index}`),
  'LimitedPartnerships.NumGenPartners',
  ...Array.from({ length: 10 }, (_, index) => ` PreviousName_${index + 1}.CompanyName`),
];

function row(number: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    CompanyName: `COMPANY ${number}`,
    ' CompanyNumber': number,
    CompanyStatus: 'Active',
    ...more,
  };
}

const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => row(String(from + index).padStart(8, '0')));

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const load = (rows: readonly Record<string, string>[], asOf: string, options = {}) =>
  importText(
    database.sql,
    { source: 'gb-companies', name: 'companies.csv', text: csvOf(header, rows), asOf },
    options,
  );

describe('the register of companies', () => {
  it('fills name, number, address, day, codes, former names and status', async () => {
    await load(
      [
        row('SC000123', {
          CompanyName: 'ST. MUNGO&#039;S &AMP; A&B LIMITED',
          'RegAddress.CareOf': 'SOMEONE LTD',
          'RegAddress.POBox': '12',
          'RegAddress.AddressLine1': '1 LONG LANE',
          ' RegAddress.AddressLine2': 'OLD TOWN',
          'RegAddress.PostTown': 'PERTH',
          'RegAddress.County': 'TAYSIDE',
          'RegAddress.PostCode': 'PH1 1AA',
          CompanyStatus: 'Liquidation',
          IncorporationDate: '01/02/1999',
          'SICCode.SicText_1': '70229 - Consultancy',
          'SICCode.SicText_2': 'None Supplied',
          ' PreviousName_1.CompanyName': 'OLD &#039;NAME&#039;',
        }),
      ],
      '2026-08-01',
    );
    expect(await companyOf(database.sql, 'gb-companies', 'SC000123')).toMatchObject({
      name: "ST. MUNGO'S & A&B LIMITED",
      registryNumber: 'SC000123',
      registryCountry: 'GB',
      street: 'C/O SOMEONE LTD, PO BOX 12, 1 LONG LANE, OLD TOWN',
      postcode: 'PH1 1AA',
      locality: 'PERTH, TAYSIDE, United Kingdom',
      founded: '1999-02-01',
      sicCodes: ['70229'],
      formerNames: ["OLD 'NAME'"],
      status: 'Liquidation',
    });
  });

  it('rejects a row that a fifth code moved, with its line, and keeps its company', async () => {
    await load([row('00000001'), row('00000002')], '2026-08-01');
    const moved = row('00000002', {
      CompanyName: 'MOVED',
      'LimitedPartnerships.NumGenPartners': '38220 - Waste',
    });
    const report = await load([row('00000001'), moved], '2026-09-01');
    expect(report).toMatchObject({ rows: 2, same: 1, rejected: 1, gone: 0 });
    expect(report.rejects).toMatchObject([{ line: 3, reason: 'columns_moved' }]);
    expect(await companyOf(database.sql, 'gb-companies', '00000002')).toMatchObject({
      name: 'COMPANY 00000002',
    });
  });

  it('is the same after the same file twice, without a write', async () => {
    await load(many(1, 30), '2026-08-01');
    const before = await readVersions(database.sql, 'companies');
    expect(await load(many(1, 30), '2026-08-01')).toMatchObject({ rows: 30, same: 30, changed: 0 });
    expect(await readVersions(database.sql, 'companies')).toEqual(before);
  });

  it('ends companies that the next month lacks, and gives them their id again when they return', async () => {
    await load(many(1, 100), '2026-08-01');
    const [before] =
      await database.sql`select id from companies where registry_number = '00000100'`;
    expect(await load(many(1, 99), '2026-09-01')).toMatchObject({ gone: 1, same: 99 });
    expect(await countRows(database.sql, 'companies')).toBe(99);
    expect(await countRows(database.sql, 'company_records')).toBe(99);
    expect(await load(many(1, 100), '2026-10-01')).toMatchObject({ new: 1, same: 99 });
    const [after] = await database.sql`select id from companies where registry_number = '00000100'`;
    expect(after).toEqual(before);
  });

  it('refuses a file that lacks many, an empty one and one without a column, and changes nothing', async () => {
    await load(many(1, 1000), '2026-08-01');
    await expect(load(many(1, 900), '2026-09-01')).rejects.toMatchObject({ code: 'too_many_gone' });
    await expect(load([], '2026-09-01')).rejects.toMatchObject({ code: 'empty_snapshot' });
    const renamed = csvOf(
      header.map((name) => (name === 'CompanyStatus' ? 'Status' : name)),
      many(1, 3),
    );
    await expect(
      importText(database.sql, { source: 'gb-companies', name: 'a.csv', text: renamed }),
    ).rejects.toMatchObject({ message: expect.stringContaining('no column CompanyStatus') });
    expect(await countRows(database.sql, 'companies')).toBe(1000);
    expect(await countRows(database.sql, 'imports')).toBe(1);
    expect(await load(many(1, 900), '2026-09-01', { allowsGone: true })).toMatchObject({
      gone: 100,
    });
  });

  it('counts a dry run and changes nothing', async () => {
    await load(many(1, 10), '2026-08-01');
    const report = await load(many(1, 12), '2026-09-01', { isDryRun: true });
    expect(report).toMatchObject({ import_id: null, rows: 12, new: 2, same: 10 });
    expect(await countRows(database.sql, 'companies')).toBe(10);
    expect(await countRows(database.sql, 'source_records')).toBe(10);
    expect(await countRows(database.sql, 'import_rows')).toBe(0);
  });

  it('takes nothing from a month that is older than the newest', async () => {
    await load(many(1, 10), '2026-09-01');
    expect(await load(many(1, 12), '2026-08-01')).toMatchObject({ new: 0, gone: 0, same: 12 });
    expect(await countRows(database.sql, 'companies')).toBe(10);
  });
});

const folder = path.join(samples, 'companies-house', 'company-data');
if (!hasSamples) process.stdout.write('skipped: samples of sources not found\n');

describe.skipIf(!hasSamples)('the samples of the register', () => {
  it('give the expected counts and values', { timeout: 120_000 }, async () => {
    const expected = (await readExpected())['companies-house/company-data'] as never as Record<
      string,
      Record<string, never>
    >;
    const name = (month: string) => `BasicCompanyDataAsOneFile-2026-${month}-01.zip`;
    const months = ['08', '09', '10'];
    for (const [index, month] of months.entries()) {
      const { rows, records, shifted_rows } = expected[name(month)] as never as Record<
        string,
        number
      >;
      const step = expected[`${name(months[index - 1] ?? '')} -> ${name(month)}`];
      const {
        changed = 0,
        gone = 0,
        same = 0,
        new: fresh = records,
      } = (step ?? {}) as never as Record<string, number>;
      const files = [path.join(folder, name(month))];
      const report = await importFiles(database.sql, { source: 'auto', files });
      expect(report).toMatchObject({
        rows,
        new: fresh,
        changed,
        same,
        gone,
        rejected: shifted_rows,
      });
    }
    const spots = expected['spots of BasicCompanyDataAsOneFile-2026-10-01.zip'] as never as Record<
      string,
      Record<string, unknown>
    >;
    for (const [number, { town, county, country, ...spot }] of Object.entries(spots)) {
      const company = await companyOf(database.sql, 'gb-companies', number);
      expect({ ...company, street: company?.street }).toMatchObject(spot);
    }
  });

  it('are refused when they are cut off', async () => {
    const file = (name: string) => path.join(folder, 'variants', name);
    for (const name of ['cut-off.zip', 'header-only.zip', 'column-renamed.csv']) {
      await expect(
        importFiles(database.sql, { source: 'gb-companies', files: [file(name)] }),
      ).rejects.toMatchObject({ status: 422 });
    }
    for (const name of ['trimmed-quoted-header.csv', 'utf8-bom-crlf.csv']) {
      const report = await importFiles(database.sql, {
        source: 'gb-companies',
        files: [file(name)],
        asOf: name.startsWith('u') ? '2026-02-01' : '2026-01-01',
      });
      expect(report).toMatchObject({ rows: 40, rejected: 0 });
    }
    expect(await countRows(database.sql, 'companies')).toBe(40);
  });
});
