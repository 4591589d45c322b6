import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { deletePersons } from '../../core/graph/delete-persons.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(12) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.get;
  delete pipeline.faults.put;
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const body = { filter: 'id=1001-1010', fields: ['id'] };
const file = `person.id\n${Array.from({ length: 10 }, (_, n) => `${1001 + n}\n`).join('')}`;

async function recover(): Promise<void> {
  await pipeline.passAnHour();
  await pipeline.sql`update batches set created_at = created_at - interval '1 hour'`;
  await pipeline.sweep();
  await pipeline.runUntilIdle();
}

async function expectWhole(id: string): Promise<void> {
  expect(await pipeline.exportOf(caller, id)).toMatchObject({
    state: 'completed',
    rows: { total: 10, matched: 10 },
    credits: { charged: 10, reserved: 0 },
  });
  expect(await pipeline.people(caller, id)).toEqual({ text: file, complete: 'true' });
}

test.each(['write-ids', 'run-chunk', 'finish-batch'] as const)(
  'an export whose wake-up %s is lost is found by the sweep',
  async (job) => {
    const { queues, context } = pipeline;
    const id = await pipeline.makeExport(caller, body);
    while (queues.waiting.length > 0) {
      const [next] = queues.waiting;
      if (next?.name === job) queues.waiting = [];
      else await queues.run(context, must(next, 'wake-up'));
    }
    if (job === 'finish-batch') {
      // The worker died between its last commit and the end of the job.
      await pipeline.sql`
      update batches set state = 'finalizing', finished_at = null, report = null where id = ${id}`;
    }
    await recover();
    await expectWhole(id);
  },
);

test('ids written twice at once, from different states of the graph, are recorded once', async () => {
  const { queues, context } = pipeline;
  await importGraph(pipeline.sql, { persons: [{ id: 1500, email: 'x@list.example' }] });
  const id = await pipeline.makeExport(caller, { ...body, filter: 'id=[1001-1010|1500]' });
  const woken = must(queues.waiting[0], 'the writing of the ids');
  await Promise.all([
    queues.run(context, woken),
    queues.run(context, woken),
    deletePersons(pipeline.sql, [1500]),
  ]);
  await queues.run(context, woken);
  await pipeline.runUntilIdle();
  expect((await pipeline.people(caller, id)).text).toBe(file);
  const kept = (await pipeline.objects()).filter((key) => key.includes(`${id}/ids-`));
  expect(kept).toHaveLength(1);
  const chunks = await pipeline.sql`select first_row, rows from chunks where batch_id = ${id}`;
  expect(chunks.length).toBeLessThanOrEqual(3);
});

test.each(['get', 'put'] as const)(
  'a worker that froze before its %s and comes back late changes nothing',
  async (call) => {
    const { context, queues, faults } = pipeline;
    const id = await pipeline.makeExport(caller, body);
    await queues.runNext(context, 'write-ids');
    const frozen = new Signal();
    const thawed = new Signal();
    faults[call] = () => {
      delete faults[call];
      frozen.raise();
      return thawed.raised;
    };
    const zombie = queues.run(context, must(queues.waiting[0], 'a chunk'));
    await frozen.raised;
    await recover();
    await expectWhole(id);
    const wallet = await pipeline.wallet(caller);
    thawed.raise();
    await zombie;
    await pipeline.runUntilIdle();
    await expectWhole(id);
    expect(await pipeline.wallet(caller)).toEqual(wallet);
  },
);

test('a temporary failure of the store costs a retry and nothing else', async () => {
  let failures = 2;
  pipeline.faults.put = async () => {
    if (failures-- > 0) throw new Error('disk');
  };
  const id = await pipeline.makeExport(caller, body);
  await pipeline.runUntilIdle();
  await recover();
  await recover();
  await expectWhole(id);
});
