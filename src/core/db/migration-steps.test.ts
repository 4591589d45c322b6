import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../lib/package-root.ts';
import { readRunsWith, readSteps, runsOutsideTransaction } from './migration-steps.ts';

const folder = path.join(packageRoot, 'infra', 'migrations');
const later = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.sql') && !name.endsWith('0001-baseline.sql'),
);

/** Migrations that a live service must not run, and part of what is said about each. */
const refused: [string, string][] = [
  ['alter table batches add column a int not null', 'give the column a default'],
  ['alter table batches add column a uuid default gen_random_uuid()', 'constant default'],
  ['alter table batches add column a int generated always as (1) stored', 'constant default'],
  ['alter table batches add column a int check (a > 0)', 'on its own, `not valid`'],
  ['alter table batches add column a int, add column b bigserial', 'constant default'],
  ['alter table batches alter column name type varchar', 'writes it again'],
  ['alter table batches alter name set not null', 'validate it in the next file'],
  ['alter table batches add constraint a check (x > 0)', 'validate it in the next file'],
  ['alter table batches add constraint a unique (x)', '`using index`'],
  ['alter table only batches drop column name', '`-- Unused since VERSION`'],
  ['alter table batches rename column name to title', '`-- Unused since VERSION`'],
  ['ALTER TABLE public.batches RENAME TO lists', '`-- Unused since VERSION`'],
  ['drop table batches', '`-- Unused since VERSION`'],
  ['drop index batches_name', '`-- Unused since VERSION`'],
  ['create index batches_name on batches (name)', '`create index concurrently'],
  ['create unique index if not exists a on only batches using gin (name)', 'concurrently'],
  ['update batches set name = null', 'in batches'],
  ["delete from batches where name = 'a; b'", 'in batches'],
  ['vacuum full batches', 'is not known to be safe'],
  ['alter table batches cluster on a', 'is not known to be safe'],
];

const accepted = [
  "alter table batches add column a int, add b text not null default 'x'",
  'alter table batches add constraint a check (x > 0) not valid',
  'alter table batches validate constraint a',
  'alter table batches alter column a drop not null, alter a set default 1',
  '-- Outside a transaction\ncreate index concurrently if not exists a on batches (name)',
  '-- Unused since 0.2.0\nalter table batches drop column name',
  'create table fresh (a int); create index fresh_a on fresh (a); update fresh set a = 1',
  'create table fresh (a int); create index fresh_position on fresh (position)',
  'create function f() returns int language sql as $$ drop table batches; update batches set a = 1 $$',
  "insert into settings values ('update batches set a = 1')",
];

describe('a migration', () => {
  test.each(refused)('%s is refused', (text, what) => {
    const problems = readSteps(`${text};`).flatMap(({ problem }) => problem ?? []);
    expect(problems).toEqual([expect.stringContaining(what)]);
  });

  test.each(accepted)('%s is accepted', (text) => {
    expect(readSteps(text).filter(({ problem }) => problem !== null)).toEqual([]);
  });

  test('says in comments how it runs', () => {
    const text =
      '-- Adds a column.\n-- Outside a transaction: it builds an index.\n-- Runs with 0.2.0';
    expect(readRunsWith(text)).toBe('0.2.0');
    expect(runsOutsideTransaction(text)).toBe(true);
    expect(readRunsWith('-- Adds a column.')).toBeNull();
  });
});

test('every migration after the baseline lets a busy service work, and says with which version it runs', () => {
  for (const name of later) {
    const text = readFileSync(path.join(folder, name), 'utf8');
    const problems = readSteps(text).filter(({ problem }) => problem !== null);
    expect(problems, name).toEqual([]);
    expect(readRunsWith(text), name).not.toBeNull();
  }
});
