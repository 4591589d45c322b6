/** The embedded server is started again on its own files, and never on new ones. */
import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createLog } from '../src/core/log.ts';
import { keepPostgres } from './keep-postgres.ts';

it('a server whose files were deleted is not replaced by an empty one', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'keep-postgres-'));
  const kept = await keepPostgres(dataDir, createLog('silent', 'up'));
  const ended = kept.watch(() => Promise.reject(new Error('it was started')));
  // Renamed first: the server is still writing.
  await rename(dataDir, `${dataDir}.gone`);
  process.kill(kept.pid, 'SIGKILL');
  expect(await ended).toMatch(/The database's files in .* are gone.*restore a backup/);
  await expect(stat(path.join(dataDir, 'postgres'))).rejects.toThrow('ENOENT');
  await kept.stop();
  await rm(`${dataDir}.gone`, { recursive: true, force: true, maxRetries: 20 });
});
