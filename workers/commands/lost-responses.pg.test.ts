/** Commands that pay, when the response to their request is lost: the service has done it, and must not do it again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { inTransaction } from '../../src/core/db/client.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { loseFirstResponse } from '../../tests/support/lost-response.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { crowd } from '../../tests/support/small-graph.ts';

let pipeline: Pipeline;
let caller: Caller;
let folder: string;
let file: string;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  const persons = [81, 82].map((id) => ({ id, name: 'Ilka', surname: 'Quast', email: '' }));
  await importGraph(pipeline.sql, { persons: [...crowd(5), ...persons] });
  caller = await pipeline.account(100);
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-cli-'));
  file = path.join(folder, 'leads.csv');
  vi.stubEnv('ENRICH_URL', pipeline.url);
  vi.stubEnv('ENRICH_API_KEY', caller.key);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await pipeline.close();
  await rm(folder, { recursive: true, force: true });
});

const json = async (...words: string[]) =>
  JSON.parse(await printedBy(['--json', ...words], pipeline.runUntilIdle)) as { id: string };

const people = ['--operation', 'people.enrich', '--fields', 'id'];

async function uploaded(text: string, ...options: string[]): Promise<string> {
  await writeFile(file, text);
  return (await json('batch', 'run', file, ...people, ...options)).id;
}

async function made(): Promise<number> {
  const [row] = await pipeline.sql<{ count: number }[]>`select count(*)::int as count from batches`;
  return row?.count ?? 0;
}

const commands: [name: string, prepare: () => Promise<string[]>][] = [
  [
    'batch run',
    async () => {
      await writeFile(file, 'mail\np1@list.example\n');
      return ['batch', 'run', file, ...people];
    },
  ],
  [
    'batch rerun',
    async () => {
      const id = await uploaded('mail\nnobody@list.example\n');
      return ['batch', 'rerun', id, '--outcomes', 'no_match'];
    },
  ],
  [
    'batch decide',
    async () => {
      const id = await uploaded('name\nIlka Quast\n', '--match', 'likely');
      const candidates = path.join(folder, 'candidates.csv');
      await writeFile(candidates, 'row,id\n1,82\n');
      return ['batch', 'decide', id, candidates];
    },
  ],
  [
    'export run',
    async () => ['export', 'run', 'id=1001-1003', '-o', path.join(folder, 'people.csv')],
  ],
  [
    'schedule run',
    async () => {
      const { id } = await json(
        'schedule',
        'create',
        'id=1001-1002',
        '--cron',
        '30 2 * * *',
        '--fields',
        'id',
      );
      return ['schedule', 'run', id];
    },
  ],
];

test.each(commands)('`%s` is sent again, and done once', async (_name, prepare) => {
  const words = await prepare();
  const before = await made();
  const sent = loseFirstResponse('POST');
  await json(...words);
  expect(sent()).toBe(2);
  expect(await made()).toBe(before + 1);
});

test('who interrupts a command finds its list again', async () => {
  await writeFile(file, 'mail\np1@list.example\n');
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { id } = await json('batch', 'run', file, ...people);
  expect(errors.mock.calls.join('')).toContain(`enrich batch results ${id} -o FILE`);
});

test('a list whose request still runs, though its connection is lost, is made once', async () => {
  await writeFile(file, 'mail\np1@list.example\n');
  const before = await made();
  const { fetch } = globalThis;
  const statuses: number[] = [];
  let first: Promise<Response> | undefined;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holding = inTransaction(pipeline.sql, async (tx) => {
    await tx`lock table batches in share mode`;
    await held;
  });
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...call) => {
    if (call[1]?.method !== 'POST') return fetch(...call);
    if (first === undefined) {
      first = fetch(...call);
      await pipeline.untilBlocked(1);
      throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    }
    const response = await fetch(...call);
    statuses.push(response.status);
    release();
    await Promise.all([holding, first]);
    return response;
  });
  await json('batch', 'run', file, ...people);
  expect(statuses).toEqual([409, 202]);
  expect(await made()).toBe(before + 1);
});
