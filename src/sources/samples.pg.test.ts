/** The samples of all sources, when they are there: exactly the expected counts, and a second run changes nothing. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { countRows, hasSamples, importFiles, samples } from './import-files.test-suite.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

const load = (source: string, ...files: string[]) =>
  importFiles(database.sql, { source, files: files.map((file) => path.join(samples, file)) });

/** Imports a file twice; returns the first report. */
async function loadTwice(source: string, ...files: string[]) {
  const first = await load(source, ...files);
  const second = await load('auto', ...files);
  expect(second).toMatchObject({
    rows: first.rows,
    new: 0,
    changed: 0,
    gone: 0,
    rejected: first.rejected,
    suppressed: first.suppressed,
  });
  expect(first.rows).toBe(
    first.new + first.changed + first.same + first.rejected + first.suppressed,
  );
  return first;
}

if (!hasSamples) process.stdout.write('skipped: samples of sources not found\n');

describe.skipIf(!hasSamples)('the samples', { timeout: 120_000 }, () => {
  it('of the British register: companies, people with significant control, officers', async () => {
    const folder = 'companies-house';
    const companies = path.join(folder, 'company-data', 'BasicCompanyDataAsOneFile-2026-10-01.zip');
    expect(await loadTwice('gb-companies', companies)).toMatchObject({ new: 8420, rejected: 9 });
    const psc = path.join(
      folder,
      'psc',
      'persons-with-significant-control-snapshot-2026-10-02.zip',
    );
    expect(await loadTwice('gb-psc', psc)).toMatchObject({
      new: 387,
      suppressed: 11,
      rejected: 64,
    });
    expect(await countRows(database.sql, 'persons')).toBe(286);
    const officers = path.join(folder, 'officers', 'Prod216_5100_ew_1.zip');
    expect(await loadTwice('gb-officers', officers)).toMatchObject({ rows: 1090, new: 1090 });
    const changes = path.join(folder, 'officers', 'Prod198_5101.dat');
    expect(await loadTwice('gb-officers', changes)).toMatchObject({
      rows: 14,
      gone: 1,
      rejected: 0,
    });
    const wrong = path.join(folder, 'officers', 'Prod216_5102_wrong_trailer.dat');
    await expect(load('gb-officers', wrong)).rejects.toMatchObject({ code: 'wrong_trailer' });
  });

  it('of accounts: the periods of real filings, re-written', async () => {
    const file = 'companies-house/accounts/Accounts_Bulk_Data-2026-10-01.zip';
    expect(await loadTwice('gb-accounts', file)).toMatchObject({ rows: 33, new: 27, rejected: 6 });
    const [periods] = await database.sql`
      select count(*)::int as periods, count(*) filter (where currency = '')::int as without_currency,
        count(*) filter (where currency = 'EUR')::int as euro from financial_periods`;
    expect(periods).toEqual({ periods: 33, withoutCurrency: 3, euro: 3 });
  });

  it('of Brreg, Ariregister and PDL', async () => {
    const files: [string, string[], Partial<Record<string, number>>][] = [
      ['brreg', ['brreg/enheter_2026-10-01.csv.gz'], { rows: 33, new: 31, rejected: 2 }],
      ['brreg', ['brreg/enheter_2026-10-02.csv.gz'], { rows: 30, same: 29, gone: 2 }],
      ['brreg', ['brreg/roller_totalbestand_2026-10-01.json.gz'], { rows: 64 }],
      [
        'ariregister',
        ['ariregister/2026-10-01_ettevotja_rekvisiidid__lihtandmed.csv.zip'],
        { new: 20 },
      ],
      ['ariregister', ['ariregister/ettevotja_rekvisiidid__yldandmed.json.zip'], { new: 20 }],
      [
        'ariregister',
        ['ariregister/ettevotja_rekvisiidid__kaardile_kantud_isikud.json.zip'],
        { rows: 51, new: 49 },
      ],
      [
        'ariregister',
        [
          'ariregister/1.aruannete_yldandmed_kuni_30092026.zip',
          'ariregister/4.2025_aruannete_elemendid_kuni_30092026.zip',
        ],
        { new: 16, rejected: 1 },
      ],
      [
        'ariregister',
        ['ariregister/2026-10-02_ettevotja_rekvisiidid__lihtandmed.csv.zip'],
        { rows: 18, gone: 2 },
      ],
      ['pdl', ['pdl-free-companies/free_company_dataset.json.gz'], { new: 1513 }],
      ['pdl', ['pdl-free-companies/free_company_dataset.csv.gz'], { same: 1513 }],
    ];
    for (const [source, names, counts] of files) {
      expect([names, await loadTwice(source, ...names)]).toMatchObject([names, counts]);
    }
  });

  it('of GLEIF: the golden copy and a delta', async () => {
    const first = 'gleif/20240505-0000-gleif-goldencopy-lei2-intra-day.csv.zip';
    expect(await loadTwice('gleif', first)).toMatchObject({ rows: 577, new: 577 });
    // Four of them are of registers that the list beside the samples does not have yet.
    const [numbers] = await database.sql`
      select count(*)::int as with_number from source_records
      where source = 'gleif' and record::json ->> 'registryNumber' is not null`;
    expect(numbers).toEqual({ withNumber: 553 });
    const delta = 'gleif/20240506-0800-gleif-goldencopy-lei2-last-day.csv.zip';
    expect(await loadTwice('gleif', delta)).toMatchObject({ rows: 30, new: 0, gone: 4 });
  });

  it('of SIRENE: two months of units and seats', async () => {
    const file = (month: string, what: string) => `sirene/2026-${month}-01-Stock${what}_utf8.zip`;
    expect(await loadTwice('sirene', file('10', 'UniteLegale'))).toMatchObject({
      rows: 67,
      new: 65,
      suppressed: 2,
    });
    expect(await loadTwice('sirene', file('10', 'Etablissement'))).toMatchObject({
      rows: 51,
      rejected: 0,
    });
    expect(await loadTwice('sirene', file('11', 'UniteLegale'))).toMatchObject({
      rows: 70,
      new: 3,
      gone: 7,
      suppressed: 9,
    });
    expect(await loadTwice('sirene', file('11', 'Etablissement'))).toMatchObject({ rows: 54 });
  });

  it('of CRMs, networks and address books', async () => {
    const files: [string, string, Partial<Record<string, number>>][] = [
      ['hubspot', 'hubspot/hubspot-crm-exports-all-companies-2026-10-01.csv', { new: 81 }],
      [
        'hubspot',
        'hubspot/hubspot-crm-exports-all-contacts-2026-10-01.csv',
        { new: 145, suppressed: 5 },
      ],
      ['hubspot', 'hubspot/contacts-with-companies-duplicate-headers.csv', { new: 60 }],
      ['salesforce', 'salesforce/Account.csv', { rows: 81, new: 78 }],
      ['salesforce', 'salesforce/Contact.csv', { rows: 160, new: 140, suppressed: 12 }],
      ['salesforce', 'salesforce/Lead-data-loader.csv', { rows: 80, new: 54, rejected: 26 }],
      ['salesforce', 'salesforce/report-with-footer.csv', { new: 60, rejected: 5 }],
      ['apollo', 'apollo/apollo-contacts-export.csv', { new: 116, suppressed: 4 }],
      ['apollo', 'apollo/apollo-contacts-export-2026-layout.csv', { new: 53, suppressed: 7 }],
      ['linkedin', 'linkedin/Connections.csv', { rows: 165, new: 160, rejected: 5 }],
      ['linkedin', 'linkedin/Connections-saved-by-excel-cp1252.csv', { rows: 50, rejected: 2 }],
      ['linkedin', 'linkedin/Connections-without-notes.csv', { rows: 20, rejected: 0 }],
      ['google-contacts', 'google/contacts.csv', { rows: 130, new: 126, rejected: 4 }],
      ['google-contacts', 'google/contacts-before-2024.csv', { rows: 60 }],
      ['outlook', 'outlook/outlook-desktop-cp1252.csv', { new: 106, rejected: 4 }],
      [
        'outlook',
        'outlook/outlook-desktop-saved-as-unicode-text-utf16le.txt',
        { new: 0, rejected: 2 },
      ],
      ['outlook', 'outlook/outlook-live-contacts.csv', { new: 100 }],
      ['pipedrive', 'pipedrive/organizations.csv', { new: 54 }],
      ['pipedrive', 'pipedrive/people.csv', { new: 92, suppressed: 8 }],
      ['vcard', 'vcard/contacts-2.1.vcf', { new: 60 }],
      ['vcard', 'vcard/contacts-3.0.vcf', { new: 67, rejected: 3 }],
      ['vcard', 'vcard/contacts-4.0.vcf', { new: 65, rejected: 5 }],
      ['vcard', 'vcard/mixed-versions-last-card-cut-off.vcf', { rows: 4, rejected: 1 }],
    ];
    for (const [source, file, counts] of files) {
      expect([file, await loadTwice(source, `crm/${file}`)]).toMatchObject([file, counts]);
    }
  });
});
