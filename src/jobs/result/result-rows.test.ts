/** Readers of results leave the thread to others between two turns. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PIECE_BYTES } from './read-parts.ts';
import { toSheet } from './result-formats.ts';
import { BLOCK_CHARACTERS, inBlocks, readResultRows, withText } from './result-rows.ts';

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
async function read(accountId: string, turnBytes = 0): Promise<number> {
  let rows = 0;
  for await (const { cells } of readResultRows(parts(), { ...readerOf(accountId), turnBytes })) {
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

test('a reader that counts rows reads more in a turn, and leaves the thread after each', async () => {
  const turnBytes = 2 * PIECE_BYTES;
  await read('a', turnBytes);
  expect(bytesByRound.size).toBeGreaterThanOrEqual(3);
  expect(Math.max(...bytesByRound.values())).toBeLessThanOrEqual(turnBytes + line.length);
});

test('readers of all accounts together read two turns in a round', async () => {
  await Promise.all(['a', 'b', 'c', 'd'].map((accountId) => read(accountId)));
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

test('one piece that becomes megabytes is a turn for each block of them', async () => {
  const long = 'x'.repeat(BLOCK_CHARACTERS / 2);
  const lines = async function* () {
    for (let line = 0; line < 40; line++) {
      bytesByRound.set(round, (bytesByRound.get(round) ?? 0) + long.length);
      yield long;
    }
  };
  const readBlocks = async (accountId: string) => {
    const user = { accountId, signal: new AbortController().signal };
    for await (const block of inBlocks(lines(), user)) {
      expect(block).toHaveLength(BLOCK_CHARACTERS);
    }
  };
  await Promise.all([readBlocks('a'), readBlocks('a')]);
  expect(Math.max(...bytesByRound.values())).toBeLessThanOrEqual(2 * BLOCK_CHARACTERS);
});

test('a million blank lines are one step of a workbook', async () => {
  const rows = async function* () {
    yield { row: 1, cells: ['a'], text: Buffer.from('a'), blankLines: 1_000_000 };
  };
  const layout = {
    delimiter: ',' as const,
    newline: '\n',
    hasMark: false,
    names: ['name'],
    headerText: 'name',
    headerWidth: 1,
    width: 1,
    matches: false,
    further: [],
    columns: [],
  };
  const sheet = toSheet(rows(), layout);
  const steps: unknown[] = [];
  for await (const step of sheet) steps.push(step);
  expect(steps).toEqual([
    [{ text: 'name', typed: false }],
    1_000_000,
    [{ text: 'a', typed: false }],
  ]);
});
