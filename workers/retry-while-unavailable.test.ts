import { expect, test } from 'vitest';
import { ProblemError } from '../src/client/client.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';

const problem = (status: number, code: string) =>
  new ProblemError(status, { code, detail: 'as it is' });

test.each([
  ['a missing object', problem(503, 'object_missing')],
  ['a damaged object', problem(500, 'object_damaged')],
  ['a mistake of the caller', problem(404, 'not_found')],
])('%s is told at once', async (_what, error) => {
  let calls = 0;
  const call = async () => {
    calls++;
    throw error;
  };
  await expect(retryWhileUnavailable(call)).rejects.toBe(error);
  expect(calls).toBe(1);
});

test('a service that is away, or has no call left for a moment, is called again until it responds', async () => {
  const errors = [
    problem(503, 'unavailable'),
    new TypeError('terminated'),
    problem(429, 'too_many_requests'),
  ];
  const call = async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return 'here';
  };
  expect(await retryWhileUnavailable(call)).toBe('here');
});
