import { expect, test } from 'vitest';
import { guessColumns } from './guess-columns.ts';

/** The headers of the guessed columns of a list of people, by kind. */
function guess(columns: Readonly<Record<string, string>> | readonly [string, string][]) {
  const named = Array.isArray(columns) ? columns : Object.entries(columns);
  const list = { header: named.map(([name]) => name), sample: [named.map(([, cell]) => cell)] };
  const guessed = Object.entries(guessColumns('people.enrich', list, 'likely'));
  return Object.fromEntries(guessed.map(([kind, found]) => [kind, found.map((one) => one.column)]));
}

const ADA = ['Ada Lark', 'ada@acme.example', '+441632960001'] as const;
const BOB = ['Bob Stone', 'bob@acme.example', '+441632960002'] as const;

test.each<[names: string[]]>([
  [['Name', 'Email', 'Phone', 'Name', 'Email', 'Phone']],
  [['Contact', 'Email', 'Phone', 'Contact 2', 'Email 2', 'Phone 2']],
  [
    [
      'Primary Contact Name',
      'Primary Contact Email',
      'Primary Contact Phone',
      'Secondary Contact Name',
      'Secondary Contact Email',
      'Secondary Contact Phone',
    ],
  ],
  [
    [
      'Contact principal',
      'Email contact principal',
      'Tel contact principal',
      'Contact secondaire',
      'Email contact secondaire',
      'Tel contact secondaire',
    ],
  ],
])('the second person of %s is not the lead of the row', (names) => {
  const cells = [...ADA, ...BOB];
  expect(guess(names.map((name, index) => [name, cells[index] ?? '']))).toEqual({
    email: [2],
    phone: [3],
    person_name: [1],
  });
});

test('further addresses of one person are read, in order', () => {
  expect(
    guess({ Name: ADA[0], Email: ADA[1], 'Preferred name': ADA[0], 'Secondary email': BOB[1] }),
  ).toEqual({ email: [2, 4], person_name: [1] });
  expect(
    guess({
      'First name': 'Ada',
      'Last name': 'Lark',
      'Work email': ADA[1],
      'Preferred first name': 'Adi',
      'Personal email': BOB[1],
    }),
  ).toEqual({ email: [3, 5], person_name: [1, 2] });
  expect(
    guess({
      'Person - Name': ADA[0],
      'Person - Email - Other': BOB[1],
      'Person - Email - Work': ADA[1],
    }),
  ).toEqual({ email: [3, 2], person_name: [1] });
});

test.each([
  ['Person - Organization', 'Person - Name'],
  ['Contact company', 'Contact name'],
  ['Persona - Organización', 'Persona - Nombre'],
  ['Nom du compte', 'Contact'],
  ['取引先名', '氏名'],
  ['人 - 組織', '人 - 名前'],
  ['組織', '人物名前'],
])('%s is the company of %s', (company, name) => {
  expect(guess({ [company]: 'Acme Ltd', [name]: ADA[0], Email: ADA[1] })).toEqual({
    email: [3],
    company_name: [1],
    person_name: [2],
  });
});

test('the names of companies before those of people are not the lead', () => {
  const names = ['Name', 'Phone', 'Name', 'Email', 'Phone'];
  const cells = ['Acme Ltd', '+441632960009', ...ADA];
  expect(guess(names.map((name, index) => [name, cells[index] ?? '']))).toEqual({
    email: [4],
    phone: [2, 5],
    person_name: [3],
  });
});

test('the first person after a company is read', () => {
  const names = ['Name', 'Name', 'Email', 'Name', 'Email'];
  const cells = ['Acme Ltd', 'Ada Lark', ADA[1], BOB[0], BOB[1]];
  expect(guess(names.map((name, index) => [name, cells[index] ?? '']))).toMatchObject({
    email: [3],
  });
});

test.each(['Contact person (company)', 'Company contact person'])(
  '%s is a person, and no company is sought by that name',
  (name) => {
    const columns = { [name]: ADA[0], Email: ADA[1] };
    expect(guess(columns)).toEqual({ email: [2], person_name: [1] });
    const list = { header: Object.keys(columns), sample: [Object.values(columns)] };
    expect(guessColumns('companies.enrich', list)).not.toHaveProperty('name');
  },
);

test('of columns that name offices only those of the first one are read', () => {
  const columns = { 'CEO email': ADA[1], 'CFO email': BOB[1], 'CFO phone': BOB[2] };
  expect(guess(columns)).toEqual({ email: [1] });
  expect(guess({ 'CEO email': ADA[1], 'CFO phone': BOB[2] })).toEqual({ email: [1] });
  expect(guess({ 'CFO phone': BOB[2], 'CEO email': ADA[1] })).toEqual({ phone: [1] });
  const ofOne = { 'Founder & CEO email': ADA[1], 'Founder phone': ADA[2] };
  expect(guess(ofOne)).toEqual({ email: [1], phone: [2] });
  // Both are in the domain of the company.
  const list = { header: Object.keys(columns), sample: [Object.values(columns)] };
  expect(guessColumns('companies.enrich', list).domain).toHaveLength(2);
  expect(guess({ CEO: ADA[1], CFO: BOB[1] })).toEqual({ email: [1] });
});

test('columns that are there again, as under a row of two groups, are those of another person', () => {
  const cells = [ADA[1], ADA[2], BOB[1], BOB[2]];
  const names = ['Email', 'Phone', 'Email', 'Phone'];
  expect(guess(names.map((name, index) => [name, cells[index] ?? '']))).toEqual({
    email: [1],
    phone: [2],
  });
});

test('columns that name where a value is from are of one person', () => {
  const columns = { 'Apollo email': ADA[1], 'Hunter email': BOB[1] };
  expect(guess(columns)).toEqual({ email: [1, 2] });
});

test('a company contact is a person', () => {
  expect(guess({ 'Company contact': ADA[0], Email: ADA[1] })).toMatchObject({ person_name: [1] });
});

test.each([
  ['done', false],
  ['@adalark', true],
  ['https://x.com/adalark', true],
])('a column X with the cell %s has handles: %s', (cell, isRead) => {
  expect('twitter' in guess({ Name: ADA[0], X: cell, Email: ADA[1] })).toBe(isRead);
});

test.each<[names: string[], emails: number[] | undefined]>([
  [['Name', 'LinkedIn URL', "Mother's Email"], undefined],
  [['Email', 'Landlord Phone', 'Landlord Email'], [1]],
  [['Landlord Name', 'Phone', 'Landlord Email'], [3]],
  [['Vendor Email', 'Driver Email'], [1]],
  [['Name', 'Employer', 'Email', 'Employer Email'], [3]],
  [['First Name', 'Last Name', 'Attorney Email', 'Client Email'], [4]],
  [['School Name', 'Teacher Name', 'Teacher Email'], [3]],
  [['Doctor First Name', 'Doctor Last Name', 'Practice Name', 'Doctor Email'], [4]],
  [['Driver First Name', 'Driver Last Name', 'Phone', 'Driver Email'], [4]],
  [['Student Name', 'Teacher Name', 'Teacher Email'], undefined],
  [['Vorname', 'Nachname', 'Firma', 'E-Mail Kundenberater', 'Email erstellt von'], undefined],
  [['Prénom', 'Nom', 'Société', 'Email du commercial', 'Email créé par'], undefined],
  [['Nombre', 'Apellidos', 'Email del asesor', 'Email asignado'], undefined],
  [['Nombre', 'Apellidos', 'Email del comercial'], undefined],
  [['Nome', 'Sobrenome', 'E-mail comercial'], [3]],
  [['Nome', 'Cognome', 'Email commerciale'], [3]],
  [['Nome', 'Cognome', 'Email agente', 'Email creato da', 'Email proprietario'], undefined],
  [['Voornaam', 'Achternaam', 'Email adviseur', 'Email aangemaakt door'], undefined],
  [['Imię', 'Nazwisko', 'Email doradca', 'Email właściciela', 'Email utworzony przez'], undefined],
  [['Nome', 'Sobrenome', 'Email do gerente', 'Email criado por'], undefined],
  [['Förnamn', 'Efternamn', 'Email rådgivare', 'Säljarens email', 'Email skapad av'], undefined],
  [['First Name', 'Last Name', 'Referral Partner Email', 'Asst. Email'], undefined],
  [['Attendee Name', 'Attendee Email', 'Buyer Email', 'Host Email'], [2]],
  [['Nom du conseiller', 'Email du conseiller'], [2]],
  [['Berater Name', 'Firma', 'Berater E-Mail'], [3]],
  [['Podcast Name', 'Host Name', 'Host Email'], [3]],
  [['Podcast', 'Host', 'Host Email', 'LinkedIn URL'], [3]],
  [['Email', 'Host', 'Host Email'], [1]],
  [['Doctor', 'Doctor Email', 'Patient Email'], [3]],
  [['Doctor', 'Patient', 'Phone', 'Doctor Email'], undefined],
  [['Team Name', 'Coach Name', 'Coach Email'], [3]],
  [['Team Member Name', 'Coach Email'], undefined],
  [['buyer-email', 'buyer-name', 'product-name', 'recipient-name'], [1]],
  [['Recipient Name', 'Recipient Email', 'Buyer Email'], [2]],
  [['Student', 'Class Name', 'Teacher Email'], undefined],
  [['Shipping Name', 'Driver Name', 'Driver Email'], undefined],
  [['First Name', 'Last Name', 'Worker Email'], [3]],
  [['First Name', 'Last Name', 'Social Worker Email'], undefined],
  [['Referral Name', 'Referral Email'], [2]],
  [['First Name', 'Last Name', 'Referral Email'], undefined],
  [['Referring Provider Name', 'Referring Provider Email'], [2]],
  [['Article', 'Author', 'Author Email', 'Editor Email'], [3]],
  [['Name Erziehungsberechtigter', 'E-Mail Erziehungsberechtigte'], [2]],
  [['Nom', 'Prénom', 'Email par défaut'], [3]],
  [['Nombre del asistente', 'Email del asistente'], [2]],
  [['Nombre', 'Apellidos', 'Email del asistente'], undefined],
  [['Nombre', 'Apellidos', 'Email indicado por'], undefined],
  [['Nome', 'Sobrenome', 'E-mail comercial 2'], [3]],
  [['Nome Fantasia', 'Nome do Responsável', 'E-mail do Responsável'], [3]],
  [['Nombre comercial', 'Nombre del gerente', 'Email del gerente'], [3]],
])('the contacts of a relation are read in a list of such people only: %j', (names, emails) => {
  const cellOf = (name: string) => {
    if (/e-?mail/i.test(name)) return 'ada@acme.example';
    if (name.includes('Phone')) return '+441632960001';
    return name.includes('URL') ? 'https://www.linkedin.com/in/ada' : 'Ada';
  };
  const { email, phone, company_name } = guess(names.map((name) => [name, cellOf(name)]));
  expect(email).toEqual(emails);
  const company = names.findIndex((name) => /^(?:Employer|Firma|Société)$/.test(name));
  expect(company_name).toEqual(company === -1 ? undefined : [company + 1]);
  expect(phone).toEqual(names.includes('Phone') ? [names.indexOf('Phone') + 1] : undefined);
});

test('of two columns of emails without a header, the one with a few reps for many rows is not read', () => {
  const sample = ['eva', 'max', 'eva', 'eva', 'max', 'max'].map((rep, index) => {
    return [`${rep}@us.example`, 'London', `p${index}@home.example`];
  });
  const { email } = guessColumns('people.enrich', { header: null, sample });
  expect(email?.map((one) => one.column)).toEqual([3]);
});

test.each([
  [['Company Name', 'Auditor Company Number', 'Shareholder Phone'], ['name']],
  [
    ['Company Name', 'Company Number', 'Supplier Phone'],
    ['name', 'registry_number'],
  ],
  [
    ['Supplier Name', 'Supplier Company Number', 'Phone'],
    ['name', 'phone', 'registry_number'],
  ],
  [
    ['Manufacturer Name', 'Brand Name', 'Manufacturer Phone'],
    ['name', 'phone'],
  ],
  [
    ['Supplier', 'Website', 'Supplier Phone'],
    ['domain', 'name', 'phone'],
  ],
  [
    ['Website', 'Supplier', 'Supplier Phone'],
    ['domain', 'name'],
  ],
  [
    ['Company Name', 'Registrar of Companies Number'],
    ['name', 'registry_number'],
  ],
])(
  'the identifiers of a relation of companies are read in a list of such ones only: %j',
  (header, kinds) => {
    const cellOf = (name: string) => {
      if (name.includes('Name') || name === 'Supplier') return 'Acme Ltd';
      if (name === 'Website') return 'https://acme.example';
      return name.includes('Phone') ? '+442079460000' : '01234567';
    };
    const sample = [header.map(cellOf)];
    expect(Object.keys(guessColumns('companies.enrich', { header, sample })).sort()).toEqual(kinds);
  },
);
