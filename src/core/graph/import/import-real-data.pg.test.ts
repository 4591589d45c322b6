/** Imports the real people and companies, when available: none may be rejected. */
import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { packageRoot } from '../../lib/package-root.ts';
import { parseFilter } from '../../search/parse.ts';
import { prepareFilter } from '../../search/prepare.ts';
import { countPeople } from '../../search/search.sql.ts';
import { importRecords } from './import-records.ts';
import { openRecords } from './open-records.ts';

const owner = { accountId: '01900000-0000-7000-8000-000000000000', live: true };
const folder = path.join(packageRoot, '..', 'shared', 'data', 'graph');
const isFound = existsSync(folder);
if (!isFound) process.stdout.write('skipped: real data for the import not found\n');

describe.skipIf(!isFound)('the real data', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database?.drop());

  it('is loaded completely, and a second import changes nothing', {
    timeout: 120_000,
  }, async () => {
    for (const entity of ['companies', 'persons'] as const) {
      const lines = await countLines(fileOf(entity));
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

function fileOf(entity: 'companies' | 'persons'): string {
  return path.join(folder, `${entity}.jsonl.gz`);
}

async function importFile({ sql }: TestDatabase, entity: 'companies' | 'persons') {
  const rejects = new Writable({ write: (_chunk, _encoding, done) => done() });
  const opened = await openRecords(createReadStream(fileOf(entity)));
  return importRecords(sql, { entity, ...opened, rejects });
}

async function countLines(file: string): Promise<number> {
  const input = createReadStream(file).pipe(createGunzip());
  let lines = 0;
  for await (const _line of createInterface({ input })) lines += 1;
  return lines;
}
