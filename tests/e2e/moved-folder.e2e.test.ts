/** A data folder that is moved while its service runs. */
import { mkdtempSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildIfStale } from './compiled-code.ts';
import { startService } from './service.ts';

const root = mkdtempSync(path.join(tmpdir(), 'enrich-moved-folder-'));
beforeAll(buildIfStale, 120_000);
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 20 }), 60_000);

it('that is moved while the service runs ends it, before it writes into the folder that takes its place', async () => {
  const dataDir = path.join(root, 'left');
  const moved = path.join(root, 'moved-away');
  await using first = await startService(dataDir);
  await rename(dataDir, moved);
  await mkdir(dataDir);
  await writeFile(path.join(dataDir, 'up.json'), 'of another service');
  expect(await first.command.ended).toBe(1);
  expect(first.command.stderr).toContain(`The data folder ${dataDir} was moved`);
  expect(await readdir(dataDir)).not.toContain('objects');
  expect(await readFile(path.join(dataDir, 'up.json'), 'utf8')).toBe('of another service');
  await using second = await startService(moved);
  expect((await second.stop()).left).toEqual([]);
}, 150_000);
