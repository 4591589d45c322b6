import { expect, test } from 'vitest';
import { readConfig } from '../src/core/config.ts';
import { runApi } from './api.ts';
import { runWorker } from './worker.ts';

test.each([runApi, runWorker])('a process without DATABASE_URL says so: %o', async (run) => {
  const config = { ...readConfig(), databaseUrl: undefined };
  await expect(run(config)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('DATABASE_URL is not set'),
  });
});
