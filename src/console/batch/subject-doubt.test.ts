import { expect, test } from 'vitest';
import { subjectDoubt } from './subject-doubt.ts';

const preview = (headers: string[], rows: string[][]) => ({
  columns: headers.map((header, at) => ({ column: at + 1, header, samples: [], filled: 1 })),
  rows: rows.map((cells, at) => ({ row: at, line: at, cells, identifiers: {}, invalid: null })),
});

test('a list of companies is no list of people', () => {
  const companies = preview(
    ['Company', 'Company Number', 'Email'],
    [['Acme Ltd', '00048839', 'info@acme.example']],
  );
  const columns = new Map([
    [1, 'company_name'],
    [3, 'email'],
  ]);
  expect(subjectDoubt('people.enrich', columns, companies)).toContain('a list of companies');
  expect(subjectDoubt('companies.enrich', columns, companies)).toBeNull();
});

test('a list of people may have columns of their companies', () => {
  const people = preview(
    ['Name', 'Company', 'Company Number', 'Email'],
    [
      ['Ada Lark', 'Acme Ltd', '00048839', 'ada@acme.example'],
      ['', 'Acme Ltd', '00048839', 'bob@acme.example'],
      ['Eve Gone', 'Acme Ltd', '00048839', ''],
    ],
  );
  const columns = new Map([
    [1, 'person_name'],
    [2, 'company_name'],
    [4, 'email'],
  ]);
  expect(subjectDoubt('people.enrich', columns, people)).toBeNull();
  const mails = preview(['Email', 'Company'], [['ada@acme.example', 'Acme Ltd']]);
  expect(subjectDoubt('people.enrich', new Map([[1, 'email']]), mails)).toBeNull();
});

test('rows with a company and no person are told when they are many', () => {
  const mixed = preview(
    ['First name', 'Company', 'Phone'],
    [
      ['Ada', 'Acme Ltd', '1'],
      [' ', 'Borealis Ltd', '2'],
      ['', 'Cygnus Ltd', '3'],
      ['', '', '4'],
    ],
  );
  const columns = new Map([
    [1, 'person_name'],
    [2, 'company_name'],
    [3, 'phone'],
  ]);
  expect(subjectDoubt('people.mobile', columns, mixed)).toContain('2 of the first 4 rows name');
});
