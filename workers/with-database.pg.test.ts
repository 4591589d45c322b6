/** Commands on the database of the service: the clock that they date with. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../tests/support/database.ts';
import { printedBy } from '../tests/support/printed-by.ts';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let folder: string;
let list: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-with-database-'));
  list = path.join(folder, 'people.csv');
  await writeFile(list, 'id,name,email\n1,Ada Byron,ada@home.example\n');
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a command on a machine whose clock is a day off', () => {
  // It would date what it imports, and delete uploads under way as what a killed process left.
  it.each([
    ['import', 1],
    ['import', -1],
    ['doctor', 1],
    ['person', 1],
  ])('is refused: %s, %i day', async (name, days) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * DAY_MS });
    const words = {
      import: ['import', '--map', 'partners', list],
      doctor: ['doctor', '--fix'],
      person: ['person', 'erase', '--identifier', 'ada@home.example'],
    }[name];
    await expect(printedBy(words ?? [])).rejects.toMatchObject({ code: 'clock_wrong' });
  });
});
