import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('calls that come while a batch is in flight ride the next one together, in order', async () => {
  const batches: number[][] = [];
  const releases: (() => void)[] = [];
  const double = coalesce<number, number>(
    async (inputs) => {
      batches.push(inputs);
      await new Promise<void>((resolve) => releases.push(resolve));
      return inputs.map((input) => input * 2);
    },
    { inFlightMax: 1, batchMax: 3 },
  );
  const first = double(1);
  await new Promise(setImmediate);
  const later = [2, 3, 4, 5].map(double);
  releases.shift()?.();
  expect(await first).toBe(2);
  await new Promise(setImmediate);
  releases.shift()?.();
  await new Promise(setImmediate);
  releases.shift()?.();
  expect(await Promise.all(later)).toEqual([4, 6, 8, 10]);
  expect(batches).toEqual([[1], [2, 3, 4], [5]]);
});

test('a call that fails by itself fails alone; a batch that throws fails all its calls', async () => {
  const run = coalesce<string, string>(
    async (inputs) => {
      if (inputs.includes('broken')) throw new Error('the whole batch');
      return inputs.map((input) => (input === 'bad' ? new Error('alone') : input));
    },
    { inFlightMax: 1, batchMax: 10 },
  );
  const some = await Promise.allSettled(['a', 'bad', 'b'].map(run));
  expect(some.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const none = await Promise.allSettled(['c', 'broken'].map(run));
  expect(none.map((one) => one.status)).toEqual(['rejected', 'rejected']);
});
