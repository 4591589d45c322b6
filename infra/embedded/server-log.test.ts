import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openServerLog } from './server-log.ts';

let folder: string;
let file: string;
let complaints: string[];
const complain = (line: string) => void complaints.push(line);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'server-log-'));
  file = path.join(folder, 'postgres.log');
  complaints = [];
});
afterEach(() => rm(folder, { recursive: true }));

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => Buffer.from(`line ${from + index}\n`));

it('appends the output, across runs of the server', async () => {
  await openServerLog(file, complain).follow(Readable.from(lines(0, 2)));
  await openServerLog(file, complain).follow(Readable.from(lines(2, 3)));
  expect(await readFile(file, 'utf8')).toBe('line 0\nline 1\nline 2\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('never takes more room than two files, and keeps the newest lines', async () => {
  const log = openServerLog(file, complain, 1_000);
  await Promise.all([
    log.follow(Readable.from(lines(0, 1_000))),
    log.follow(Readable.from(lines(1_000, 2_000))),
  ]);
  expect((await readdir(folder)).sort()).toEqual(['postgres.log', 'postgres.log.1']);
  for (const name of await readdir(folder)) {
    expect((await stat(path.join(folder, name))).size).toBeLessThanOrEqual(1_000);
  }
  expect(await readFile(file, 'utf8')).toContain('line 999\n');
  expect(complaints).toEqual([]);
});

it('keeps the last lines when the file cannot be written, and logs that once', async () => {
  const log = openServerLog(path.join(folder, 'missing', 'postgres.log'), complain);
  await log.follow(Readable.from([...lines(0, 1_000), Buffer.from('No space left on device\n')]));
  expect(log.tail()).toMatch(/line 999\nNo space left on device$/);
  expect(log.tail().length).toBeLessThanOrEqual(4_000);
  expect(complaints).toEqual([expect.stringContaining('cannot be written')]);
});
