import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { noteConnection } from '../../core/limits/thread-turns.ts';
import { inFreeReadTurn } from './free-read-turns.ts';

const stays = () => new AbortController().signal;
const accounts = Array.from({ length: 12 }, (_, index) => `account ${index}`);

test('of the reads of twelve accounts two begin in a round of the event loop, each account in turn', async () => {
  const begun: string[] = [];
  const reads = [...accounts, ...accounts, ...accounts].map((account) =>
    inFreeReadTurn(account, stays(), async () => {
      begun.push(account);
    }),
  );
  let most = 0;
  for (let before = 0; begun.length < reads.length; before = begun.length) {
    await nextRound();
    most = Math.max(most, begun.length - before);
  }
  await Promise.all(reads);
  expect(most).toBeLessThanOrEqual(2);
  expect(new Set(begun.slice(0, accounts.length))).toEqual(new Set(accounts));
});

test('reads begin after the connections that come at once', async () => {
  let begun = 0;
  const reads = accounts.map((account) =>
    inFreeReadTurn(account, stays(), async () => {
      begun++;
    }),
  );
  for (let round = 0; round < 20; round++) {
    noteConnection();
    await nextRound();
  }
  expect(begun).toBe(0);
  await Promise.all(reads);
});

test('a read whose client has gone leaves its turns to the next one of its account', async () => {
  const gone = new AbortController();
  const begun: string[] = [];
  const read = (name: string, signal: AbortSignal) =>
    inFreeReadTurn('one', signal, async () => {
      begun.push(name);
    });
  const left = ['first', 'second', 'third'].map((name) => read(name, gone.signal));
  const last = read('last', stays());
  gone.abort(new Error('gone'));
  const ends = await Promise.allSettled(left);
  await last;
  // The first one's turn of the thread had begun.
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(begun).toEqual(['first', 'last']);
});
