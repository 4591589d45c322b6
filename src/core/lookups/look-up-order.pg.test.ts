import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import type { Sql } from '../db/client.ts';
import { nameLookups } from '../graph/lookup-values.sql.ts';
import { must } from '../lib/assert.ts';
import { lookUp } from './look-up.ts';
import { type NaiveValue, naiveLookUp } from './naive-look-up.test-suite.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Writes titles with their holders; returns them as the database compares them. */
async function writeTitles(sql: Sql, titles: { name: string; people: number }[]) {
  await sql`truncate positions, lookup_values, lookup_words, lookup_vocabulary`;
  await sql`
    insert into positions (id, name) select place, name
    from unnest(${titles.map(({ name }) => name)}::text[]) with ordinality t (name, place)`;
  await nameLookups(
    sql,
    1,
    titles.map((_, index) => index + 1),
  );
  await sql`
    update lookup_values v set people = t.people
    from unnest(${titles.map(({ people }) => people)}::int[]) with ordinality t (people, place)
    where v.kind = 1 and v.id = t.place`;
  return sql<NaiveValue[]>`
    select id, name, folded, people from lookup_values where kind = 1 and name <> ''`;
}

async function expectSame(values: readonly NaiveValue[], text: string, limit: number) {
  const [row] = await database.sql<{ folded: string }[]>`select fold_words(${text}) as folded`;
  const { folded } = must(row, 'folded text');
  const wanted = folded === '' && text.trim() !== '' ? [] : naiveLookUp(values, folded, limit);
  const found = await lookUp(database.sql, 'job-titles', { text, limit });
  expect(found.map(({ id }) => id)).toEqual(wanted);
}

const letters = fc.constantFrom(...'aaabbcé东ü'.split(''));
const word = fc.oneof(
  fc.string({ unit: letters, minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    'engineer',
    'engineering',
    'manager',
    'mangrove',
    'managers',
    'of',
    'senior',
    'c++',
  ),
);
const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
const title = fc.record({ name, people: fc.nat({ max: 5 }) });

/** A text that a person would type for a name: all or the beginning of it, some words, or with a typo. */
const typed = (names: readonly string[]) =>
  fc
    .record({
      name: fc.constantFrom(...names),
      from: fc.nat({ max: 2 }),
      length: fc.integer({ min: 1, max: 30 }),
      slips: fc.array(
        fc.record({ at: fc.nat({ max: 20 }), kind: fc.nat({ max: 3 }), letter: letters }),
        {
          maxLength: 2,
        },
      ),
    })
    .map(({ name: whole, from, length, slips }) => {
      const text = [...whole.split(' ').slice(from).join(' ')].slice(0, length);
      for (const { at, kind, letter } of slips) {
        const place = at % Math.max(1, text.length);
        if (kind === 0) text.splice(place, 1);
        else if (kind === 1) text.splice(place, 0, letter);
        else if (kind === 2) text.splice(place, 1, letter);
        else text.splice(place, 2, ...text.slice(place, place + 2).reverse());
      }
      return text.join('');
    });

describe('the result equals reading and ranking every value', () => {
  test('for random names, texts and limits', async () => {
    const project = fc.array(title, { minLength: 1, maxLength: 40 }).chain((titles) =>
      fc.record({
        titles: fc.constant(titles),
        texts: fc.array(fc.oneof(typed(titles.map((entry) => entry.name)), name, fc.string()), {
          minLength: 12,
          maxLength: 12,
        }),
        limit: fc.integer({ min: 1, max: 12 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(project, async ({ titles, texts, limit }) => {
        const values = await writeTitles(database.sql, titles);
        for (const text of texts) {
          const sent = Buffer.from(text.replaceAll('\0', '')).toString();
          await expectSame(values, sent, limit);
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test('when more names fit than are read one by one', async () => {
    const parts = [
      ['senior', 'junior', 'lead', 'chief', 'deputy'],
      ['sales', 'software', 'staff', 'supply', 'data', 'risk', 'rare'],
      ['manager', 'engineer', 'analyst', 'agent', 'buyer', 'editor', 'officer'],
      ['emea', 'apac', 'retail', 'remote', 'growth', 'nights', 'europe', 'berlin', 'east'],
    ];
    const titles = parts
      .reduce<string[]>(
        (begun, words) => begun.flatMap((text) => words.map((next) => `${text} ${next}`)),
        [''],
      )
      .map((text, index) => ({ name: text.trim(), people: (index * 7919) % 613 }));
    const values = await writeTitles(database.sql, titles);
    for (const text of [
      's',
      'senior',
      'e',
      'sales',
      's e',
      'senior sales',
      'l s e',
      'senior rare e',
      'r',
      'a',
    ]) {
      for (const limit of [1, 10, 100]) await expectSame(values, text, limit);
    }
    for (const text of ['seniro slaes', 'saels', 'enginer', 'senior sofware', 'xyzzy', 'b s', '']) {
      await expectSame(values, text, 10);
    }
  });
});
