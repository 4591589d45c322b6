import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { magicIdentifier, magicWords } from '../core/enrich/magic-identifiers.ts';
import { identifierKinds } from '../core/identifiers/identifier.ts';
import { must } from '../core/lib/assert.ts';
import { AppError } from '../core/lib/errors.ts';
import { packageRoot } from '../core/lib/package-root.ts';
import { type OperationName, operations } from '../core/operations.ts';
import { columnKinds, columnSigns } from './column-kinds.ts';
import { foldColumnName } from './column-names.ts';
import { knownWords, tokenOfWord } from './column-words.ts';
import { contextColumns, mapColumns } from './columns.ts';

vi.mock('./column-names.ts', { spy: true });

/** A list with the columns of its header and rows separated by `|`. */
function head(header: string | null, ...rows: string[]) {
  const cells = (line: string) => line.split('|').map((cell) => cell.trim());
  return { header: header === null ? null : cells(header), sample: rows.map(cells) };
}

/** The mapping as `email:2,1 phone:3`, kinds in the operation's order. */
function guess(operation: OperationName, list: ReturnType<typeof head>): string {
  try {
    const mapping = mapColumns(operation, list, null);
    return Object.entries(mapping)
      .map(([kind, columns]) => `${kind}:${columns.map(({ column }) => column).join(',')}`)
      .join(' ');
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

function problemOf(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('headers of people lists', () => {
  test.each([
    ['E-mail', 'email:1'],
    ['email_address|first_name|last_name', 'email:1 person_name:2,3'],
    ['workEmail|fullName|companyName', 'email:1 company_name:3 person_name:2'],
    ['person.email|person.phone', 'email:1 phone:2'],
    ['Personal email|Work e-mail|E-mail 2|E-mail 1', 'email:2,4,3,1'],
    ['Email (private)|Email (business)', 'email:2,1'],
    ['Primary Email|Secondary Email|Email Status', 'email:1,2'],
    ['Company Phone|Mobile Phone|Direct Dial|Phone|Fax', 'phone:3,2,4,1'],
    ['Work Phone|HQ Phone', 'phone:1,2'],
    ['Navn på kontakt|Telefon på jobb|E-post på jobbet', 'email:3 phone:2 person_name:1'],
    ['Contact No|Contact Name|Country', 'phone:1 country:3 person_name:2'],
    ['Person Linkedin Url|Company Linkedin Url', 'professional_network:1'],
    ['LinkedIn Contact Profile URL|Facebook Url', 'professional_network:1'],
    ['Profile|Twitter handle|X|Xing Profil', 'professional_network:1 twitter:2,3'],
    [
      'Name|Vorname|E-Mail-Adresse|Firma|Telefonnummer|Handy|Land',
      'email:3 phone:6,5 country:7 company_name:4 person_name:2,1',
    ],
    [
      'Vor- und Nachname|Geschäftliche E-Mail|Durchwahl|Zentrale Telefon',
      'email:2 phone:3,4 person_name:1',
    ],
    [
      'Nom|Prénom|Adresse e-mail|Téléphone portable|Raison sociale|Pays',
      'email:3 phone:4 country:6 company_name:5 person_name:2,1',
    ],
    ["Courriel professionnel|Courriel personnel|Nom de l'entreprise", 'email:1,2 company_name:3'],
    [
      'Nombre|Apellidos|Correo electrónico|Teléfono móvil|Empresa|País',
      'email:3 phone:4 country:6 company_name:5 person_name:1,2',
    ],
    [
      'Nome e cognome|Indirizzo e-mail|Cellulare|Ragione sociale|Paese',
      'email:2 phone:3 country:5 company_name:4 person_name:1',
    ],
    [
      'Nome|Sobrenome|Endereço de e-mail|Telemóvel|Nome da empresa',
      'email:3 phone:4 company_name:5 person_name:1,2',
    ],
    [
      'Voornaam|Achternaam|E-mailadres|Mobiel|Bedrijfsnaam|Land',
      'email:3 phone:4 country:6 company_name:5 person_name:1,2',
    ],
    [
      'Imię i nazwisko|Adres e-mail|Telefon komórkowy|Nazwa firmy|Kraj',
      'email:2 phone:3 country:5 company_name:4 person_name:1',
    ],
    [
      'Förnamn|Efternamn|E-postadress|Mobilnr|Företag|Land',
      'email:3 phone:4 country:6 company_name:5 person_name:1,2',
    ],
    [
      'Fornavn|Efternavn|Mailadresse|Tlf.|Virksomhed',
      'email:3 phone:4 company_name:5 person_name:1,2',
    ],
    [
      '氏名|会社名|メールアドレス|電話番号|携帯電話|国',
      'email:3 phone:5,4 country:6 company_name:2 person_name:1',
    ],
    ['姓名|公司名称|邮箱|手机|国家', 'email:3 phone:4 country:5 company_name:2 person_name:1'],
    [
      'Given Name|Family Name|E-mail 1 - Type|E-mail 1 - Value|Organization 1 - Name',
      'email:4 company_name:5 person_name:1,2',
    ],
    ['Owner Email|Contact Owner|Email|Account Name|Parent Account', 'email:3 company_name:4'],
    ['Email|Account Executive Email|SDR phone|Mobile', 'email:1 phone:4'],
    ['Delegate Email|Delegate phone', 'email:1 phone:2'],
    ['LinkedIn URL|Company|Champion Email', 'professional_network:1 company_name:2'],
    ['Name|SDR phone|CSM Email|Account Executive Email', 'unmapped'],
    ['Name|Referer E-Mail|Secretary Phone|E-Mail Vorgesetzter|Approver Email', 'unmapped'],
    ['Old e-mail|New e-mail', 'email:2,1'],
    [
      'Company|Contact 1 Name|Contact 1 Email|Contact 2 Name|Contact 2 Email|Contact 2 Phone',
      'email:3 company_name:1 person_name:2',
    ],
    ['First|Last|EMAIL', 'email:3 person_name:1,2'],
    ['Name|Surname|Email', 'email:3 person_name:1,2'],
    ['Name|First Name|Last Name|Email', 'email:4 person_name:1'],
    [
      'Company|Contact name|Position|Department|Company size|e_mail',
      'email:6 company_name:1 person_name:2',
    ],
    ['Company Country|Country|Country phone code|Email', 'email:4 country:2,1'],
    ['Email|Email', 'email:1,2'],
    ['Company Name for Emails|Email opt in|Best e-mail', 'email:3'],
    ['Company|Job title|Website', 'unmapped'],
    ['Fax|Assistant Phone|Previous employer', 'unmapped'],
    ['', 'unmapped'],
  ])('%s', (header, expected) => {
    expect(guess('people.enrich', head(header))).toBe(expected);
  });
});

describe('headers of company lists', () => {
  test.each([
    [
      'Account|Website|Company No|Telephone|Town|Country',
      'registry_number:3 domain:2 phone:4 name:1 country:6 city:5',
    ],
    ['Name|Domain', 'domain:2 name:1'],
    ['Company|Name|First name', 'name:1'],
    ['First name|Name|URL', 'domain:3'],
    ['Website URL|Company Domain Name|Legal name', 'domain:2,1 name:3'],
    ['Companies House number|Business name', 'registry_number:1 name:2'],
    ['Account Number|VAT number|Account Name', 'name:3'],
    ['Company Linkedin Url|Person Linkedin Url', 'professional_network:1'],
    ['Phone (mobile)|HQ Phone|Home Phone|Phone', 'phone:2,4,1'],
    [
      'Firmenname|Handelsregisternummer|Webseite|Firmentelefon',
      'registry_number:2 domain:3 phone:4 name:1',
    ],
    ['Raison sociale|N° SIREN|Site web|Pays', 'registry_number:2 domain:3 name:1 country:4'],
    ['Raison sociale|N° SIRET', 'registry_number:2 name:1'],
    ['Razón social|Sitio web|Teléfono', 'domain:2 phone:3 name:1'],
    ['Bedrijf|KvK-nummer|Website', 'registry_number:2 domain:3 name:1'],
    ['Virksomhed|CVR-nummer|Hjemmeside', 'registry_number:2 domain:3 name:1'],
    ['会社名|法人番号|ホームページ|代表電話', 'registry_number:2 domain:3 phone:4 name:1'],
    ['公司名称|网址', 'domain:2 name:1'],
    ['Company|Work email|Private email', 'domain:2 name:1'],
    ['Company|Website|Email', 'domain:2 name:1'],
    ['Parent company|Employees|Notes', 'unmapped'],
    ['Company|News URL|Referring site|Press link', 'name:1'],
  ])('%s', (header, expected) => {
    expect(guess('companies.enrich', head(header))).toBe(expected);
  });
});

test('an operation maps only what it reads', () => {
  const list = head('Email|Phone|Twitter|LinkedIn|Name');
  expect(guess('people.mobile', list)).toBe('professional_network:4 email:1 person_name:5');
  expect(guess('people.email-verify', list)).toBe('email:1 person_name:5');
});

const people = [
  'Ada Example|ada@work.example.com|+44 20 7946 0958|https://network.example/in/ada|GB',
  'Bo Sample|bo@work.example.com|+44 20 7946 0959|professional-network.example/in/bo-s|GB',
  'Cy Test|cy@work.example.com|+1 212 456 7890|professional-network.example/in/cy|US',
];

describe('content', () => {
  test('finds the columns of a list without a header, and gives the reason', () => {
    const mapping = mapColumns('people.enrich', head(null, ...people), null);
    expect(mapping).toEqual({
      professional_network: [
        { column: 4, header: null, reason: '100% of 3 cells are profile URLs' },
      ],
      email: [{ column: 2, header: null, reason: '100% of 3 cells are emails' }],
      phone: [{ column: 3, header: null, reason: '100% of 3 cells are phone numbers' }],
      country: [{ column: 5, header: null, reason: '100% of 3 cells are countries' }],
    });
  });

  test('reads national numbers by the country of their row, or by the default', () => {
    const rows = ['020 7946 0958|United Kingdom', '030 901820|Germany', '(212) 456-7890|USA'];
    expect(guess('people.enrich', head(null, ...rows))).toBe('phone:1 country:2');
    const bare = head(null, '030 901820', '030 901830');
    expect(guess('people.enrich', bare)).toBe('unmapped');
    expect(mapColumns('people.enrich', { ...bare, defaultRegion: 'DE' }, null)).toHaveProperty(
      'phone',
    );
  });

  test('a column of one shared calling code is one of countries', () => {
    const list = (code: string) =>
      head('Phone|Country code', ...Array.from({ length: 6 }, () => `20 7946 0958|${code}`));
    expect(guess('people.enrich', list('+44'))).toBe('phone:1 country:2');
    expect(guess('people.enrich', list('44'))).toBe('phone:1 country:2');
  });

  test('does not mistake a date for a phone number', () => {
    for (const dates of [
      ['2024-01-05', '2023-11-30'],
      ['05.01.2024', '30.11.2023'],
    ]) {
      const list = { ...head(null, ...dates), defaultRegion: 'DE' };
      expect(problemOf(() => mapColumns('people.enrich', list, null)).code).toBe('unmapped');
    }
  });

  test('finds what a header does not name', () => {
    expect(guess('people.enrich', head('Kontaktmöglichkeit|A', 'a@b.example.com|1'))).toBe(
      'email:1',
    );
    expect(guess('people.enrich', head('Lead ID|A', 'a@b.example.com|1'))).toBe('email:1');
    expect(guess('people.enrich', head('|', '@ada|', '@bob_b|'))).toBe('twitter:1');
    expect(guess('companies.enrich', head('Col A', 'https://acme.com', 'bolt.co.uk'))).toBe(
      'domain:1',
    );
    expect(guess('companies.enrich', head('Col A', 'Acme Ltd', 'Bolt GmbH', 'Cog'))).toBe('name:1');
    expect(guess('companies.enrich', head(null, '01234567', 'SC048005'))).toBe('registry_number:1');
  });

  test('reports that the named column was not the one', () => {
    const rows = Array.from(
      { length: 6 },
      (_, row) => `+44 20 7946 095${row}|p${row}@x.example.com`,
    );
    const list = head('Email|Phone', ...rows);
    expect(mapColumns('people.enrich', list, null)).toEqual({
      email: [{ column: 2, header: 'Phone', reason: '100% of 6 cells are emails' }],
      phone: [{ column: 1, header: 'Email', reason: '100% of 6 cells are phone numbers' }],
    });
  });

  test('a few values for all rows are not those of the rows', () => {
    const rows = Array.from({ length: 10 }, (_, row) => {
      return `Acme ${row} Ltd|a@acme${row}.com|https://www.us.example.com/form/${row}`;
    });
    for (const header of ['Entry Page', 'Zielseite', 'Landing Page', 'Form URL']) {
      const list = head(`Company|Email|${header}`, ...rows);
      const mapping = mapColumns('companies.enrich', list, null);
      expect(mapping.domain).toMatchObject([{ column: 2 }]);
    }
    const people = rows.map(
      (_, row) => `P${row} X|+4420794609${50 + row}|us${row % 2}@us.example.com`,
    );
    for (const header of ['Zuständiger Mitarbeiter E-Mail', 'From', 'Requester Email']) {
      expect(guess('people.enrich', head(`Name|Phone|${header}`, ...people))).toBe(
        'phone:2 person_name:1',
      );
    }
    expect(guess('people.enrich', head('Name|Phone|Email', ...people))).toMatch(/^email:3/);
    const several = rows.map((_, row) => `c${row % 3}.example.com`);
    expect(guess('companies.enrich', head('Col A', ...several))).toBe('domain:1');
  });

  test('a few companies are those of the rows in a list of contacts', () => {
    const rows = Array.from({ length: 20 }, (_, row) => {
      return `P${row} X|Acme ${row % 3} Ltd|https://www.acme${row % 3}.example.com/x`;
    });
    for (const header of ['Target Domain', 'Portfolio Company URL', 'Site web fournisseur']) {
      const list = head(`Contact Name|Company|${header}`, ...rows);
      expect(guess('companies.enrich', list)).toMatch(/^domain:3 name:2/);
    }
    const own = rows.map((row) => `${row.split('|', 2).join('|')}|https://us.example.com/form`);
    const list = head('Contact Name|Company|Zielseite', ...own);
    expect(guess('companies.enrich', list)).toBe('name:2');
  });

  test.each([
    'https://www.other0.example.com/page',
    'vendor0.co.uk',
    'desk@vendor0.co.uk',
    'https://www.linkedin.com/company/agency-0',
    '+44 20 7946 0950',
    '01234560',
  ])('as many vendors as companies are not the companies: %s', (cell) => {
    for (const vendors of /^[+0]/.test(cell) ? [4, 7] : [4, 7, 30]) {
      const rows = Array.from({ length: 40 }, (_, row) => {
        return `P${row} X|Acme ${'ABCD'[row % 4]} Ltd|${cell.replace('0', String(row % vendors))}`;
      });
      for (const header of ['Vendor Website', 'Agentur', 'Strona odsyłająca', 'Page du formulaire'])
        expect(guess('companies.enrich', head(`Contact Name|Company|${header}`, ...rows))).toBe(
          'name:2',
        );
    }
  });

  test('refutes a header only with enough cells', () => {
    const list = (cells: number) => head('E-mail', ...Array.from({ length: cells }, () => 'ask'));
    expect(guess('people.enrich', list(4))).toBe('email:1');
    expect(guess('people.enrich', list(5))).toBe('unmapped');
    expect(guess('people.enrich', head('E-mail', 'n/a', '-', 'n/a', '-', '-', ''))).toBe('email:1');
  });

  test('a column that answers whether there is a profile holds none', () => {
    const rows = Array.from({ length: 6 }, (_, row) => `a${row}@b.example.com|Yes|TRUE`);
    expect(guess('people.enrich', head('Email|LinkedIn|Twitter', ...rows))).toBe('email:1');
  });

  test.each([
    ['words under "Profile" are not handles', 'Profile|Email', 'CTO|a@b.example.com', 'email:2'],
    [
      'a company page is not a person',
      'LinkedIn|Email',
      'x.example/company/acme|a@b.example.com',
      'email:2',
    ],
    [
      'company pages are not guessed from the cells',
      'Company Twitter|Email',
      '@acme|a@b.example.com',
      'email:2',
    ],
    [
      'a header that names no kind says that its handles are of companies',
      'Company handle|Email',
      '@acme|a@b.example.com',
      'email:2',
    ],
    [
      'the address of a profile says whose it is',
      'Company contact',
      'https://www.linkedin.com/in/ada',
      'professional_network:1',
    ],
    ['a fax is not a phone', 'Fax|Email', '+442079460958|a@b.example.com', 'email:2'],
    ['an owner is not the lead', 'Owner|Email', 'me@us.example.com|a@b.example.com', 'email:2'],
    [
      'a guardian is not the lead',
      'Guardian|Email',
      'me@us.example.com|a@b.example.com',
      'email:2',
    ],
    ['nor is a colleague', 'Colleague email|Email', 'me@us.example.com|a@b.example.com', 'email:2'],
    ['a number is not a phone', 'Employees|Email', '2079460958|a@b.example.com', 'email:2'],
    [
      'a half-known name needs half of the cells',
      'Email campaign|Email',
      'yes|a@b.example.com',
      'email:2',
    ],
    [
      'a guessed column is not added to a named one',
      'Betreuung|Email',
      'me@us.example.com|a@b.example.com',
      'email:2',
    ],
    [
      'a URL column of profiles is a profile',
      'URL|Email',
      'x.example/in/ada|a@b.example.com',
      'professional_network:1 email:2',
    ],
  ])('%s', (_promise, header, row, expected) => {
    expect(guess('people.enrich', head(header, row, row))).toBe(expected);
  });

  test.each([
    ['a list counts its own companies', 'Company No', ['1001', '1002', '1003', '1004', '1005']],
    ['dates are not registry numbers', null, ['20240105', '20231231', '20240229']],
    ['a private mailbox is not a domain', 'Private e-mail', ['a@b.example.com']],
    ['initials with dots are not a domain', 'Who', ['Mr.Smith', 'J.Jones']],
  ])('%s', (_promise, header, rows) => {
    expect(guess('companies.enrich', head(header, ...rows))).toBe('unmapped');
  });

  test('sites of a list of companies are read, whatever the header calls these', () => {
    const rows = ['acme.example.com|Ada', 'apex.example.org|Bob'];
    expect(guess('companies.enrich', head('Lead|Name', ...rows))).toMatch(/^domain:1/);
  });

  test.each(['Guardian email', 'Next of kin', 'Colleague email', 'Interviewer', 'EA email'])(
    'a column %s is of others, also where there is no other one',
    (header) => {
      const rows = ['Ada|a@b.example.com', 'Bob|b@c.example.com'];
      expect(guess('people.enrich', head(`Name|${header}`, ...rows))).toBe('unmapped');
    },
  );

  test('emails replace missing web addresses, and the reason says so', () => {
    const mapping = mapColumns('companies.enrich', head('Company|E-mail', 'Acme|a@acme.com'), null);
    expect(mapping.domain).toEqual([
      { column: 2, header: 'E-mail', reason: 'header "E-mail", read for their domain' },
    ]);
  });
});

describe('a requested mapping', () => {
  const list = head('Mail|E-Mail privat|Tel', 'a@b.example.com|c@d.example.com|+442079460958');

  test('is exact: columns that it does not name are not read', () => {
    expect(mapColumns('people.enrich', list, { email: 'Tel' })).toEqual({
      email: [{ column: 3, header: 'Tel', reason: 'chosen' }],
    });
  });

  test('accepts names in any spelling, numbers and lists of both, each column once', () => {
    const columns = (wanted: string | number | (string | number)[]) =>
      mapColumns('people.enrich', list, { email: wanted }).email?.map(({ column }) => column);
    expect(columns('Mail')).toEqual([1]);
    expect(columns('e mail PRIVAT')).toEqual([2]);
    expect(columns([2, 'Mail', 'mail'])).toEqual([2, 1]);
    expect(columns('3')).toEqual([3]);
  });

  test('accepts context columns, and numbers in a list without a header', () => {
    const mapping = mapColumns(
      'people.enrich',
      { header: null, sample: list.sample },
      {
        email: 1,
        person_name: [2, 3],
      },
    );
    expect(mapping.person_name).toEqual([
      { column: 2, header: null, reason: 'chosen' },
      { column: 3, header: null, reason: 'chosen' },
    ]);
  });

  test.each([
    [{ email: 'Nowhere' }, /"Nowhere", which is not in the file.*Mail, E-Mail privat, Tel/],
    [{ email: 4 }, /column 4; columns are numbered from 1 to 3/],
    [{ email: 0 }, /column 0/],
    [{ email: 1.5 }, /column 1.5/],
    [{ domain: 1 }, /people.enrich does not read `domain`/],
    [{ toString: 1 }, /does not read/],
  ])('%o is refused', (requested, message) => {
    const problem = problemOf(() => mapColumns('people.enrich', list, requested));
    expect(problem).toMatchObject({ code: 'invalid_parameter', status: 400 });
    expect(problem.message).toMatch(message);
    expect(problem.errors[0]?.field).toBe('mapping');
  });

  test('must name an identifier', () => {
    const problem = problemOf(() => mapColumns('people.enrich', list, { country: 1, email: [] }));
    expect(problem).toMatchObject({ code: 'unmapped', status: 422 });
  });
});

test.each([
  'Reports To Email',
  'Salesperson e-mail',
  'Ansvarlig e-post',
  'Ansvarig säljare e-post',
  'E-mail sjef',
  'Verantwoordelijke',
  'Leidinggevende e-mail',
  'E-Mail Verkäufer',
  'E-mail vendeur',
  'Assistante e-mail',
  'Correo del jefe',
  'Email vendedor',
  'Handlowiec e-mail',
  'Opiekun klienta',
  'E-mail przełożonego',
  '紹介者',
  '営業担当者メール',
  '推荐人邮箱',
  '业务员 邮箱',
])('the people of a column %s are not those of the list', (header) => {
  const list = head(`Ref|${header}`, '17|me@us.example.com', '18|me@us.example.com');
  const problem = problemOf(() => mapColumns('people.enrich', list, null));
  expect(problem).toMatchObject({ code: 'unmapped', status: 422 });
});

test('a mapping whose columns have long names for many kinds is refused', () => {
  const names = Array.from({ length: 50 }, (_, column) => `${column}${'x'.repeat(250)}`);
  const list = head(names.join('|'));
  const map = (...kinds: string[]) =>
    mapColumns('people.enrich', list, Object.fromEntries(kinds.map((kind) => [kind, names])));
  const few = ['email', 'phone', 'twitter', 'country'];
  expect(map(...few).country).toHaveLength(50);
  const problem = problemOf(() => map(...few, 'professional_network', 'city'));
  expect(problem).toMatchObject({ code: 'invalid_parameter', status: 400 });
  expect(problem.message).toMatch(/more than 65536 bytes/);
});

test('the error of a list that cannot be mapped describes each column', () => {
  const list = head('Ref|Remarks|Owner', '17||me@us.example.com', '18||me@us.example.com');
  const problem = problemOf(() => mapColumns('people.enrich', list, null));
  expect(problem).toMatchObject({ code: 'unmapped', status: 422 });
  expect(problem.errors.map(({ message }) => message)).toEqual([
    'column 1 "Ref": no identifier in 2 cells',
    'column 2 "Remarks": empty',
    'column 3 "Owner": 100% of 2 cells are emails',
  ]);
  expect(problem.message).toContain('Column 3 may be of others than the rows.');
  expect(problem.message).toContain('mapping={"email":"Owner"} or {"email": 3}');
});

describe('any list', () => {
  const names = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('Email', 'Name', 'Phone', 'Company', 'URL', 'Profile', 'Country', 'First', 'x'),
  );
  const cells = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'a@b.example.com',
      'Acme Ltd',
      '+442079460958',
      'x.example/in/a',
      'acme.com',
      'GB',
      '@a',
      '01234567',
    ),
  );
  const lists = fc.record({
    header: fc.option(fc.array(names, { maxLength: 6 })),
    sample: fc.array(fc.array(cells, { maxLength: 8 }), { maxLength: 6 }),
  });
  const operationNames = fc.constantFrom(...(Object.keys(operations) as OperationName[]));

  test('maps no column twice and only existing columns, the same way every time', () => {
    fc.assert(
      fc.property(operationNames, lists, (operation, list) => {
        const read = () => {
          try {
            return mapColumns(operation, list, null);
          } catch (error) {
            if (error instanceof AppError && error.code === 'unmapped') return null;
            throw error;
          }
        };
        const mapping = read();
        expect(read()).toEqual(mapping);
        const columns = Object.values(mapping ?? {}).flat();
        const widths = list.sample.map((row) => row.length);
        const width = Math.max(list.header?.length ?? 0, ...widths);
        expect(new Set(columns.map(({ column }) => column)).size).toBe(columns.length);
        expect(columns.every(({ column }) => column >= 1 && column <= width)).toBe(true);
        const known: string[] = [...operations[operation].identifiers, ...contextColumns];
        expect(Object.keys(mapping ?? {}).every((kind) => known.includes(kind))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});

test.each(columnKinds)(
  'a column of %s is found by its name, and its cells do not refute it',
  (kind) => {
    const operation = (Object.keys(operations) as OperationName[]).find((name) =>
      (operations[name].identifiers as readonly string[]).includes(kind),
    );
    // The template of the console heads its columns with the labels.
    expect(guess(must(operation, 'an operation'), head(identifierKinds[kind].label))).toBe(
      `${kind}:1`,
    );
    const [word = ''] = columnSigns[kind].words.split(' ');
    const cells = magicWords.map((magic) => magicIdentifier(magic, kind));
    expect(guess(must(operation, 'an operation'), head(word, ...cells))).toBe(`${kind}:1`);
  },
);

test('every word of column names is folded and has one token', () => {
  for (const [idea, words] of knownWords()) {
    for (const word of words) {
      expect(foldColumnName(word).replaceAll(' ', '')).toBe(word);
      expect([word, tokenOfWord(word)]).toEqual([word, idea]);
    }
  }
});

const folder = path.join(packageRoot, '../shared/data/leads');
const isFound = existsSync(folder);
if (!isFound) process.stdout.write('skipped: shared lead lists not found\n');

describe('real lists', () => {
  const listOf = (file: string) => {
    const bytes = readFileSync(file);
    const rows: string[][] = parse(bytes, { bom: true, to: 21 });
    return { header: rows[0] ?? [], sample: rows.slice(1) };
  };
  const peopleMapping =
    'professional_network:7 email:4 phone:5 twitter:6 country:9 company_name:2 person_name:1';
  const companyMapping = 'registry_number:3 domain:2 phone:4 name:1 country:6 city:5';

  test('the sample list is mapped correctly', () => {
    const list = listOf(path.join(packageRoot, 'samples/leads.csv'));
    expect(guess('people.enrich', list)).toBe(peopleMapping);
  });

  test.skipIf(!isFound)('the shared lists are mapped correctly', () => {
    const leads = listOf(path.join(folder, 'leads.csv'));
    const companies = listOf(path.join(folder, 'companies.csv'));
    expect(guess('people.enrich', leads)).toBe(peopleMapping);
    expect(guess('companies.enrich', companies)).toBe(companyMapping);
  });

  test.skipIf(!isFound)('a list without its header keeps the columns that content proves', () => {
    const leads = listOf(path.join(folder, 'leads.csv'));
    const found = guess('people.enrich', { header: null as never, sample: leads.sample });
    expect(found).toBe('professional_network:7 email:4 phone:5 twitter:6 country:9');
  });
});

test('a mapping of many names folds each column of the header once', () => {
  const header = [...Array.from({ length: 511 }, (_, index) => `${index} Äé`), 'eMail'];
  const names = Array<string>(50).fill('E-MAIL');
  const requested = { email: names, phone: names, twitter: names, country: names };
  vi.mocked(foldColumnName).mockClear();
  const mapping = mapColumns('people.enrich', { header, sample: [] }, requested);
  expect(mapping.email).toMatchObject([{ column: 512, header: 'eMail' }]);
  const folded = vi.mocked(foldColumnName).mock.calls.length;
  expect(folded).toBeGreaterThanOrEqual(512);
  expect(folded).toBeLessThanOrEqual(512 + 4 * 50);
});

test('a long name is found as it is written, and means nothing', () => {
  const long = `${'\ufdfa'.repeat(130)} e-mail`;
  const list = { header: ['a', long], sample: [] };
  const { email } = mapColumns('people.enrich', list, { email: long });
  expect(email).toMatchObject([{ column: 2 }]);
  expect(foldColumnName(long)).toBe('');
  const refused = problemOf(() => mapColumns('people.enrich', list, { email: 'b'.repeat(5000) }));
  expect(refused.message.length).toBeLessThan(500);
});
