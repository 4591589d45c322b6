import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { startRepeating } from './start-repeating.ts';

afterEach(() => vi.useRealTimers());

test('a run that takes longer than the interval is alone, and the next one follows it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const ends: (() => void)[] = [];
  const repeating = startRepeating(
    1_000,
    () => new Promise<void>((resolve) => ends.push(resolve)),
    () => {},
  );
  vi.advanceTimersByTime(5_000);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await nextRound();
  vi.advanceTimersByTime(1_000);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await repeating.stop();
});

test('a failed run is reported, and the next one begins', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const failures: unknown[] = [];
  const repeating = startRepeating(
    1_000,
    () => Promise.reject(new Error('away')),
    (error) => failures.push(error),
  );
  await nextRound();
  vi.advanceTimersByTime(1_000);
  await repeating.stop();
  expect(failures).toHaveLength(2);
});
