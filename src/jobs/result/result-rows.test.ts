/** Readers of results leave the thread to others between two turns. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PIECE_BYTES } from './read-parts.ts';
import { readResultRows, withText } from './result-rows.ts';

const line = `${'x'.repeat(99)}\n`;
const ROWS = 4000;

/** Rounds of the event loop. */
let round = 0;
let isCounting = true;
beforeAll(() => {
  const count = () => {
    round++;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
});
afterAll(() => {
  isCounting = false;
});

/** Bytes that were read in each round. */
let bytesByRound: Map<number, number>;
beforeEach(() => {
  bytesByRound = new Map();
});

async function* parts() {
  const part = Buffer.from(line.repeat(ROWS));
  for (let from = 0; from < part.length; from += PIECE_BYTES) {
    const to = from + PIECE_BYTES;
    yield { firstRow: 1, bytes: part.subarray(from, to), isLast: to >= part.length };
  }
}

const readerOf = (accountId: string, signal?: AbortSignal) => ({
  accountId,
  delimiter: ',' as const,
  signal,
});

/** Reads a result of some 400 kB; resolves with the round in which it was done. */
async function read(accountId: string): Promise<number> {
  let rows = 0;
  for await (const { cells } of readResultRows(parts(), readerOf(accountId))) {
    rows++;
    expect(cells).toEqual([line.trimEnd()]);
    bytesByRound.set(round, (bytesByRound.get(round) ?? 0) + line.length);
  }
  expect(rows).toBe(ROWS);
  return round;
}

test('readers of one account together read one turn in a round, whatever their number', async () => {
  await Promise.all(Array.from({ length: 8 }, () => read('a')));
  expect(Math.max(...bytesByRound.values())).toBeLessThanOrEqual(PIECE_BYTES + line.length);
});

test('readers of all accounts together read two turns in a round', async () => {
  await Promise.all(['a', 'b', 'c', 'd'].map(read));
  expect(Math.max(...bytesByRound.values())).toBeLessThanOrEqual(2 * (PIECE_BYTES + line.length));
});

test('the reader of another account does not wait for all of one account', async () => {
  const many = Array.from({ length: 16 }, () => read('a'));
  const other = await read('b');
  for (const done of await Promise.all(many)) expect(done).toBeGreaterThan(other);
});

test('a reader ends when its client has gone, also one that finds nothing', async () => {
  const client = new AbortController();
  let pieces = 0;
  const endless = async function* () {
    for (;;) {
      if (++pieces === 3) client.abort(new Error('gone'));
      yield { firstRow: 1, bytes: Buffer.from(line.repeat(1_000)), isLast: false };
    }
  };
  const search = withText(readResultRows(endless(), readerOf('a', client.signal)), 'nothing');
  await expect(search.next()).rejects.toThrow('gone');
  expect(pieces).toBe(3);
});
