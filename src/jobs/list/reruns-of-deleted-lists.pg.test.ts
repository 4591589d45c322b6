/** Reruns of lists whose files are deleted meanwhile: by age, or by their owner. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { audit } from '../audit/audit.ts';
import type { BatchView } from '../batch/batch-view.ts';
import { runHousekeeping } from '../housekeeping/run-housekeeping.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(4) });
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.get;
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id', dedupe: 'true' };
const post = (path: string, body: object = {}) =>
  pipeline.call(caller, `/v1/batches/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const rerun = (id: string, body = {}) => post(`${id}/rerun`, { outcomes: ['no_match'], ...body });

async function rowsOf(id: string): Promise<string[]> {
  return (await pipeline.results(caller, id)).text.split('\n').slice(1, -1);
}

/** Deletes the files of a list that has ended. */
const deleteFiles = {
  async expire(id: string) {
    await pipeline.sql`
      update batches set finished_at = finished_at - interval '31 days' where id = ${id}`;
    await runHousekeeping(pipeline.context);
  },
  async 'are deleted'(id: string) {
    const deleted = await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });
    expect(deleted.status).toBe(204);
  },
};

test.each([
  ['expire', 1],
  ['are deleted', 2],
] as const)(
  'with dedupe do not charge again for a person of the list, when its files %s',
  async (how, n) => {
    const [known, late] = [`p${n}@list.example`, `late${n}@list.example`];
    const text = `email\n${known}\n${late}\n`;
    const id = await pipeline.enrich(caller, text, options);
    await importGraph(pipeline.sql, { persons: [{ id: 1000 + n, email: known, workEmail: late }] });
    const held = (await (await rerun(id, { hold: true })).json()) as BatchView;
    await pipeline.runUntilIdle();
    await deleteFiles[how](id);
    await post(`${held.id}/start`);
    await pipeline.runUntilIdle();
    expect(await rowsOf(held.id)).toEqual([`${late},duplicate,email,same_record_as_row_1,,0,`]);
    const records = () => pipeline.sql`
      select record_id from batch_records where batch_id = any(${[id, held.id]}::uuid[])`;
    expect(await records()).toHaveLength(1);
    await deleteFiles[how](held.id);
    expect(await records()).toHaveLength(0);
  },
);

test('give rows once more that an earlier rerun gave, when its files are deleted before those of the list', async () => {
  const text = 'email\np3@list.example\nfresh@list.example\n';
  const id = await pipeline.enrich(caller, text, options);
  await importGraph(pipeline.sql, { persons: [{ id: 701, email: 'fresh@list.example' }] });
  for (let time = 0; time < 2; time++) {
    const again = (await (await rerun(id)).json()) as BatchView;
    await pipeline.runUntilIdle();
    expect(await rowsOf(again.id)).toEqual(['fresh@list.example,matched,email,,false,1,701']);
    await deleteFiles['are deleted'](again.id);
  }
});

test('are refused when that happens after their rows were chosen', async () => {
  const id = await pipeline.enrich(caller, 'email\np4@list.example\nno@list.example\n', options);
  const before = await pipeline.objects();
  pipeline.faults.get = async (key) => {
    // The stored text of the rerun is read.
    if (!key.endsWith('/upload') || key.includes(id)) return;
    delete pipeline.faults.get;
    await deleteFiles['are deleted'](id);
  };
  await expectProblem(await rerun(id), { status: 410, code: 'files_expired' });
  expect(await pipeline.sql`select from batches where rerun_of = ${id}`).toHaveLength(0);
  expect((await pipeline.objects()).filter((key) => !before.includes(key))).toEqual([]);
});
