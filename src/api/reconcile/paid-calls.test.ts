/** A reconciliation request delivers the calls that it was charged for, whatever else fails in it. */
import { expect, test, vi } from 'vitest';
import type { EnrichedCall } from '../../core/calls/enrich-calls.ts';
import { miss } from '../../core/enrich/enrich-many.ts';
import type { RouteInput } from '../http/define-route.ts';
import { enrichAll } from './paid-calls.ts';

const row = { identifiers: [], invalid: null };
const wanted = [1, 2].map((decided) => {
  return { operation: 'people.enrich', row: { ...row, decided }, minProbability: null } as const;
});
const matched = { ...miss('matched', 'decision', ''), id: 1 };

/** A request whose calls end so. */
function requestOf(ends: (EnrichedCall | Error)[]) {
  const headers = new Map<string, string>();
  const warn = vi.fn();
  const run = vi.fn();
  for (const end of ends) {
    if (end instanceof Error) run.mockRejectedValueOnce(end);
    else run.mockResolvedValueOnce(end);
  }
  const input = {
    context: { calls: { run }, log: { warn } },
    key: { mode: 'live', accountId: 'a', creditsLeftToday: null },
    credentials: { keyId: 'k', sessionSha256: null },
    admission: { available: 10 },
    response: {
      once: () => {},
      getHeader: () => 'request',
      setHeader: (name: string, value: string) => headers.set(name, value),
    },
  };
  return { input: input as unknown as RouteInput, headers, warn };
}

test('a call that was charged is delivered although another one of its request fails', async () => {
  const failure = new Error('the connection was lost');
  const paid = { outcome: matched, charged: 1, remaining: 9 };
  const { input, headers, warn } = requestOf([paid, failure]);
  expect(await enrichAll(input, wanted)).toEqual([matched, undefined]);
  expect(headers.get('X-Credits-Charged')).toBe('1');
  expect(warn).toHaveBeenCalledWith({ err: failure }, expect.any(String));
});

test('a request that was charged nothing fails with its call, and may be sent again', async () => {
  const failure = new Error('the connection was lost');
  const { input } = requestOf([
    { outcome: miss('no_match', 'decision', ''), charged: 0, remaining: 9 },
    failure,
  ]);
  await expect(enrichAll(input, wanted)).rejects.toBe(failure);
});
