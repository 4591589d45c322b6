import { expect, test } from 'vitest';
import { LagClock } from './replica-lag.ts';

test('a replica that has all of it is behind by nothing, however long nothing was written', () => {
  const clock = new LagClock();
  clock.note(100, 0);
  clock.note(100, 60_000);
  expect(clock.lagOf(100, 60_000)).toBe(0);
});

test('a replica is behind by the age of the newest position that it has reached', () => {
  const clock = new LagClock();
  for (const [position, at] of [
    [100, 0],
    [200, 2_000],
    [300, 4_000],
  ] as const) {
    clock.note(position, at);
  }
  expect(clock.lagOf(100, 4_500)).toBe(4_500);
  expect(clock.lagOf(299, 4_500)).toBe(2_500);
  expect(clock.lagOf(300, 4_500)).toBe(500);
  expect(clock.lagOf(1_000, 4_500)).toBe(500);
});

test('nothing is known of a replica that has not reached the first note', () => {
  const clock = new LagClock();
  expect(clock.lagOf(100, 0)).toBe(Infinity);
  clock.note(100, 0);
  expect(clock.lagOf(99, 60_000)).toBe(Infinity);
});

test('the notes of ten minutes are kept, and no more', () => {
  const clock = new LagClock();
  for (let minute = 0; minute < 400; minute++) clock.note(minute, minute);
  expect(clock.lagOf(99, 400)).toBe(Infinity);
  expect(clock.lagOf(100, 400)).toBe(300);
});

test('another server under the same address begins anew', () => {
  const clock = new LagClock();
  clock.note(500, 0);
  clock.note(100, 2_000);
  expect(clock.lagOf(400, 2_000)).toBe(0);
  expect(clock.lagOf(99, 2_000)).toBe(Infinity);
});
