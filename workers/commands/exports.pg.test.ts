/** The commands about exports and schedules against the real API: what they send, print and write. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ExportView } from '../../src/jobs/batch/batch-view.ts';
import { runDueSchedules } from '../../src/jobs/schedule/run-due.ts';
import type { ScheduleView } from '../../src/jobs/schedule/schedule-view.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { crowd } from '../../tests/support/small-graph.ts';

let pipeline: Pipeline;
let caller: Caller;
let folder: string;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(5) });
  caller = await pipeline.account(100);
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-cli-'));
  vi.stubEnv('ENRICH_URL', pipeline.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await pipeline.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command while the workers work; returns what it printed on stdout. */
function enrich(...words: string[]): Promise<string> {
  vi.stubEnv('ENRICH_API_KEY', caller.key);
  return printedBy(words, pipeline.runUntilIdle);
}

const json = async <T>(...words: string[]) => JSON.parse(await enrich('--json', ...words)) as T;

test('`export` makes the file of a filter and says what it cost', async () => {
  const output = path.join(folder, 'people.csv');
  const made = await json<ExportView & { output: string }>(
    ...['export', '?id=1001-1003', '--fields', 'id,email', '-o', output],
  );
  expect(made).toMatchObject({ state: 'completed', credits: { charged: 3 }, output });
  expect(await readFile(output, 'utf8')).toBe(
    'person.id,person.email\n1001,p1@list.example\n1002,p2@list.example\n1003,p3@list.example\n',
  );
  expect(await readdir(folder)).toEqual(['people.csv']);
  const again = path.join(folder, 'again.jsonl');
  await enrich('export', 'results', made.id, '--format', 'jsonl', '-o', again);
  expect((await readFile(again, 'utf8')).split('\n')).toHaveLength(4);
  expect(await enrich('export', 'list')).toContain(made.id);
});

test('`export --hold` says the price and spends nothing', async () => {
  const before = await pipeline.wallet(caller);
  const said = await enrich('export', 'run', 'email=*', '--hold');
  expect(said).toContain('Price      fewer than 10 credits');
  expect(await enrich('export', 'run', 'id=1001-1004', '--hold')).toContain(
    'Price      1 credit for each person found',
  );
  expect(await pipeline.wallet(caller)).toEqual(before);
  const id = /Export {5}(\S+)/.exec(said)?.[1] ?? '';
  expect(await enrich('export', 'cancel', id)).toContain('cancelling');
});

test('`export` with a wrong filter fails with what is wrong, and counts that are none are refused', async () => {
  await expect(enrich('export', 'nothing=1')).rejects.toThrow('nothing');
  await expect(enrich('export', 'id=1', '--max-results', 'x')).rejects.toThrow('whole number');
});

test('a schedule is made, shown, run, disabled, enabled and deleted', async () => {
  const made = await json<ScheduleView>(
    ...['schedule', 'create', 'id=1001-1999', '--cron', '30 2 * * *', '--fields', 'id'],
    ...['--time-zone', 'Europe/London', '--new', '--name', 'nightly'],
  );
  expect(made).toMatchObject({ mode: 'new', enabled: true, time_zone: 'Europe/London' });
  expect(await enrich('schedule', 'list')).toContain(`${made.id}  30 2 * * * Europe/London`);
  expect(await enrich('schedule', 'runs', made.id)).toContain('No runs yet.');
  await runDueSchedules(pipeline.context, new Date(made.next_run_at ?? ''));
  await pipeline.runUntilIdle();
  expect(await enrich('schedule', 'runs', made.id)).toContain('completed  5 people, 5 credits');
  expect(await enrich('schedule', 'disable', made.id)).toContain('never');
  expect(await enrich('schedule', 'enable', made.id)).toContain('Next       20');
  expect(await enrich('schedule', 'show', made.id)).toContain('new people only');
  await enrich('schedule', 'delete', made.id);
  expect(await enrich('schedule', 'list')).toContain('No schedules.');
});
