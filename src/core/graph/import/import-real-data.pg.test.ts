/** Imports the real people and companies, when available: none may be rejected. */
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { countryCode } from '../../identifiers/country.ts';
import { packageRoot } from '../../lib/package-root.ts';
import { lookUp, lookupKinds } from '../../lookups/look-up.ts';
import { parseFilter } from '../../search/parse.ts';
import { prepareFilter } from '../../search/prepare.ts';
import { countPeople } from '../../search/search.sql.ts';
import { importRecords } from '../sources/import-records.ts';
import { derivedId } from '../vocabulary/derived-ids.ts';
import { cityTerm } from '../vocabulary/terms.ts';
import { familyOf } from '../vocabulary/title-family.ts';
import { openRecords } from './open-records.ts';

const owner = { accountId: '01900000-0000-7000-8000-000000000000', live: true };
const folder = path.join(packageRoot, '..', 'shared', 'data', 'graph');
const isFound = existsSync(folder);
if (!isFound) process.stdout.write('skipped: real data for the import not found\n');

let database: TestDatabase;
beforeAll(async () => {
  if (isFound) database = await createTestDatabase();
});
afterAll(() => database?.drop());

describe.skipIf(!isFound)('the real data', () => {
  it('is loaded completely, and a second import changes nothing', {
    timeout: 120_000,
  }, async () => {
    for (const entity of ['companies', 'persons'] as const) {
      const lines = linesOf(entity).length;
      const first = await importFile(database, entity);
      expect(first).toMatchObject({ read: lines, inserted: lines, rejected: 0, droppedValues: {} });
      const second = await importFile(database, entity);
      expect(second).toMatchObject({ read: lines, unchanged: lines, rejected: 0 });
    }
    const [counts] = await database.sql`
      select (select count(*) from persons) = (select count(*) from person_records) as people,
        (select count(*) from companies) = (select count(*) from company_records) as companies`;
    expect(counts).toEqual({ people: true, companies: true });
  });

  it('has its countries found by code and by name', async () => {
    const count = async (place: string) => {
      const query = `locationList=${encodeURIComponent(`[${place}]`)}`;
      const prepared = await prepareFilter(database.sql, parseFilter(query), owner);
      return countPeople(database.sql, prepared);
    };
    const spellings = [
      ['London:United Kingdom', 'London:GB', 'london:uk'],
      [':United States', ':US', ':USA', ':Estados Unidos'],
      [':Germany', ':DE', ':Deutschland'],
    ];
    for (const [name = '', ...others] of spellings) {
      const people = await count(name);
      expect([name, people]).not.toEqual([name, 0]);
      for (const other of others) expect([other, await count(other)]).toEqual([other, people]);
    }
  });
});

describe.skipIf(!isFound)('the lookups of the real data, which has no ids of titles', () => {
  it('find the people of each title, industry and place', { timeout: 120_000 }, async () => {
    const { sql } = database;
    const held = heldInFile();
    for (const kind of lookupKinds) {
      const values = await lookUp(sql, kind, { text: '', limit: 200 });
      const withIds = values.filter(({ id }) => id !== null);
      expect([kind, withIds.length]).not.toEqual([kind, 0]);
      for (const { type, id, name } of withIds) {
        const key = `${fieldOf[type]} ${id}`;
        const prepared = await prepareFilter(sql, parseFilter(`${fieldOf[type]}=${id}`), owner);
        expect([name, await countPeople(sql, prepared)]).toEqual([name, held.get(key) ?? 0]);
      }
    }
    const [top] = await lookUp(sql, 'job-titles', { text: 'chief executive', limit: 1 });
    expect(top).toMatchObject({ type: 'position', name: 'Chief Executive Officer' });
    expect(top?.count).toBeGreaterThan(1500);
  });
});

const fieldOf: Readonly<Record<string, string>> = {
  position: 'positionId',
  city: 'cityId',
  industry: 'industryId',
  country: 'countryId',
  region: 'regionId',
};

/** How many people of the file have each id, given or of their title or town. */
function heldInFile(): Map<string, number> {
  const held = new Map<string, number>();
  for (const line of linesOf('persons')) {
    const person = JSON.parse(line) as Record<string, unknown>;
    const family = typeof person.position === 'string' ? familyOf(person.position) : null;
    const town = String(person.locality ?? '').split(', ');
    const country = town.length === 3 ? countryCode(town[2] ?? '') : null;
    const city = country === null ? null : cityTerm(town[0] ?? '');
    const ids = {
      ...person,
      positionId: family === null ? undefined : derivedId('positions', family.key),
      cityId:
        person.cityId ??
        (city === null ? undefined : derivedId('cities', `${country} ${city.key}`)),
    } as Record<string, unknown>;
    for (const field of Object.values(fieldOf)) {
      if (ids[field] === undefined) continue;
      const key = `${field} ${ids[field]}`;
      held.set(key, (held.get(key) ?? 0) + 1);
    }
  }
  return held;
}

function fileOf(entity: 'companies' | 'persons'): string {
  return path.join(folder, `${entity}.jsonl.gz`);
}

async function importFile({ sql }: TestDatabase, entity: 'companies' | 'persons') {
  const rejects = new Writable({ write: (_chunk, _encoding, done) => done() });
  const opened = await openRecords(createReadStream(fileOf(entity)));
  return importRecords(sql, { entity, ...opened, rejects });
}

/** Not by `readline`, which from Node 24 on takes a U+2028 inside a string for the end of its line. */
function linesOf(entity: 'companies' | 'persons'): string[] {
  return gunzipSync(readFileSync(fileOf(entity)))
    .toString()
    .trimEnd()
    .split('\n');
}
