/** The files that the documents import: a register, its people, a CRM, a network and a list of a team's own, invented. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { zipOf } from '../../src/formats/xlsx/xlsx-fixtures.test-suite.ts';
import { csvOf } from '../../src/sources/import-files.test-suite.ts';

const registerHeader = [
  'CompanyName',
  ' CompanyNumber',
  ...['CareOf', 'POBox', 'AddressLine1'].map((name) => `RegAddress.${name}`),
  ' RegAddress.AddressLine2',
  ...['PostTown', 'County', 'Country', 'PostCode'].map((name) => `RegAddress.${name}`),
  'CompanyStatus',
  'IncorporationDate',
  ...[1, 2, 3, 4].map((index) => `SICCode.SicText_${index}`),
  ...Array.from({ length: 10 }, (_, index) => ` PreviousName_${index + 1}.CompanyName`),
];

const register = csvOf(registerHeader, [
  {
    CompanyName: 'ACME WIDGETS LIMITED',
    ' CompanyNumber': '00000011',
    CompanyStatus: 'Active',
    'RegAddress.PostTown': 'LEEDS',
    'SICCode.SicText_1': '62020 - Information technology consultancy activities',
  },
]);

const control = JSON.stringify({
  company_number: '00000011',
  data: {
    kind: 'individual-person-with-significant-control',
    links: { self: '/company/00000011/persons-with-significant-control/individual/a' },
    name_elements: { forename: 'Grace', surname: 'Example' },
    date_of_birth: { month: 3, year: 1970 },
    country_of_residence: 'England',
    notified_on: '2017-01-02',
  },
});

const contact = {
  'Record ID': '1',
  'First Name': 'Ada',
  'Last Name': 'Example',
  Email: 'ada@example.com',
  'Job Title': 'Senior Engineer',
  'Associated Company IDs': '7',
};

/** Writes the files into a folder, under the names that the documents use. */
export async function writeNewcomerFiles(folder: string): Promise<void> {
  const day = '2026-11-01';
  const files = {
    [`BasicCompanyDataAsOneFile-${day}.zip`]: await zipOf({
      [`BasicCompanyDataAsOneFile-${day}.csv`]: register,
    }),
    'persons-with-significant-control-snapshot-2026-11-20.zip': await zipOf({ 'a.txt': control }),
    'hubspot-crm-exports-all-companies.csv': csvOf(
      ['Record ID', 'Company name', 'Company Domain Name'],
      [{ 'Record ID': '7', 'Company name': 'Acme', 'Company Domain Name': 'example.com' }],
    ),
    'hubspot-crm-exports-all-contacts.csv': csvOf(Object.keys(contact), [contact]),
    'Connections.csv':
      'Notes:\n"Some addresses are missing"\n\nFirst Name,Last Name,URL,Email Address,Company,Position,Connected On\n' +
      'Bob,Example,https://www.linkedin.com/in/bob-example,,Acme,Director of Finance,20 Aug 2023\n',
    'partner-list.csv': 'Vorname;Nachname;E-Mail\nEve;Example;eve@example.com\n',
    'people.jsonl.gz': gzipSync(
      `${JSON.stringify({ id: 900_001, name: 'Ada', email: 'ada@example.com' })}\n`,
    ),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
}
