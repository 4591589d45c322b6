/** Exports of address books: the pitfalls of each, and people who are in several systems. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { countRows, csvOf, importText, personOf } from '../import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const load = (name: string, text: string | Buffer) =>
  importText(database.sql, { source: 'auto', name, text, asOf: '2026-01-01' });
const utf16 = (text: string) =>
  Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);

it('Google: several values in a cell, other contacts, a birthday without a year, both layouts', async () => {
  const header = [
    'First Name',
    'Last Name',
    'Organization Name',
    'Organization Title',
    'Birthday',
    'Labels',
    'E-mail 1 - Value',
    'Phone 1 - Label',
    'Phone 1 - Value',
    'Phone 2 - Label',
    'Phone 2 - Value',
    'Phone 3 - Label',
    'Phone 3 - Value',
  ];
  const report = await load(
    'contacts.csv',
    csvOf(header, [
      {
        'First Name': 'Ada',
        'Last Name': 'Lark',
        Birthday: ' --10-29',
        Labels: '* coworkers ::: * myContacts',
        'E-mail 1 - Value': 'ada@acme.example ::: ada@gmail.com',
        'Phone 1 - Label': 'Work Fax',
        'Phone 1 - Value': '+442079460009',
        'Phone 2 - Label': '* Mobile',
        'Phone 2 - Value': '+447700900001 ::: +447700900002',
        'Phone 3 - Label': 'Work',
        'Phone 3 - Value': '+442079460001 ::: +442079460002',
      },
      {
        'First Name': 'someone@x.example',
        Labels: '* Other Contacts',
        'E-mail 1 - Value': 'someone@x.example',
      },
    ]),
  );
  expect(report).toMatchObject({ rows: 2, new: 1, rejected: 1 });
  expect(await personOf(database.sql, 'google-contacts', 'ada@acme.example')).toMatchObject({
    workEmail: 'ada@acme.example',
    phone: '+442079460001',
    mobile: '+447700900001',
    birthYear: 0,
  });
  const old = csvOf(
    ['Given Name', 'Family Name', 'Group Membership', 'E-mail 1 - Value'],
    [{ 'Given Name': 'Bo', 'Family Name': 'Finch', 'E-mail 1 - Value': 'bo@acme.example' }],
  );
  expect(await load('old.csv', utf16(old))).toMatchObject({ rows: 1, new: 1 });
});

it('Outlook: Windows-1252, an Exchange path, no date, a private contact, rows shorter than the header', async () => {
  const header = [
    'First Name',
    'Last Name',
    'Business Street',
    'Birthday',
    'E-mail Address',
    'E-mail Type',
    'E-mail 2 Address',
    'Private',
    'Sensitivity',
    'Notes',
  ];
  const text = csvOf(header, [
    {
      'First Name': 'Zo\u00eb',
      'Last Name': 'Lark',
      Birthday: '0/0/00',
      'E-mail Address': '/o=Org/cn=Zoe',
      'E-mail Type': 'EX',
      'E-mail 2 Address': 'zoe@acme.example',
    },
    {
      'First Name': 'Bo',
      'Last Name': 'Finch',
      Birthday: '2/27/1968',
      'E-mail Address': 'bo@acme.example',
    },
    {
      'First Name': 'Secret',
      'Last Name': 'Friend',
      Private: 'True',
      'E-mail Address': 's@acme.example',
    },
    {
      'First Name': 'Other',
      'Last Name': 'Friend',
      Private: 'False',
      Sensitivity: 'Private',
      'E-mail Address': 'o@acme.example',
    },
  ]);
  const short = 'Cy,Wren,,,cy@acme.example\n';
  const report = await load('contacts.csv', Buffer.from(text + short, 'latin1'));
  expect(report).toMatchObject({ rows: 5, new: 3, rejected: 2 });
  expect(report.rejects).toEqual(
    [4, 5].map((line) => ({ line, reason: 'private', field: null, record: { line } })),
  );
  expect(await personOf(database.sql, 'outlook', 'zoe@acme.example')).toMatchObject({
    name: 'Zoë',
    birthDate: null,
  });
  expect(await personOf(database.sql, 'outlook', 'bo@acme.example')).toMatchObject({
    birthDate: '1968-02-27',
  });
  const tabs = utf16(text.replaceAll('","', '"\t"'));
  expect(await load('contacts.txt', tabs)).toMatchObject({ rows: 4, same: 2, rejected: 2 });
});

it('vCard: quoted-printable, folds, escapes, quoted parameters, kinds, and a card that is cut off', async () => {
  const text = [
    'BEGIN:VCARD',
    'VERSION:2.1',
    'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:L=C3=A4rk;A=',
    'da;;;',
    'FN:Ada',
    'TEL;CELL:+442079460001',
    'PHOTO;ENCODING=BASE64;JPEG:AAAA',
    ' BBBB',
    '',
    'END:VCARD\r',
    'BEGIN:VCARD\r',
    'VERSION:3.0\r',
    'N:Finch;Bo;;Dr.;\r',
    'item1.ADR;type=WORK:;;1 Road\\, North;Town;;AB1;United King\r',
    ' dom\r',
    'TITLE:Head\\; of all\r',
    'BDAY:1604-10-29\r',
    'UID:two\r',
    'END:VCARD\r',
    'BEGIN:VCARD',
    'VERSION:4.0',
    'UID:three',
    'N:Wren;Cy;;;',
    'EMAIL;PREF=1;X-A="a:b;c":cy@acme.example',
    'TEL;VALUE=uri;TYPE="voice,work":tel:+442079460003',
    'BDAY:19760809',
    'END:VCARD',
    'BEGIN:VCARD',
    'VERSION:4.0',
    'UID:four',
    'KIND:org',
    'FN:Acme',
    'END:VCARD',
    'BEGIN:VCARD',
    'VERSION:3.0',
    'UID:group',
    'N:Friends;;;;',
    'X-ADDRESSBOOKSERVER-KIND:group',
    'X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:three',
    'END:VCARD',
    'BEGIN:VCARD',
    'VERSION:3.0',
    'UID:five',
    'N:Cut;Off;;;',
  ].join('\n');
  const report = await load('contacts.vcf', text);
  expect(report).toMatchObject({ rows: 6, new: 3, rejected: 3 });
  expect(report.rejects.map(({ reason }) => reason)).toEqual([
    ...['names_no_person', 'names_no_person'],
    'cut_off',
  ]);
  expect(await personOf(database.sql, 'vcard', '+442079460001')).toMatchObject({
    name: 'Ada',
    surname: 'Lärk',
  });
  expect(await personOf(database.sql, 'vcard', 'two')).toMatchObject({
    title: 'Dr.',
    street: '1 Road, North',
    locality: 'Town, United Kingdom',
    position: 'Head; of all',
    birthDate: null,
  });
  expect(await personOf(database.sql, 'vcard', 'three')).toMatchObject({
    workEmail: 'cy@acme.example',
    phone: '+442079460003',
    birthDate: '1976-08-09',
  });
});

it('vCard: two people with one UID are two', async () => {
  const card = (given: string, email: string) =>
    `BEGIN:VCARD\nVERSION:3.0\nUID:copied\nN:Lark;${given};;;\nEMAIL:${email}\nEND:VCARD\n`;
  const text = card('Ada', 'ada@acme.example') + card('Bo', 'bo@acme.example');
  expect(await load('contacts.vcf', text)).toMatchObject({ rows: 2, new: 2 });
  expect(await load('contacts.vcf', text)).toMatchObject({ rows: 2, new: 0, same: 2 });
});

it('joins one person of several systems by profile or email, never by name or a common mailbox', async () => {
  const hubspot = csvOf(
    ['Record ID', 'First Name', 'Last Name', 'Email', 'LinkedIn URL'],
    [
      {
        'Record ID': '1',
        'First Name': 'Ada',
        'Last Name': 'Lark',
        Email: 'ada@acme.example',
        'LinkedIn URL': 'linkedin.com/in/ada',
      },
      { 'Record ID': '2', 'First Name': 'Bo', 'Last Name': 'Finch', Email: 'info@acme.example' },
    ],
  );
  const connections =
    'First Name,Last Name,URL,Email Address,Company,Position,Connected On\n' +
    'Ada,Lark,https://www.linkedin.com/in/ada,,Acme,Chief,20 Aug 2023\nBo,Finch,https://www.linkedin.com/in/bo,,,,\n';
  const outlook = csvOf(
    ['First Name', 'Last Name', 'Business Street', 'E-mail Address'],
    [
      {
        'First Name': 'A.',
        'Last Name': 'Lark',
        'Business Street': '1 Road',
        'E-mail Address': 'ada@acme.example',
      },
      { 'First Name': 'Bo', 'Last Name': 'Finch', 'E-mail Address': 'info@acme.example' },
    ],
  );
  await load('a.csv', hubspot);
  expect(await load('Connections.csv', connections)).toMatchObject({ merged: 1 });
  expect(await load('outlook.csv', outlook)).toMatchObject({ merged: 1 });
  expect(await countRows(database.sql, 'persons')).toBe(4);
  expect(await personOf(database.sql, 'outlook', 'ada@acme.example')).toMatchObject({
    name: 'Ada',
    position: 'Chief',
    street: '1 Road',
    workEmail: 'ada@acme.example',
  });
});

it('father and son, who share an address and a name but for what follows it, are two', async () => {
  const google = csvOf(
    ['First Name', 'Last Name', 'Name Suffix', 'Organization Name', 'Labels', 'E-mail 1 - Value'],
    ['Sr.', 'Jr.'].map((suffix) => ({
      'First Name': 'John',
      'Last Name': 'Smith',
      'Name Suffix': suffix,
      'E-mail 1 - Value': 'smiths@home.example',
    })),
  );
  const outlook = csvOf(
    ['First Name', 'Last Name', 'Suffix', 'Business Street', 'E-mail Address'],
    [
      {
        'First Name': 'Ada',
        'Last Name': 'Lark',
        Suffix: 'Sr.',
        'E-mail Address': 'larks@home.example',
      },
    ],
  );
  const card =
    'BEGIN:VCARD\nVERSION:3.0\nUID:x\nN:Lark;Ada;;;Jr.\nEMAIL:larks@home.example\nEND:VCARD\n';
  expect(await load('contacts.csv', google)).toMatchObject({ new: 2 });
  expect(await load('outlook.csv', outlook)).toMatchObject({ new: 1 });
  expect(await load('card.vcf', card)).toMatchObject({ new: 1, merged: 0 });
  const people = await database.sql<{ surname: string }[]>`select surname from persons order by 1`;
  expect(people.map(({ surname }) => surname)).toEqual([
    'Lark Jr.',
    'Lark Sr.',
    'Smith Jr.',
    'Smith Sr.',
  ]);
});
