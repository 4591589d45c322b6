/** Many free reads of one account at once do not delay those of another one by their number. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

test.each(['/v1/batches', '/v1/me'])(
  '%s is answered before most of 300 calls that another account sent before it',
  async (path) => {
    const many = await pipeline.account(0);
    const one = await pipeline.account(0);
    let answered = 0;
    const calls = Array.from({ length: 300 }, async () => {
      const { status } = await pipeline.call(many, '/v1/batches');
      answered++;
      return status;
    });
    const { status } = await pipeline.call(one, path);
    const answeredBefore = answered;
    expect(status).toBe(200);
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
    expect(answeredBefore).toBeLessThan(100);
  },
);

test('a new connection is served before most of 600 calls that twelve other accounts sent before it', async () => {
  const accounts = await Promise.all(Array.from({ length: 12 }, () => pipeline.account(0)));
  let answered = 0;
  const calls = accounts.flatMap((account) =>
    Array.from({ length: 50 }, async () => {
      await pipeline.call(account, '/v1/batches');
      answered++;
    }),
  );
  const { status } = await fetch(`${pipeline.url}/healthz`, { headers: { Connection: 'close' } });
  const answeredBefore = answered;
  await Promise.all(calls);
  expect(status).toBe(200);
  expect(answeredBefore).toBeLessThan(200);
});
