/** Workbooks of so many cells that they might not fit: the rows are counted before the response begins. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

/** With the columns of the answer more than 4 GiB of XML, if no cell were empty. */
const ROWS = 92_000;
const COLUMNS = 512;

let pipeline: Pipeline;
let caller: Caller;
let id: string;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '10000' });
  await importGraph(pipeline.sql, { persons: crowd(4) });
  caller = await pipeline.account(100);
  const header = Array.from({ length: COLUMNS }, (_, column) =>
    column === 0 ? 'email' : `c${column}`,
  );
  const rows = Array.from({ length: ROWS }, (_, row) => `${row}@nobody.example`);
  const list = `${header.join(',')}\n${rows.join('\n')}\n`;
  id = await pipeline.enrich(caller, list, { operation: 'people.enrich' });
}, 300_000);
afterAll(() => pipeline.close());

test('begin after a fraction of the work: a connection that is silent for a minute is taken for a stalled one', async () => {
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const before = cpuMs();
  const answer = await pipeline.call(caller, `/v1/batches/${id}/results?format=xlsx`);
  const beginMs = cpuMs() - before;
  expect(answer.status).toBe(200);
  const bytes = Buffer.from(await answer.arrayBuffer());
  // The end of a zip archive's directory: the file is complete.
  expect(bytes.readUInt32LE(bytes.length - 22)).toBe(0x0605_4b50);
  expect(beginMs / (cpuMs() - before)).toBeLessThan(1 / 3);
}, 300_000);
