/** Likely matches: people never by the name alone, and by each company of which they are known; companies by name and place. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { findLikely } from './find-likely.ts';

const LEEDS = 'Leeds, England, United Kingdom';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const others = Array.from({ length: 500 }, (_, at) => ({
    id: 100 + at,
    name: `Given${at % 20}`,
    surname: `Family${at % 25}`,
    companyId: 12,
  }));
  await importGraph(database.sql, {
    companies: [
      { id: 10, name: 'Nordlicht Optik GmbH' },
      { id: 11, name: 'Bergkristall Ltd' },
      { id: 12, name: 'Südwind Logistics Ltd' },
      { id: 13, name: 'Perlmutt Fund 2021 LP', locality: LEEDS },
      { id: 14, name: 'A Moosbach & Sons Ltd', locality: LEEDS },
      { id: 15, name: 'Quarzit Works Inc', locality: 'San Francisco, CA' },
    ],
    persons: [
      { id: 1, name: 'Ottokar', surname: 'Zwirner', position: 'Buyer' },
      { id: 2, name: 'Kunigunde', surname: 'Quast' },
      { id: 3, name: 'Bruno', surname: 'Zwirbel Sr.', companyId: 10 },
      { id: 4, name: '磊', surname: '杨', companyId: 10 },
      { id: 5, name: '明辉', surname: '欧阳', companyId: 10 },
      { id: 6, name: '철수', surname: '김', companyId: 11 },
      { id: 7, name: '太郎', surname: '山田', companyId: 11 },
      { id: 8, name: 'Paula', surname: 'Zwetsch', companyId: 11 },
      ...others,
    ],
    officers: [
      { companyId: 10, personId: 2, name: 'Kunigunde Quast', role: 'director' },
      { companyId: 11, personId: 2, name: 'Kunigunde Quast', role: 'director' },
    ],
  });
});
afterAll(() => database.drop());

const find = async (row: Record<string, string>) => {
  const [found] = await findLikely(database.sql, 'person', [row], 0.95);
  return [found?.status, found?.candidates.map(({ id }) => id)];
};

describe('a person whose employer is unknown', () => {
  test('is not found by the name beside any company', async () => {
    for (const company of ['Nordlicht Optik', 'Unknown Works Ltd']) {
      expect(await find({ name: 'Ottokar Zwirner', company })).toEqual(['no_match', []]);
    }
  });

  test('is found by the name with the job title', async () => {
    const row = { name: 'Ottokar Zwirner', company: 'Nordlicht Optik', title: 'Buyer' };
    expect(await find(row)).toEqual(['matched', [1]]);
  });
});

test('a given name in common use is not another one misspelt, also where no one stored has it', async () => {
  const company = 'Bergkristall Ltd';
  expect(await find({ name: 'Paul Zwetsch', company })).toEqual(['no_match', []]);
  expect(await find({ name: 'Paulla Zwetsch', company })).toEqual(['matched', [8]]);
});

test('an officer is found by the name with each of the companies, and with no other one', async () => {
  const name = 'Kunigunde Quast';
  for (const company of ['Nordlicht Optik', 'BERGKRISTALL LIMITED']) {
    expect(await find({ name, company })).toEqual(['matched', [2]]);
  }
  expect(await find({ name, company: 'Südwind Logistics Ltd' })).toEqual(['no_match', []]);
});

test.each([
  ['杨 磊', 'Nordlicht Optik', 'matched', [4]],
  ['磊 杨', 'Nordlicht Optik', 'matched', [4]],
  ['杨磊', 'Nordlicht Optik', 'matched', [4]],
  ['欧阳明辉', 'Nordlicht Optik', 'matched', [5]],
  ['김 철수', 'Bergkristall', 'matched', [6]],
  ['김철수', 'Bergkristall', 'matched', [6]],
  ['山田太郎', 'Bergkristall', 'matched', [7]],
  ['杨磊', 'Bergkristall', 'no_match', []],
  ['欧阳 明', 'Nordlicht Optik', 'no_match', []],
  ['김철', 'Bergkristall', 'no_match', []],
])(
  'a name of ideographs or syllables is found with and without a space: %s at %s, %s',
  async (name, company, status, ids) => {
    expect(await find({ name, company })).toEqual([status, ids]);
  },
);

test('a son is not found as his father, who has the same name at the same company', async () => {
  const company = 'Nordlicht Optik GmbH';
  expect(await find({ name: 'Bruno Zwirbel, Sr.', company })).toEqual(['matched', [3]]);
  expect(await find({ name: 'Bruno Zwirbel', company })).toEqual(['matched', [3]]);
  expect(await find({ name: 'Bruno Zwirbel Jr.', company })).toEqual(['no_match', []]);
});

test.each([
  ['Perlmutt Fund 2021 LP', 'matched'],
  ['Perlmutt Fund 2022 LP', 'no_match'],
  ['A. Moosbach and Sons Limited', 'matched'],
  ['E Moosbach & Sons Ltd', 'no_match'],
])(
  'a company is not one of its town with another number or initial: %s, %s',
  async (name, status) => {
    const row = { name, city: 'Leeds', country: 'GB' };
    const [found] = await findLikely(database.sql, 'company', [row], 0.95);
    expect(found?.status).toBe(status);
  },
);

test.each([
  ['A. Moosbach and Sons PLC', 'matched'],
  ['A. Moosbach and Sons', 'matched'],
  ['A. Moosbach and Sons GmbH', 'no_match'],
  ['A. Moosbach and Sons AB', 'no_match'],
])(
  'a company is not one of its name under the law of another country: %s, %s',
  async (name, status) => {
    for (const place of [{}, { city: 'Leeds', country: 'GB' }]) {
      const [found] = await findLikely(database.sql, 'company', [{ name, ...place }], 0.95);
      expect(found?.status).toBe(status);
    }
  },
);

test('a company of California is not one of Canada', async () => {
  const row = { name: 'Quarzit Works Inc', city: 'San Francisco', country: 'US' };
  const [found] = await findLikely(database.sql, 'company', [row], 0.95);
  expect(found?.candidates.map(({ id }) => id)).toEqual([15]);
});
