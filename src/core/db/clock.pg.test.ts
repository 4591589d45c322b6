import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { assertClocksAgree } from './clock.ts';

const HOUR_MS = 3_600_000;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const at = (differenceMs: number) => () => Date.now() + differenceMs;

test('a clock that is a day off is refused, in either direction, with what to do', async () => {
  const refusal = (direction: string) => ({
    code: 'clock_wrong',
    message: expect.stringMatching(new RegExp(`is 86\\d{3} s ${direction}.*timedatectl`)),
  });
  await expect(assertClocksAgree(database.sql, at(24 * HOUR_MS))).rejects.toMatchObject(
    refusal('behind'),
  );
  await expect(assertClocksAgree(database.sql, at(-24 * HOUR_MS))).rejects.toMatchObject(
    refusal('ahead of'),
  );
});

test('a clock that is minutes off is no reason to stop', async () => {
  await assertClocksAgree(database.sql);
  await assertClocksAgree(database.sql, at(HOUR_MS / 2));
});
