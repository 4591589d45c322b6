/** Rows of snapshots that cannot be read: what an earlier file said of their records stays. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { countRows, csvOf, importText } from '../import-files.test-suite.ts';
import { gbCompanyColumns } from './gb-companies.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const id = (last: string) => last.padStart(28, 'A');

const sirene =
  `siren,statutDiffusionUniteLegale,etatAdministratifUniteLegale,denominationUniteLegale,nomUniteLegale,` +
  'categorieJuridiqueUniteLegale';

/** The first row of a file of three is damaged. */
it.each<[string, string, string[], (line: string) => string]>([
  [
    'gb-companies, an open quote',
    'companies.csv',
    csvOf(
      ['CompanyName', 'CompanyNumber', ...gbCompanyColumns.slice(2)],
      ['00000011', '00000012', '00000013'].map((CompanyNumber) => ({
        CompanyNumber,
        CompanyName: 'One Limited',
      })),
    )
      .trim()
      .split('\n'),
    (line) => line.slice(0, -1),
  ],
  [
    'brreg, an open quote',
    'enheter.csv',
    [
      'organisasjonsnummer,navn,hjemmeside,antallAnsatte,forretningsadresse.adresse',
      '923609016,EQUINOR ASA,,1,Forusbeen',
      '974760673,REGISTERENHETEN,,1,Brønnøysund',
      '984851006,DNB BANK ASA,,1,Oslo',
    ],
    (line) => `"${line}`,
  ],
  [
    'ariregister, an open quote',
    'lihtandmed.csv',
    [
      'nimi;ariregistri_kood;ettevotja_staatus;asukoht_ettevotja_aadressis',
      'Üks AS;19172583;R;',
      'Kaks AS;19172584;R;',
      'Kolm AS;19172585;R;',
    ],
    (line) => `"${line}`,
  ],
  [
    'sirene, an open quote',
    'units.csv',
    [
      sirene,
      '732829320,O,A,EXEMPLE,,5710',
      '552100554,O,A,RESTE,,5710',
      '443061841,O,A,AUTRE,,5710',
    ],
    (line) => `"${line}`,
  ],
  [
    'pdl, a line that is not JSON',
    'dataset.json',
    ['1', '2', '3'].map((last) => JSON.stringify({ id: id(last), name: `company ${last}` })),
    (line) => line.slice(0, -3),
  ],
  [
    'pdl, a row with a cell too many',
    'dataset.csv',
    [
      'country,founded,id,industry,linkedin_url,locality,name,region,size,website',
      `,2013,${id('1')},,,,one,,1-10,`,
      `,2013,${id('2')},,,,two,,1-10,`,
      `,2013,${id('3')},,,,three,,1-10,`,
    ],
    (line) => line.replace('one', 'o,ne'),
  ],
])('%s', async (_, name, lines, damage) => {
  const at = name === 'dataset.json' ? 0 : 1;
  const load = (text: readonly string[], asOf: string) =>
    importText(database.sql, { source: 'auto', name, text: text.join('\n'), asOf });
  await load(lines, '2026-01-01');
  expect(await countRows(database.sql, 'companies')).toBe(3);
  const damaged = lines.map((line, index) => (index === at ? damage(line) : line));
  expect(await load(damaged, '2026-01-02')).toMatchObject({ rejected: 1, same: 2, gone: 0 });
  expect(await countRows(database.sql, 'companies')).toBe(3);
});

it.each([
  ['with a cell too many', (line: string) => `${line},more`],
  ['with an open quote', (line: string) => `"${line}`],
])('sirene: a row %s of a unit that may be hidden now keeps nothing', async (_, damage) => {
  const rows = ['732829320', '552100554', '443061841'].map((siren) => `${siren},O,A,NOM,,5710`);
  const load = (lines: readonly string[], asOf: string) =>
    importText(database.sql, {
      source: 'auto',
      name: 'units.csv',
      text: [sirene, ...lines].join('\n'),
      asOf,
    });
  await load(rows, '2026-01-01');
  const hidden = damage('732829320,P,A,[ND],,5710');
  expect(await load([hidden, ...rows.slice(1)], '2026-01-02')).toMatchObject({ gone: 1 });
  expect(await countRows(database.sql, 'companies')).toBe(2);
});
