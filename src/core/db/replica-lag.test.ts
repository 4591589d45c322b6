import { expect, test } from 'vitest';
import { LagClock } from './replica-lag.ts';

test('a replica that has replayed everything has no lag, however long nothing was written', () => {
  const clock = new LagClock();
  clock.sample(100, 0);
  clock.sample(100, 60_000);
  expect(clock.lagOf(100, 60_000)).toBe(0);
});

test('the lag is the age of the newest position that the replica has reached', () => {
  const clock = new LagClock();
  for (const [position, at] of [
    [100, 0],
    [200, 2_000],
    [300, 4_000],
  ] as const) {
    clock.sample(position, at);
  }
  expect(clock.lagOf(100, 4_500)).toBe(4_500);
  expect(clock.lagOf(299, 4_500)).toBe(2_500);
  expect(clock.lagOf(300, 4_500)).toBe(500);
  expect(clock.lagOf(1_000, 4_500)).toBe(500);
});

test('the lag is unknown for a replica that has not reached the first sample', () => {
  const clock = new LagClock();
  expect(clock.lagOf(100, 0)).toBe(Infinity);
  clock.sample(100, 0);
  expect(clock.lagOf(99, 60_000)).toBe(Infinity);
});

test('the samples of ten minutes are kept, and no more', () => {
  const clock = new LagClock();
  for (let minute = 0; minute < 400; minute++) clock.sample(minute, minute);
  expect(clock.lagOf(99, 400)).toBe(Infinity);
  expect(clock.lagOf(100, 400)).toBe(300);
});

test('another server under the same address starts over', () => {
  const clock = new LagClock();
  clock.sample(500, 0);
  clock.sample(100, 2_000);
  expect(clock.lagOf(400, 2_000)).toBe(0);
  expect(clock.lagOf(99, 2_000)).toBe(Infinity);
});
