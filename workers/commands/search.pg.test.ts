import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
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
  await importGraph(pipeline.sql, { persons });
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

/** Runs a command; returns what it printed on stdout. */
async function enrich(...words: string[]): Promise<string> {
  const printed: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
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
