/** Two companies or people never get one id, whatever joined and parted before. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { csvOf, importText } from './import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** A company of each of these sources, by its domain. */
const files = {
  pipedrive: (domain: string) => ({
    source: 'pipedrive',
    name: 'pipedrive.csv',
    text: csvOf(
      ['Organization - ID', 'Organization - Name', 'Organization - Website'],
      [
        {
          'Organization - ID': '3',
          'Organization - Name': 'Alpha',
          'Organization - Website': domain,
        },
      ],
    ),
  }),
  hubspot: (domain: string) => ({
    source: 'hubspot',
    name: 'hubspot.csv',
    text: csvOf(
      ['Record ID', 'Company name', 'Company Domain Name'],
      [{ 'Record ID': '7', 'Company name': 'Beta', 'Company Domain Name': domain }],
    ),
  }),
  brreg: (domain: string) => ({
    source: 'brreg',
    name: 'brreg.csv',
    text: csvOf(
      ['organisasjonsnummer', 'navn', 'hjemmeside', 'antallAnsatte', 'forretningsadresse.adresse'],
      [{ organisasjonsnummer: '923609016', navn: 'GAMMA ASA', hjemmeside: domain }],
    ),
  }),
};

it('a record that parts does not get the id that another company has kept', async () => {
  const { sql } = database;
  const load = (source: keyof typeof files, domain: string, asOf: string) =>
    importText(sql, { ...files[source](domain), asOf });
  await load('pipedrive', 'alpha.example', '2026-01-01');
  await load('hubspot', 'gamma.example', '2026-01-01');
  // Joins Beta, whose id both have now.
  await load('brreg', 'gamma.example', '2026-01-01');
  // Beta joins Alpha; Gamma keeps the id.
  await load('hubspot', 'alpha.example', '2026-01-02');
  // Beta parts from Alpha, and joins no other.
  await load('hubspot', 'beta.example', '2026-01-03');
  const rows = await sql<{ source: string; id: number }[]>`
    select source, id from source_records where entity = 1 order by source`;
  expect(new Set(rows.map(({ id }) => id)).size).toBe(3);
  const companies = await sql<{ name: string }[]>`select name from companies order by name`;
  expect(companies.map(({ name }) => name)).toEqual(['Alpha', 'Beta', 'GAMMA ASA']);
});
