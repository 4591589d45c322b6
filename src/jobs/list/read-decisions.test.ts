/** A file of decisions is bounded in what it costs the thread and in what its refusal repeats. */
import { afterEach, expect, test } from 'vitest';
import { readDecisions } from './read-decisions.ts';

const MIB = 1024 * 1024;
const reader = { accountId: 'one', signal: new AbortController().signal };

let ticking: NodeJS.Immediate | undefined;
afterEach(() => clearImmediate(ticking));

/** Counts the rounds of the event loop from here on. */
function countRounds(): () => number {
  let rounds = 0;
  const tick = () => {
    rounds++;
    ticking = setImmediate(tick);
  };
  tick();
  return () => rounds;
}

test.each([
  ['rows without an id', `row,id\n${'7,\n'.repeat(MIB)}`],
  ['empty lines', `row,id\n${'\n'.repeat(3 * MIB)}`],
  ['rows of many cells', `row,id\n${`7,,${','.repeat(60_000)}\n`.repeat(50)}`],
])('%s leave the thread to others while they are read', async (_, text) => {
  const roundsOf = countRounds();
  await expect(readDecisions(text, reader, () => {})).rejects.toThrow('no line has an id');
  expect(roundsOf()).toBeGreaterThanOrEqual(40);
});

test.each([
  ['a cell with a quote inside', `row,id\n7,${'a'.repeat(100_000)}"x\n`, 'must be the id'],
  ['a quote that is not closed', `row,id\n7,"${'a'.repeat(3 * MIB)}`, 'is not CSV'],
  ['a line without an end', `row,id\n7,${'a'.repeat(3 * MIB)}`, 'is not CSV'],
  ['a header without an end', `${'a,'.repeat(MIB)}row,id\n7,8\n`, 'is missing'],
])('%s is refused without being repeated', async (_, text, message) => {
  const refusal = await readDecisions(text, reader, () => {}).catch(
    (error: Error) => error.message,
  );
  expect(refusal).toContain(message);
  expect(String(refusal).length).toBeLessThan(300);
});

test.each([
  ['row,id,id\n7,8,9\n', [[7, 9, 2]]],
  [
    'id;name;row\r\n8;"a;b";7\r\n\r\nNone;;9\r\n',
    [
      [7, 8, 2],
      [9, null, 4],
    ],
  ],
  ['\ufeff\n Row \tID\tconstructor\t__proto__\n7\t 0008 \tx\ty', [[7, 8, 3]]],
])('%j has its decisions', async (text, wanted) => {
  const decisions = await readDecisions(text, reader, () => {});
  expect(decisions.map(({ row, id, at }) => [row, id, at])).toEqual(wanted);
});
