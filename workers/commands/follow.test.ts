import { expect, test } from 'vitest';
import type { Batch } from '../../src/client/api-types.ts';
import { follow } from './follow.ts';

test('follows the newest state that it knows, in whatever order responses arrive', async () => {
  // It was paused before it was resumed; the proxy repeats the older response.
  const responses = [
    { revision: 5, state: 'running' },
    { revision: 4, state: 'paused', reason: 'user', rows: { processed: 2 } },
    { revision: 3, state: 'failed', error: null },
    { revision: 6, state: 'completed' },
  ] as unknown as Batch[];
  const read = async () => responses.shift() as Batch;
  const options = { until: ['completed'], wait: false, progress: false };
  const ended = await follow({ noun: 'batch', id: 'a', read }, options);
  expect(ended).toMatchObject({ revision: 6, state: 'completed' });
});
