import { expect, test } from 'vitest';
import { Problem } from './problem.ts';

test.each([
  [413, null, 'A proxy in front of the service refuses this as too large'],
  [502, { errors: 'down', detail: 'Bad Gateway', code: 502 }, 'We can’t reach the server (502)'],
  [418, [], 'The service responded with 418.'],
])('a refusal of a proxy, %i, is told in our words and has no code', (status, document, words) => {
  const problem = new Problem(status, document as ConstructorParameters<typeof Problem>[1]);
  expect(problem.message).toContain(words);
  expect(problem).toMatchObject({ status, code: 'unknown', errors: [] });
});

test.each(['idempotency_in_progress', 'idempotency_key_reused'])(
  'a refusal of the page’s own key, %s, is told without the header',
  (code) => {
    const detail = 'This Idempotency-Key is in progress.';
    expect(new Problem(409, { code, detail }).message).toMatch(/^An earlier click .* again/);
  },
);
