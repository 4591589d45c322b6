/** A command that finds no service says why, and what to do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { beginRestore, endRestore } from '../infra/embedded/restored-folder.ts';
import { readConfig } from '../src/core/config.ts';
import { findDatabaseUrl, findServiceUrl } from './find-service.ts';

test('a folder whose restore did not end is not one to start a service on', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'find-service-'));
  const config = readConfig({ ENRICH_DATA_DIR: dataDir });
  const isRefused = async (refused: object) => {
    for (const find of [findDatabaseUrl, findServiceUrl]) {
      await expect(find(config)).rejects.toMatchObject(refused);
    }
  };
  await beginRestore(dataDir);
  const message = expect.stringContaining('delete the folder and restore again');
  await isRefused({ code: 'restore_unfinished', message });
  await endRestore(dataDir);
  const start = { code: 'no_service', message: expect.stringContaining('npm start') };
  await isRefused(start);
  await rm(dataDir, { recursive: true });
  await isRefused(start);
});
