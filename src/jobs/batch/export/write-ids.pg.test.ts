import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../../tests/support/pipeline.ts';
import { crowd } from '../../../../tests/support/small-graph.ts';
import { must } from '../../../core/lib/assert.ts';
import { type ExportBatch, findBatch } from '../queries.ts';
import { writeIds } from './write-ids.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  // Slices of three people, four of them a fetch: the ids of sixty come in five.
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
  await importGraph(pipeline.sql, { persons: crowd(60) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

/** Ends the session that reads ids and returns once it is gone. */
async function breakReading(): Promise<void> {
  const { sql } = pipeline;
  const reading = sql`datname = current_database() and query like '%string_agg(id::text%'
    and pid <> pg_backend_pid()`;
  const ended =
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${reading}`;
  expect(ended).toHaveLength(1);
}

test('ids that end early because the connection broke are not taken for all', async () => {
  const id = await pipeline.makeExport(caller, { filter: 'id=1001-1060', fields: ['id'] });
  const { context } = pipeline;
  const store = Object.create(context.store) as typeof context.store;
  store.putStream = async (_key: string, source: Readable) => {
    await once(source, 'readable');
    source.read();
    await breakReading();
    let bytes = 0;
    for await (const piece of source) bytes += (piece as Buffer).length;
    return bytes;
  };
  const batch = must(await findBatch(pipeline.sql, id), 'the export') as ExportBatch;
  await expect(writeIds({ ...context, store }, batch)).rejects.toThrow();
  expect(await pipeline.exportOf(caller, id)).toMatchObject({ rows: { total: null } });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(caller, id)).toMatchObject({
    state: 'completed',
    rows: { total: 60, matched: 60 },
  });
});
