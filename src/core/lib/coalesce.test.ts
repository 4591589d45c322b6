import { expect, test, vi } from 'vitest';
import { coalesce, openLane } from './coalesce.ts';

const ownerOf = () => 'one';

test('calls that arrive while a batch is in flight are coalesced into the next one, in order', async () => {
  const batches: number[][] = [];
  const releases: (() => void)[] = [];
  const double = coalesce<number, number>(
    async (inputs) => {
      batches.push(inputs);
      await new Promise<void>((resolve) => releases.push(resolve));
      return inputs.map((input) => input * 2);
    },
    { lane: openLane(1), batchMax: 3, ownerOf },
  );
  const release = async () => {
    await vi.waitUntil(() => releases.length > 0, { interval: 1 });
    releases.shift()?.();
  };
  const first = double(1);
  await vi.waitUntil(() => batches.length > 0, { interval: 1 });
  const later = [2, 3, 4, 5].map(double);
  await release();
  expect(await first).toBe(2);
  await release();
  await release();
  expect(await Promise.all(later)).toEqual([4, 6, 8, 10]);
  expect(batches).toEqual([[1], [2, 3, 4], [5]]);
});

test('a second batch starts only when a dozen calls wait', async () => {
  const batches: number[][] = [];
  const hold = coalesce<number, number>(
    (inputs) => {
      batches.push(inputs);
      return new Promise(() => {});
    },
    { lane: openLane(2), batchMax: 64, ownerOf },
  );
  const calls = Array.from({ length: 30 }, (_, place) => place);
  for (const call of calls) {
    void hold(call);
    await new Promise(setImmediate);
  }
  expect(batches).toEqual([[0], calls.slice(1, 13)]);
});

test('stages of one lane take turns, and the later stage goes first', async () => {
  const lane = openLane(1);
  const batches: string[] = [];
  const record = (name: string) => async (inputs: number[]) => {
    batches.push(`${name} ${inputs.join(',')}`);
    if (batches.length === 1) later = call(3);
    return inputs;
  };
  const begin = coalesce(record('begin'), { lane, batchMax: 10, ownerOf });
  const end = coalesce(record('end'), { lane, batchMax: 10, ownerOf });
  const call = async (input: number) => end(await begin(input));
  let later: Promise<number> | undefined;
  await Promise.all([1, 2].map(call));
  await later;
  expect(batches).toEqual(['begin 1,2', 'end 1,2', 'begin 3', 'end 3']);
});

test('an error of one call fails that call alone; a batch that throws fails all its calls', async () => {
  const run = coalesce<string, string>(
    async (inputs) => {
      if (inputs.includes('broken')) throw new Error('the whole batch');
      return inputs.map((input) => (input === 'bad' ? new Error('alone') : input));
    },
    { lane: openLane(1), batchMax: 10, ownerOf },
  );
  const some = await Promise.allSettled(['a', 'bad', 'b'].map(run));
  expect(some.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const none = await Promise.allSettled(['c', 'broken'].map(run));
  expect(none.map((one) => one.status)).toEqual(['rejected', 'rejected']);
});

test('the next call of one owner does not wait for all that another one has sent before it', async () => {
  const batches: string[][] = [];
  const run = coalesce<string, string>(
    async (inputs) => {
      batches.push(inputs);
      return inputs;
    },
    { lane: openLane(1), batchMax: 3, ownerOf: (input) => input.charAt(0) },
  );
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'].map(run));
  expect(batches).toEqual([
    ['a1', 'b1', 'c1'],
    ['a2', 'b2', 'a3'],
    ['a4', 'a5'],
  ]);
});
