import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, test, vi } from 'vitest';
import type { Batch } from '../../src/client/api-types.ts';
import { download, follow } from './follow.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'enrich-download-'));
afterAll(() => rmSync(folder, { recursive: true }));

const results = async () => ({
  complete: true,
  stream: Readable.from(['email\n', 'a@b.example\n']),
});

test('a download to a pipe is written to it, and does not take its place', async () => {
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [read] = await Promise.all([readFile(pipe, 'utf8'), download(results, pipe)]);
  expect(read).toBe('email\na@b.example\n');
  expect(lstatSync(pipe).isFIFO()).toBe(true);
});

test('a download through a link replaces the file that it names', async () => {
  const [file, link] = [path.join(folder, 'list.csv'), path.join(folder, 'link')];
  await download(results, file);
  symlinkSync(file, link);
  const more = async () => ({ complete: true, stream: Readable.from(['more\n']) });
  await download(more, link);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('more\n');
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
});

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

test.each([
  [['completed'], /`enrich batch results a -o FILE` writes its rows/],
  [['ready', 'completed'], /`enrich batch start a` starts it/],
])('until %o it says the command that comes next', async (until, next) => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const read = async () => ({ revision: 1, state: until[0] }) as Batch;
  await follow({ noun: 'batch', id: 'a', read }, { until, wait: false, progress: false });
  expect(said.mock.calls.join('')).toMatch(next);
  said.mockRestore();
});
