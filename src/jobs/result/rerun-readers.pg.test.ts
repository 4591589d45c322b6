/** The reruns of a list are read beside its rows, as few as its rows need, and in bounded memory. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import type { ListBatch } from '../batch/batch.ts';
import type { BatchView } from '../batch/batch-view.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { listReruns } from '../batch/reruns.sql.ts';
import { type OpenReruns, openRerunReaders } from './rerun-readers.ts';
import { layoutOf } from './result-layout.ts';

const ROWS = 24;
let pipeline: Pipeline;
let caller: Caller;
let id: string;
/** The reruns, the first one first. */
const reruns: BatchView[] = [];

async function rerun(): Promise<BatchView> {
  const response = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ outcomes: ['no_match'] }),
  });
  expect(response.status).toBe(202);
  const made = (await response.json()) as BatchView;
  await pipeline.runUntilIdle();
  return made;
}

/** Makes the people of some rows known: their rows match in the next rerun. */
const learn = (...rows: number[]) =>
  importGraph(pipeline.sql, {
    persons: rows.map((row) => ({ id: 100 + row, email: `p${row}@list.example` })),
  });

beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '3' });
  caller = await pipeline.unmeteredAccount(1000);
  const emails = Array.from({ length: ROWS }, (_, index) => `p${index + 1}@list.example\n`);
  id = await pipeline.enrich(caller, `Email\n${emails.join('')}`, {
    operation: 'people.enrich',
    fields: 'id',
  });
  for (const rest of [1, 2, 3]) {
    await learn(
      ...Array.from({ length: ROWS }, (_, at) => at + 1).filter((row) => row % 5 === rest),
    );
    reruns.push(await rerun());
  }
});
afterAll(() => pipeline.close());

/** The number of the rerun that answers each row, from 1; 0 for none. */
const wanted = Array.from({ length: ROWS }, (_, at) => ((at + 1) % 5 < 4 ? (at + 1) % 5 : 0));

async function answers(rows: number[], bytesMax?: number): Promise<number[]> {
  const list = (await findBatch(pipeline.sql, id)) as ListBatch;
  const found = await listReruns(pipeline.sql, id);
  const layout = layoutOf(list);
  const readers: OpenReruns = openRerunReaders(pipeline.context, found, layout, bytesMax);
  const ids: number[] = [];
  for (const row of rows) {
    const answer = await readers.find(row, ({ cells }) => cells.includes('matched'));
    expect(answer?.row ?? row).toBe(row);
    ids.push(Number(answer?.cells.at(-1) ?? 0));
  }
  await readers.close();
  return ids;
}

const all = Array.from({ length: ROWS }, (_, at) => at + 1);
const idsOf = (rows: number[]) => rows.map((row) => (wanted[row - 1] === 0 ? 0 : 100 + row));

test('each row has the answer of the last rerun that has one, whatever may be in memory', async () => {
  expect(await answers(all)).toEqual(idsOf(all));
  // Each rerun is closed whenever another one is opened.
  expect(await answers(all, 0)).toEqual(idsOf(all));
  for (const some of [[24], [2, 3, 17], [1, 23], all.filter((row) => row % 4 === 1)]) {
    expect(await answers(some, 0)).toEqual(idsOf(some));
  }
});

test('only parts that may have an answer are read', async () => {
  const read: string[] = [];
  pipeline.faults.get = async (key) => {
    read.push(key);
  };
  const keysOf = async (rows: number[], bytesMax?: number) => {
    read.length = 0;
    await answers(rows, bytesMax);
    return read.map((key) => reruns.findIndex((one) => key.includes(one.id)) + 1);
  };
  // Rows 3 and 8 are answered by the last rerun: no earlier one is opened.
  expect(new Set(await keysOf([3, 8]))).toEqual(new Set([3]));
  // Of the last rows the last parts.
  expect((await keysOf([23])).length).toBe(1);
  // Row 1 comes before the first row of the later reruns.
  expect(new Set(await keysOf([1]))).toEqual(new Set([1]));
  // What is closed to make room is read again; otherwise each part is read once.
  const once = (await keysOf(all)).length;
  expect(new Set(read).size).toBe(once);
  expect((await keysOf(all, 0)).length).toBeGreaterThan(once);
  delete pipeline.faults.get;
});
