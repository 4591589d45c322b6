/** Exports of CRMs and networks: the pitfalls of each, in files of our own. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { isOptedOut, readPersonIdentifier } from '../../core/suppression/suppress.ts';
import { companyOf, countRows, csvOf, importText, personOf } from '../import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const load = (name: string, text: string | Buffer) =>
  importText(database.sql, { source: 'auto', name, text, asOf: '2026-01-01' });

it('HubSpot: contacts with their company, several emails, and an opt-out that becomes no record', async () => {
  await load(
    'companies.csv',
    csvOf(
      ['Record ID', 'Company name', 'Company Domain Name'],
      [{ 'Record ID': '7', 'Company name': 'Acme', 'Company Domain Name': 'acme.example' }],
    ),
  );
  const header = [
    'Record ID',
    'First Name',
    'Last Name',
    'Email',
    'Phone Number',
    'Country/Region',
    'Job Title',
    'LinkedIn URL',
    'Additional email addresses',
    'Unsubscribed from all email',
    'Associated Company IDs',
  ];
  const contact = { 'First Name': 'Ada', 'Last Name': 'Lark' };
  const report = await load(
    'contacts.csv',
    csvOf(header, [
      {
        ...contact,
        'Record ID': '1',
        Email: 'ada@acme.example',
        'Phone Number': '(202) 224-3121',
        'Country/Region': 'United States',
        'Job Title': 'CTO',
        'LinkedIn URL': 'https://www.linkedin.com/in/ada-lark/',
        'Associated Company IDs': '7;8',
      },
      {
        ...contact,
        'Record ID': '2',
        Email: 'no@acme.example',
        'Phone Number': '(202) 224-3121',
        'Country/Region': 'United States',
        'Unsubscribed from all email': 'true',
      },
    ]),
  );
  expect(report).toMatchObject({ rows: 2, new: 1, suppressed: 1 });
  const company = await companyOf(database.sql, 'hubspot', 'company:7');
  expect(await personOf(database.sql, 'hubspot', '1')).toMatchObject({
    name: 'Ada',
    surname: 'Lark',
    workEmail: 'ada@acme.example',
    phone: '+12022243121',
    position: 'CTO',
    companyId: company?.id,
  });
  expect(await countRows(database.sql, 'persons')).toBe(1);
  const isOut = (text: string) => isOptedOut(database.sql, readPersonIdentifier(text));
  expect(await isOut('no@acme.example')).toBe(true);
  // Her colleague has the telephone of their office too.
  expect(await isOut('+12022243121')).toBe(false);
  expect(await countRows(database.sql, 'suppressed_persons')).toBe(0);
});

it('HubSpot: a list with the same header name twice adds to the contact and replaces nothing', async () => {
  const contacts = csvOf(
    ['Record ID', 'First Name', 'Last Name', 'Email', 'Job Title'],
    [
      {
        'Record ID': '1',
        'First Name': 'Ada',
        'Last Name': 'Lark',
        Email: 'a@acme.example',
        'Job Title': 'CTO',
      },
    ],
  );
  await load('contacts.csv', contacts);
  const list =
    'Record ID - Contact,First Name,Last Name,Email,Phone Number,Create Date,Record ID - Company,Company name,Create Date,Phone Number\n' +
    '1,Ada,Lark,a@acme.example,+442079460001,2026-01-01,9,Acme,2025-01-01,+442079460002\n';
  expect(await load('list.csv', list)).toMatchObject({ rows: 1, new: 1 });
  expect(await countRows(database.sql, 'persons')).toBe(1);
  expect(await personOf(database.sql, 'hubspot', '1')).toMatchObject({
    position: 'CTO',
    phone: '+442079460001',
  });
  expect(await companyOf(database.sql, 'hubspot', 'list-company:9')).toMatchObject({
    phone: '+442079460002',
  });
});

it('Salesforce: ids that differ in case, deleted and opted-out rows, lines in an address, latin-1', async () => {
  const header = [
    'Id',
    'IsDeleted',
    'AccountId',
    'LastName',
    'FirstName',
    'Email',
    'MailingStreet',
    'HasOptedOutOfEmail',
    'DoNotCall',
  ];
  const row = (Id: string, more: Record<string, string> = {}) => ({
    Id,
    IsDeleted: '0',
    LastName: 'Lark',
    FirstName: Id,
    ...more,
  });
  const text = csvOf(header, [
    row('003000000AbCdEfAAA', {
      LastName: 'M\u00fcller',
      MailingStreet: 'Room 3\n1 Road',
      Email: 'a@x.example',
    }),
    row('003000000ABCDEfAAB', { Email: 'b@x.example' }),
    row('003000000AbCdExAAA', { HasOptedOutOfEmail: '1', Email: 'c@x.example' }),
    row('003000000AbCdEyAAA', { DoNotCall: '1' }),
    row('003000000AbCdEzAAA', { IsDeleted: '1' }),
    row('not an id'),
  ]);
  const report = await load(
    'Contact.csv',
    Buffer.from(text.replaceAll('\n"003', '\r\n"003'), 'latin1'),
  );
  expect(report).toMatchObject({ rows: 6, new: 2, same: 1, suppressed: 2, rejected: 1 });
  expect(await personOf(database.sql, 'salesforce', '003000000AbCdEf')).toMatchObject({
    surname: 'Müller',
    street: 'Room 3\n1 Road',
  });
  const deleted = csvOf(header, [row('003000000ABCDEfAAB', { IsDeleted: '1' })]);
  expect(await load('Contact.csv', deleted)).toMatchObject({ changed: 1, gone: 1 });
  expect(await countRows(database.sql, 'persons')).toBe(1);
});

it('Salesforce: a converted lead and the footer of a report are no people', async () => {
  const leads = csvOf(
    ['Id', 'LastName', 'FirstName', 'Company', 'IsConverted'],
    [
      {
        Id: '00Q0000013YeYD6EAN',
        LastName: 'Lark',
        FirstName: 'Ada',
        Company: '[not provided]',
        IsConverted: 'false',
      },
      { Id: '00Q0000013d2EklEAE', LastName: 'Wren', IsConverted: 'true' },
    ],
  );
  expect(await load('Lead.csv', leads)).toMatchObject({ rows: 2, new: 1, rejected: 1 });
  const report = csvOf(
    ['Contact ID', 'First Name', 'Last Name', 'Email'],
    [{ 'Contact ID': '003000000Wl3icR', 'First Name': 'Bo', 'Last Name': 'Finch' }],
  );
  const outcome = await load('report.csv', `${report}\n\n\n"Contacts"\n"Copyright"\n`);
  expect(outcome.rejects.map(({ reason }) => reason)).toEqual(['footer', 'footer']);
  expect(outcome).toMatchObject({ rows: 3, new: 1 });
});

it('Apollo: a phone behind an apostrophe, a stage and a flag that mean no contact, the company', async () => {
  const header = [
    'First Name',
    'Last Name',
    'Title',
    'Company',
    'Email',
    'Email Status',
    'Work Direct Phone',
    'Stage',
    'Do Not Call',
    'Person Linkedin Url',
    'Website',
    '# Employees',
    'Country',
    'Apollo Contact Id',
  ];
  const row = (id: string, more: Record<string, string>) => ({
    'First Name': 'Ada',
    'Last Name': `Lark ${id}`,
    Email: `${id}@acme.example`,
    'Apollo Contact Id': id,
    ...more,
  });
  const report = await load(
    'apollo.csv',
    csvOf(header, [
      row('a', {
        'Work Direct Phone': "'+44 20 7946 0001",
        Company: 'Acme',
        Website: 'http://www.acme.example',
        '# Employees': '12',
      }),
      row('b', { Stage: 'Do Not Contact' }),
      row('c', { 'Do Not Call': 'TRUE' }),
    ]),
  );
  expect(report).toMatchObject({ rows: 3, new: 1, suppressed: 2 });
  const company = await companyOf(database.sql, 'apollo', 'company:acme.example');
  expect(company).toMatchObject({ name: 'Acme', employees: 12 });
  expect(await personOf(database.sql, 'apollo', 'a')).toMatchObject({
    phone: '+442079460001',
    companyId: company?.id,
  });
});

it('Apollo: the Twitter page of the company is no handle of a contact, also of one who opted out', async () => {
  const header = [
    'First Name',
    'Last Name',
    'Email',
    'Email Status',
    'Stage',
    'Person Linkedin Url',
    'Twitter Url',
  ];
  const row = (name: string, stage: string) => ({
    'First Name': name,
    'Last Name': 'Lark',
    Email: `${name.toLowerCase()}@acme.example`,
    Stage: stage,
    'Twitter Url': 'https://twitter.com/acme',
  });
  const rows = [row('Ada', ''), row('Bo', 'Do Not Contact'), row('Cy', '')];
  expect(await load('apollo.csv', csvOf(header, rows))).toMatchObject({ new: 2, suppressed: 1 });
  const served = await database.sql`
    select name, twitter from persons p
    where not exists (select from suppressed_persons s where s.person_id = p.id) order by name`;
  expect([...served]).toEqual([
    { name: 'Ada', twitter: null },
    { name: 'Cy', twitter: null },
  ]);
  expect(await isOptedOut(database.sql, readPersonIdentifier('@acme'))).toBe(false);
});

it('Pipedrive: several emails in a cell and the marketing status', async () => {
  const header = ['ID', 'Name', 'First name', 'Last name', 'Email - Work', 'Marketing status'].map(
    (name) => `Person - ${name}`,
  );
  const report = await load(
    'people.csv',
    csvOf(header, [
      {
        'Person - ID': '1',
        'Person - Name': 'Ada Lark',
        'Person - First name': 'Ada',
        'Person - Last name': 'Lark',
        'Person - Email - Work': 'a@x.example, office@x.example',
      },
      {
        'Person - ID': '2',
        'Person - Name': 'Bo',
        'Person - Email - Work': 'b@x.example',
        'Person - Marketing status': 'Unsubscribed',
      },
    ]),
  );
  expect(report).toMatchObject({ rows: 2, new: 1, suppressed: 1 });
  expect(await personOf(database.sql, 'pipedrive', '1')).toMatchObject({
    workEmail: 'a@x.example',
  });
});

it('LinkedIn: notes above the header, blank members, degrees, generations and pictographs', async () => {
  const text = [
    'Notes:',
    '"When exporting your connection data, some may be missing, see the settings"',
    '',
    'First Name,Last Name,URL,Email Address,Company,Position,Connected On',
    'Ada \u{1f680},"Lark, PhD",https://www.linkedin.com/in/ad%C3%A9-lark,,Acme,CTO,20 Aug 2023',
    'Al,"Smith, Jr., MBA",https://www.linkedin.com/in/al-smith,,Acme,CFO,20 Aug 2023',
    ',,,,,,31 Mar 2023',
  ].join('\n');
  expect(await load('Connections.csv', text)).toMatchObject({ rows: 3, new: 2, rejected: 1 });
  const people = await database.sql`select name, surname, position from persons order by name`;
  expect(people).toEqual([
    { name: 'Ada', surname: 'Lark', position: 'CTO' },
    { name: 'Al', surname: 'Smith Jr.', position: 'CFO' },
  ]);
});

it('HubSpot: the opt-out in a list ends the contact, and a spreadsheet’s TRUE is one', async () => {
  const header = ['Record ID', 'First Name', 'Last Name', 'Email', 'Unsubscribed from all email'];
  const contact = (id: string, email: string, optOut = '') => ({
    'Record ID': id,
    'First Name': 'Ada',
    'Last Name': 'Lark',
    Email: email,
    'Unsubscribed from all email': optOut,
  });
  const first = await load(
    'contacts.csv',
    csvOf(header, [
      contact('1', 'a@acme.example'),
      contact('2', 'b@acme.example', 'WAHR'),
      contact('3', 'd@acme.example', 'perhaps'),
    ]),
  );
  expect(first).toMatchObject({ rows: 3, new: 1, suppressed: 1, rejected: 1 });
  expect(first.rejects).toMatchObject([{ line: 4, reason: 'unclear_opt_out' }]);
  // The list does not show the address.
  const list = csvOf(
    ['Record ID - Contact', 'First Name', 'Last Name', 'Unsubscribed from all email'],
    [
      {
        'Record ID - Contact': '1',
        'First Name': 'Ada',
        'Last Name': 'Lark',
        'Unsubscribed from all email': 'true',
      },
    ],
  );
  expect(await load('list.csv', list)).toMatchObject({ rows: 1, suppressed: 1 });
  expect(await countRows(database.sql, 'persons')).toBe(0);
  expect(await countRows(database.sql, 'suppressed_persons')).toBe(1);
});

it('Salesforce: the opt-out in a report ends the contact, whose address the report may lack', async () => {
  const contact = csvOf(
    ['Id', 'IsDeleted', 'AccountId', 'LastName', 'FirstName', 'Email'],
    [{ Id: '003000000AbCdEfAAA', LastName: 'Lark', FirstName: 'Ada', Email: 'a@acme.example' }],
  );
  await load('Contact.csv', contact);
  const report = csvOf(
    ['Contact ID', 'First Name', 'Last Name', 'Email Opt Out'],
    [
      {
        'Contact ID': '003000000AbCdEf',
        'First Name': 'Ada',
        'Last Name': 'Lark',
        'Email Opt Out': '1',
      },
    ],
  );
  expect(await load('report.csv', report)).toMatchObject({ rows: 1, suppressed: 1 });
  expect(await countRows(database.sql, 'persons')).toBe(0);
  expect(await countRows(database.sql, 'suppressed_persons')).toBe(1);
});

it('Salesforce: an opt-out holds also of a contact who is deleted and of a lead who is converted', async () => {
  const header = ['Id', 'IsDeleted', 'AccountId', 'LastName', 'FirstName', 'Email'];
  const optOut = { HasOptedOutOfEmail: '1', LastName: 'Lark' };
  const contact = { Id: '003000000AbCdEfAAA', IsDeleted: '1', Email: 'a@x.example', ...optOut };
  const contacts = csvOf([...header, 'HasOptedOutOfEmail'], [contact]);
  expect(await load('Contact.csv', contacts)).toMatchObject({ rows: 1, suppressed: 1 });
  const leads = csvOf(
    ['Id', 'LastName', 'Company', 'Email', 'IsConverted', 'HasOptedOutOfEmail'],
    [{ Id: '00Q0000013d2EklEAE', Email: 'b@x.example', IsConverted: 'true', ...optOut }],
  );
  expect(await load('Lead.csv', leads)).toMatchObject({ rows: 1, suppressed: 1 });
  for (const email of ['a@x.example', 'b@x.example']) {
    expect(await isOptedOut(database.sql, readPersonIdentifier(email))).toBe(true);
  }
});
