import { expect, test } from 'vitest';
import { type Call, countAdmitted, shortfall, worstExcess } from './limit-history.ts';

const call = (sent: number, answered = sent, admitted = true): Call => ({
  sent,
  answered,
  admitted,
});
const burst = Array.from({ length: 60 }, () => call(0));

test('the checker finds an excess call, and accepts one in time', () => {
  expect(worstExcess(burst, 60)).toBe(0);
  expect(worstExcess([...burst, call(0.5), call(0.6)], 60)).toBeGreaterThan(1);
  expect(worstExcess([...burst, call(1), call(2)], 60)).toBe(0);
});

test('the checker finds a second burst anywhere in a long history', () => {
  const steady = Array.from({ length: 600 }, (_, second) => call(second));
  expect(worstExcess(steady, 60)).toBeLessThan(0);
  const again = Array.from({ length: 60 }, () => call(300.5));
  expect(worstExcess([...steady, ...again], 60)).toBeGreaterThan(0);
});

test('a long call may have taken its token at any moment of its duration', () => {
  expect(worstExcess([...burst, call(0, 1)], 60)).toBe(0);
  expect(worstExcess([...burst, call(0, 0.9)], 60)).toBeGreaterThan(0);
});

test('refused calls do not count, and needless refusals are detected', () => {
  const refused = Array.from({ length: 99 }, () => call(0, 0, false));
  expect(worstExcess([...burst, ...refused], 60)).toBe(0);
  expect(countAdmitted([...burst, ...refused])).toBe(60);
  expect(shortfall([...burst, ...refused, call(1)], 60)).toBe(0);
  expect(shortfall([...burst.slice(10), ...refused, call(1)], 60)).toBe(10);
});
