import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { assertClocksAgree, openSteadyClock } from './clock.ts';

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

test('a steady clock follows one that is set back, is minutes ahead or goes on after an hour, but no jump ahead that is undone', () => {
  let [wall, up] = [1_800_000_000_000, 5_000];
  const steady = openSteadyClock({ now: () => wall, uptime: () => up });
  const pass = (ms: number) => {
    wall += ms;
    up += ms;
  };
  pass(10 * HOUR_MS);
  expect(steady()).toBe(wall);
  wall += HOUR_MS / 2;
  expect(steady()).toBe(wall);
  wall -= 24 * HOUR_MS;
  expect(steady()).toBe(wall);
  const before = wall;
  wall += 24 * HOUR_MS;
  expect(steady()).toBe(before);
  pass(HOUR_MS - 1);
  expect(steady()).toBe(before + HOUR_MS - 1);
  wall -= 24 * HOUR_MS;
  expect(steady()).toBe(wall);
  wall += 24 * HOUR_MS;
  expect(steady()).toBe(wall - 24 * HOUR_MS);
  pass(HOUR_MS);
  expect(steady()).toBe(wall);
});
