import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { loseFirstResponse } from '../../tests/support/lost-response.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { addGlobalOptions } from '../global-options.ts';
import { addSearchCommand } from './search.ts';

let pipeline: Pipeline;
let caller: Caller;
let folder: string;
beforeAll(async () => {
  pipeline = await openPipeline();
  const persons = Array.from({ length: 12 }, (_, index) => ({
    id: index + 1,
    skills: index < 5 ? 'C#, Öl' : 'Öl',
  }));
  const many = Array.from({ length: 1_100 }, (_, index) => ({ id: index + 101, skills: 'Rust' }));
  await importGraph(pipeline.sql, { persons: [...persons, ...many] });
  caller = await pipeline.account(100);
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-cli-'));
  vi.stubEnv('ENRICH_URL', pipeline.url);
  vi.stubEnv('ENRICH_API_KEY', caller.key);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await pipeline.close();
  await rm(folder, { recursive: true, force: true });
});

/** The error of stdout behind whose pipe no one reads any more. */
let readerGone: Error | undefined;

/** Runs a command; returns what it printed on stdout. */
async function enrich(...words: string[]): Promise<string> {
  const printed: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text, ...more: unknown[]) => {
    printed.push(String(text));
    const ended = more.at(-1) as ((error?: Error) => void) | undefined;
    ended?.(readerGone);
    return true;
  });
  const program = new Command().exitOverride();
  addGlobalOptions(program);
  addSearchCommand(program);
  try {
    await program.parseAsync(words, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return printed.join('');
}

test('a preview tells the counts and costs nothing', async () => {
  const printed = await enrich('--json', 'search', 'skills=öl', '--preview');
  expect(JSON.parse(printed)).toMatchObject({
    total: 10,
    total_is: 'about',
    estimated_credits: 10,
  });
  const lines = await enrich('search', 'skills=öl', '--preview');
  expect(lines.split('\n')[0]).toBe('about 10 people, about 10 credits');
  const few = await enrich('search', 'skills=[C#|öl]', '--preview');
  expect(few).toBe('fewer than 10 people, fewer than 10 credits\n');
  await expect(enrich('search', 'email=a@b.example', '--preview')).rejects.toThrow(
    'not counted for free',
  );
  expect((await pipeline.wallet(caller))?.balance).toBe(100);
});

test('a search writes its people as lines, all pages, and no more than are wanted', async () => {
  const lines = (await enrich('search', 'skills=C#', '--max', '3')).trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3]);
  const file = path.join(folder, 'people.jsonl');
  const printed = await enrich('--json', 'search', 'skills=C#', '-o', file);
  expect(JSON.parse(printed)).toEqual({ people: 5, credits: 5, output: file });
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(5);
  expect((await pipeline.wallet(caller))?.balance).toBe(92);
});

describe('people of several pages', () => {
  const file = () => path.join(folder, 'rust.jsonl');
  const search = (...words: string[]) => enrich('search', 'skills=Rust', '--max', '2000', ...words);
  beforeEach(async () => {
    caller = await pipeline.account(1_050);
    vi.stubEnv('ENRICH_API_KEY', caller.key);
  });
  const spent = async () => 1_050 - ((await pipeline.wallet(caller))?.balance ?? 0);

  test('are not paid for a reader that has read enough', async () => {
    readerGone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    try {
      await search();
    } finally {
      readerGone = undefined;
    }
    expect(await spent()).toBe(1_000);
  });

  test('of a response that is lost are paid once', async () => {
    const sent = loseFirstResponse('GET');
    try {
      await search('-o', file(), '--max', '1000');
    } finally {
      vi.restoreAllMocks();
    }
    expect(sent()).toBe(2);
    expect(await spent()).toBe(1_000);
  });

  test('are not paid for a file that cannot be written', async () => {
    await expect(search('-o', path.join(folder, 'absent', 'rust.jsonl'))).rejects.toThrow('ENOENT');
    expect(await spent()).toBe(0);
  });

  test('stay in the file when a later page is refused, which is told', async () => {
    const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      await expect(search('-o', file())).rejects.toMatchObject({ status: 402 });
      expect(errors.mock.calls.join('')).toContain('Not complete: 1000 people, 1000 credits');
    } finally {
      errors.mockRestore();
    }
    expect((await readFile(file(), 'utf8')).trim().split('\n')).toHaveLength(1_000);
  });

  test('that are refused leave a file as it was', async () => {
    await writeFile(file(), 'before\n');
    await expect(enrich('search', 'skills=[a', '-o', file())).rejects.toThrow('position 1');
    expect(await readFile(file(), 'utf8')).toBe('before\n');
    await enrich('search', 'skills=Rust', '--max', '2', '-o', file());
    expect((await readFile(file(), 'utf8')).trim().split('\n')).toHaveLength(2);
  });
});

test('a filter that cannot be read is refused with its parameter', async () => {
  await expect(enrich('search', 'skills=[a')).rejects.toThrow('skills, position 1');
});

test('values that no lookup knows are printed, apart from the people', async () => {
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const filter = 'skills=C#&locationList=[London:ZZ]';
    expect(await enrich('search', filter, '--preview')).toContain('fewer than 10');
    expect(await enrich('search', filter)).toBe('');
    const line = 'locationList: no lookup knows "London:ZZ"; check its spelling\n';
    expect(errors.mock.calls.map(([text]) => text)).toEqual([line, line]);
  } finally {
    errors.mockRestore();
  }
});
