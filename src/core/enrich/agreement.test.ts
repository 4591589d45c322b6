import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { companyFields, personFields, type RecordField } from '../graph/fields.ts';
import { CELL_SEPARATOR } from '../graph/record.ts';
import { packageRoot } from '../lib/package-root.ts';
import { agrees } from './agreement.ts';
import type { MatchData, RecordBytes } from './match-data.ts';

type Stored = Record<string, unknown>;

const nothing: MatchData = { person: null, company: null, directors: null, periods: null };

/** A stored record with other records around it. */
function recordOf(fields: readonly RecordField[], stored: Stored): RecordBytes {
  const cells = fields.map(({ name, type }) => {
    const value = stored[name] ?? '';
    return type === 'json' && value !== '' ? JSON.stringify(value) : String(value);
  });
  const before = `before${CELL_SEPARATOR}`;
  const text = cells.join(CELL_SEPARATOR);
  const bytes = Buffer.from(`${before}${text}${CELL_SEPARATOR}after`);
  return { bytes, from: Buffer.byteLength(before), to: Buffer.byteLength(before + text) };
}

const personOf = (stored: Stored): MatchData => {
  return { ...nothing, person: recordOf(personFields, stored) };
};
const companyOf = (stored: Stored): MatchData => {
  return { ...nothing, company: recordOf(companyFields, stored) };
};

function agreesWithName(personName: string, given: string, family: string) {
  return agrees({ personName }, personOf({ id: 7, title: 'Dr', name: given, surname: family }));
}

test('a name agrees byte by byte only when it is the stored one in any case', () => {
  const letters = fc.constantFrom('A', 'a', 'B', 'k', 'K', '\u212a', 'é', ' ');
  const word = fc.string({ unit: letters, maxLength: 5 });
  const place = fc.nat(12);
  fc.assert(
    fc.property(word, word, place, fc.constantFrom('x', 'K', ' '), (given, family, at, other) => {
      const same = `${given} ${family}`;
      const changed = same.slice(0, at) + other + same.slice(at + 1);
      for (const listed of [same, same.toUpperCase(), same.toLowerCase(), changed]) {
        const isSame = listed.toLowerCase() === same.toLowerCase();
        // The spaces around a name leave it to the comparison of words.
        const byWords = agreesWithName(`  ${listed}  `, given, family);
        const expected = isSame && given !== '' && family !== '' ? 'yes' : byWords;
        expect(agreesWithName(listed, given, family)).toBe(expected);
      }
    }),
    { numRuns: 1000 },
  );
});

describe('a listed name that matches the record', () => {
  test.each([
    ['Jürgen Müller', 'Jürgen', 'Müller'],
    ['JURGEN MUELLER', 'Jürgen', 'Müller'],
    ['Müller, Jürgen', 'Jürgen', 'Müller'],
    ['MÜLLER Jürgen', 'Jürgen', 'MÜLLER'],
    ['Dr. Jürgen Müller, MBA', 'Jürgen', 'Müller'],
    ['M. Masango', 'Mary', 'Masango'],
    ['Masango M', 'Mary', 'Masango'],
    ['Mary J. Masango', 'Mary', 'Masango'],
    ['J. Mary Masango', 'Jane Mary', 'Masango'],
    ['J. Mary Masango', 'J.', 'Masango'],
    ['M. Masango, PMP', 'Mary', 'Masango'],
    ['Mary Masango', 'Mary Jane', 'Masango'],
    ['J.-N. Guérini', 'Jean-Noël', 'Guérini'],
    ['Jean Noel Guerini', 'Jean-Noël', 'Guérini'],
    ['John Vander Woude', 'John', 'Vanderwoude'],
    ["Conor O'Neill", 'Conor', 'O’Neill'],
    ['Nanette Diaz Barragán', 'Nanette', 'Barragán'],
    ['Maria Garcia', 'Maria', 'Garcia Lopez'],
    ['Radu Bogdan', 'Radu', 'Bogdan Ionescu'],
    ['Bogdan Ţîmpău Radu', 'Ţîmpău Radu', 'Bogdan'],
    ['Dan Blue', 'Daniel', 'Blue'],
    ['Soren Brosbol', 'Søren', 'Brosbøl'],
    ['Masango', 'Mary', 'Masango'],
    ['Cher', 'Cher', ''],
    ['Robert Smith Jr', 'Robert', 'Smith'],
    ['Robert Smith Jr', 'Robert', 'Smith II'],
    ['Sr. Robert Smith', 'Robert', 'Smith Jr'],
    ['Bob Smith', 'Robert', 'Smith'],
    ['Mohamed Hussain', 'Mohammed', 'Husain'],
    ['Thomson, Fiona', 'Fiona', 'Thompson'],
    ['Иван Петров', 'Иван', 'ПЕТРОВ'],
    ['Ivan Petrov', 'Иван', 'Петров'],
    ['山田 太郎', '太郎', '山田'],
  ])('%s is %s %s', (listed, given, family) => {
    expect(agreesWithName(listed, given, family)).toBe('yes');
  });
});

test.each([
  ['J?rgen M\ufffdller', 'Jürgen', 'Müller'],
  ['Jo\u00adhn Wilson', 'John', 'Wilson'],
])('a lost letter is a typing error: %s and %s %s', (listed, given, family) => {
  expect(agreesWithName(listed, given, family)).toBe('yes');
});

test.each([
  ['Anna Peters…', 'Anna', 'Peters', 'unknown'],
  ['Jo… Wilson', 'Jo', 'Wilson', 'unknown'],
  ['A*** Peters', 'Anna', 'Peters', 'unknown'],
  ['Jo… Wi…', 'Joseph', 'Wilson', 'unknown'],
  ['Anna Peters…', 'Jeff', 'Wilson', 'no'],
  ['Bj?rn ?str?m', 'Björn', 'Åström', 'unknown'],
  ['J?rgen Wilson', 'Julia', 'Wilson', 'unknown'],
  ['Zo? Xyz', 'Ann', 'Chor', 'no'],
])(
  'a name without some of its letters agrees with none: %s and %s %s',
  (listed, given, family, expected) => {
    expect(agreesWithName(listed, given, family)).toBe(expected);
  },
);

describe('a listed name that clearly differs', () => {
  test.each([
    ['Jeff Wilson', 'Mary', 'Masango'],
    ['Wilson, Jeff', 'Mary', 'Masango'],
    ['J. Wilson', 'Mary', 'Masango'],
    ['Juan de la Cruz', 'Pedro', 'de la Torre'],
    ['Jürgen Müller', 'Søren', 'Brosbøl'],
    ['Mr. Lee Park', 'Conor', "O'Neill"],
    ['Robert Smith Sr', 'Robert', 'Smith Jr'],
    ['Smith, Robert Jr.', 'Robert', 'Smith Senior'],
    ['Robert Smith III', 'Robert', 'Smith II'],
  ])('%s is not %s %s', (listed, given, family) => {
    expect(agreesWithName(listed, given, family)).toBe('no');
  });
});

describe('a listed name that may match', () => {
  test.each([
    ['a new family name', 'Mary Jackson', 'Mary', 'Thompson'],
    ['a relative', 'Paul Smith', 'Mary', 'Smith'],
    ['a relative with a title', 'M. Jean Smith', 'Michel', 'Smith'],
    ['a relative with an initial', 'Hugo R. Smith', 'Robert', 'Smith'],
    ['a family name that begins alike', 'Peter John', 'Peter', 'Johnson'],
    ['a family name that begins alike, turned', 'Williams, Mary', 'Mary', 'Will'],
    ['two given names in common', 'Maria Jose Garcia', 'Maria Jose', 'Lopez'],
    ['a given name alone', 'Mary', 'Mary', 'Masango'],
    ['another word alone', 'Lula', 'Luiz Inácio', 'da Silva'],
    ['a stored mononym', 'Jeff Wilson', 'Vicentinho', ''],
    ['two scripts that cannot be compared', 'Иван Петров', 'وليد', 'الصالح'],
    ['a transcription', 'Mikhail Sokolov', 'Michail', 'Sokoloff'],
    ['initials alone', 'J. S.', 'Mary', 'Masango'],
    ['nobody', 'Accounts Payable', 'Mary', 'Masango'],
    ['a placeholder', 'not available', 'Mary', 'Masango'],
    ['an email', 'jeff.wilson@x.example.com', 'Mary', 'Masango'],
    ['no listed name', '', 'Mary', 'Masango'],
    ['no stored name', 'Jeff Wilson', '', ''],
  ])('%s: unknown', (_case, listed, given, family) => {
    expect(agreesWithName(listed, given, family)).toBe('unknown');
  });
});

describe('the company of a person', () => {
  const stored = {
    name: 'Mary',
    surname: 'Masango',
    company: { id: 3, name: 'Acme Tools Limited' },
    currentCompanies: [{ id: 4, name: 'Bolt GmbH' }],
    pastCompany: 'Cog & Co',
    pastCompanies: [{ id: 5, name: 'Dyn [1] "Labs"' }],
  };
  const verdict = (companyName: string, personName?: string) =>
    agrees({ companyName, ...(personName !== undefined && { personName }) }, personOf(stored));

  test.each(['ACME TOOLS LTD', 'Bolt', 'Cog and Co', 'dyn 1 labs'])(
    '%s supports the match',
    (name) => {
      expect(verdict(name)).toBe('yes');
      expect(verdict(name, 'n/a')).toBe('yes');
    },
  );

  test('another company is no evidence, because people change jobs', () => {
    expect(verdict('Zebra Inc')).toBe('unknown');
  });

  test('is ignored when the name was compared', () => {
    expect(verdict('Acme Tools', 'Jeff Wilson')).toBe('no');
    expect(verdict('Acme Tools', 'Mary Jackson')).toBe('unknown');
    expect(verdict('Zebra Inc', 'M. Masango')).toBe('yes');
  });
});

describe('a company', () => {
  const stored = {
    name: 'International Business Tools plc',
    domain: 'ibt-hammers.example',
    summary: 'a long text',
    domains: ['hammers.example'],
    aliases: ['Hämmer & Söhne'],
    formerNames: ['Workweave'],
  };
  test.each([
    ['International Business Tools plc', 'yes'],
    ['INTERNATIONAL BUSINESS TOOLS', 'yes'],
    ['Business Tools (UK)', 'yes'],
    ['Hammer and Sohne GmbH', 'yes'],
    ['Work Weave Inc', 'yes'],
    ['IBT', 'unknown'],
    ['Intl Business Tools', 'yes'],
    ['Internatoinal Business Tools', 'yes'],
    ['Business Foods', 'unknown'],
    ['Tools of Trade', 'unknown'],
    ['Hammers Direct', 'unknown'],
    ['山田商店', 'unknown'],
    ['', 'unknown'],
    ['---', 'unknown'],
    ['Zebra Foods Ltd', 'no'],
  ])('%s: %s', (companyName, expected) => {
    expect(agrees({ companyName }, companyOf(stored))).toBe(expected);
  });

  test('is compared neither with a person nor with an empty name', () => {
    expect(agrees({ personName: 'Jeff Wilson' }, companyOf(stored))).toBe('unknown');
    expect(agrees({ companyName: 'Acme' }, nothing)).toBe('unknown');
    expect(agrees({}, companyOf({}))).toBe('unknown');
  });
});

test('any texts give a verdict, and a name always agrees with itself', () => {
  const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll(CELL_SEPARATOR, ''));
  fc.assert(
    fc.property(text, text, text, (listed, given, family) => {
      const person = personOf({ name: given, surname: family });
      const verdicts = ['yes', 'no', 'unknown'];
      expect(verdicts).toContain(agrees({ personName: listed, companyName: listed }, person));
      expect(agrees({ personName: `${given} ${family}` }, person)).not.toBe('no');
      const company = companyOf({ name: given, aliases: [family] });
      expect(verdicts).toContain(agrees({ companyName: listed }, company));
      expect(agrees({ companyName: family }, company)).not.toBe('no');
    }),
    { numRuns: 500 },
  );
});

const data = path.join(packageRoot, '../shared/data');
const isFound = existsSync(data);
if (!isFound) process.stdout.write('skipped: shared lead lists not found\n');

/** Rows of a list with their correct records. */
interface RealRow {
  listed: { personName?: string; companyName?: string };
  id: number;
  match: MatchData;
}

function readCsv(file: string): Record<string, string>[] {
  return parse(readFileSync(path.join(data, 'leads', file)), { bom: true, columns: true });
}

function readGraph(file: string): Map<number, Stored> {
  const lines = gunzipSync(readFileSync(path.join(data, 'graph', file))).toString('utf8');
  const records: Stored[] = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return new Map(records.map((record) => [Number(record.id), record]));
}

function countVerdicts(rows: readonly RealRow[]): Record<string, number> {
  const counts: Record<string, number> = { yes: 0, no: 0, unknown: 0 };
  for (const { listed, match } of rows) {
    const verdict = agrees(listed, match);
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
  return counts;
}

/** Pairs every row with the record of another row of the list. */
function misplace(rows: readonly RealRow[]): RealRow[] {
  return rows.flatMap(({ listed, id }, index) => {
    const other = rows[(index + 997) % rows.length];
    return other === undefined || other.id === id ? [] : [{ ...other, listed }];
  });
}

describe.skipIf(!isFound)('real lists', () => {
  test('correct people are never rejected, wrong ones nearly always', () => {
    const persons = readGraph('persons.jsonl.gz');
    const companies = readGraph('companies.jsonl.gz');
    const leads = readCsv('leads.csv');
    const rows = readCsv('leads.truth.csv').flatMap((truth, index): RealRow[] => {
      const id = Number(truth.expected_person_id);
      const { Name = '', Company = '' } = leads[index] ?? {};
      const stored = persons.get(id);
      if (stored === undefined || Name === '') return [];
      const company = companies.get(Number(stored.companyId));
      const match = personOf({ ...stored, company: company && { name: company.name } });
      return [{ listed: { personName: Name, companyName: Company }, id, match }];
    });
    expect(rows.length).toBeGreaterThan(1500);
    const right = countVerdicts(rows);
    expect(right.no).toBe(0);
    expect(right.yes).toBeGreaterThan(rows.length * 0.99);
    const others = misplace(rows);
    const wrong = countVerdicts(others);
    expect(wrong.no).toBeGreaterThan(others.length * 0.93);
    expect(wrong.yes).toBeLessThan(others.length * 0.005);
  });

  test('correct companies are never rejected, wrong ones nearly always', () => {
    const companies = readGraph('companies.jsonl.gz');
    const list = readCsv('companies.csv');
    const rows = readCsv('companies.truth.csv').flatMap((truth, index): RealRow[] => {
      const id = Number(truth.expected_company_id);
      const companyName = list[index]?.Account ?? '';
      const stored = companies.get(id);
      if (stored === undefined || companyName === '') return [];
      return [{ listed: { companyName }, id, match: companyOf(stored) }];
    });
    expect(rows.length).toBeGreaterThan(500);
    const right = countVerdicts(rows);
    expect(right.no).toBe(0);
    expect(right.yes).toBeGreaterThan(rows.length * 0.95);
    const others = misplace(rows);
    const wrong = countVerdicts(others);
    expect(wrong.no).toBeGreaterThan(others.length * 0.95);
    expect(wrong.yes).toBe(0);
  });
});

describe('a company found by its name', () => {
  const stored = (place: object) => companyOf({ id: 1, name: 'Delta Corp Limited', ...place });
  const india = { countries: { id: 4, name: 'India' }, cities: { id: 1, name: 'Pune' } };
  test.each([
    [{ country: 'IN' }, india, 'yes'],
    [{ country: 'US' }, india, 'no'],
    [{ country: 'US', city: 'Pune' }, india, 'no'],
    [{ city: 'PUNE' }, india, 'yes'],
    [{ city: 'Delhi' }, india, 'unknown'],
    [{}, india, 'unknown'],
    [{ country: 'GB' }, { registryCountry: 'GB' }, 'yes'],
    [{ country: 'US' }, { locality: 'Atlanta, Georgia, United States' }, 'yes'],
    [{ country: 'US' }, { locality: 'San Francisco, CA' }, 'unknown'],
    [{ country: 'CA' }, { locality: 'San Francisco, CA' }, 'unknown'],
    [{ country: 'US' }, { locality: 'London, UK' }, 'no'],
    [{ city: 'Atlanta' }, { locality: 'Atlanta, Georgia, United States' }, 'yes'],
    [{ country: 'US' }, {}, 'unknown'],
  ])('agrees by its place: %j with %j is %s', (place, record, expected) => {
    const listed = { companyName: 'Delta', ...place };
    for (const by of ['name', 'alias_name', 'former_name']) {
      expect(agrees(listed, stored(record), { by, value: '' })).toBe(expected);
    }
    expect(
      agrees({ ...listed, companyName: 'Delta Corp' }, stored(record), { by: 'domain', value: '' }),
    ).toBe('yes');
  });
});
