/** Exports whose people are read from the local copy of the graph: the same files, never stale, never charged twice. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { beforeFirstCommit, expectAgreement, spentOf } from '../../../tests/support/money.ts';
import { partsDuring } from '../../../tests/support/parts-during.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { deletePersons } from '../../core/graph/delete-persons.ts';
import { buildCopy } from '../../core/graph-copy/build-copy.ts';
import { copyFolder, dropCopies } from '../../core/graph-copy/manifest.ts';
import { suppress } from '../../core/suppression/suppress.ts';

let pipeline: Pipeline;
let folder: string;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  await importGraph(pipeline.sql, { persons: crowd(60) });
  folder = copyFolder(pipeline.context.config.dataDir);
});
afterAll(() => pipeline.close());

beforeEach(async () => {
  await buildCopy(pipeline.sql, { folder });
});
afterEach(async () => {
  delete pipeline.faults.put;
  await dropCopies(folder);
  await expectAgreement(pipeline);
});

async function run(by: Caller, filter: string, fields: string[] | null = ['id']): Promise<string> {
  const id = await pipeline.makeExport(by, { filter, fields });
  await pipeline.runUntilIdle();
  return id;
}

/** The ids of the people in an export's file. */
async function idsIn(by: Caller, id: string): Promise<number[]> {
  const { text, complete } = await pipeline.people(by, id);
  expect(complete).toBe('true');
  return text.trim().split('\n').slice(1).map(Number);
}

test.each([
  ['few columns', ['id', 'email', 'company'], { copy: 1, postgres: 1 }],
  ['all columns', null, { copy: 2, postgres: 2 }],
])(
  'an export of %s has the same bytes and price as from Postgres',
  async (_name, fields, parts) => {
    const by = await pipeline.unmeteredAccount(100);
    const filter = 'id=1001-1007';
    const ids: string[] = [];
    const runOnce = async () => void ids.push(await run(by, filter, fields));
    expect(await partsDuring(runOnce)).toEqual({ copy: parts.copy, postgres: 0, repeated: 0 });
    // Lists alone are a reason to build a copy.
    expect(pipeline.context.localCopy.describe().rows).toBe(0);
    await dropCopies(folder);
    expect(await partsDuring(runOnce)).toEqual({ copy: 0, postgres: parts.postgres, repeated: 0 });
    const [fromCopy, fromPostgres] = await Promise.all(ids.map((id) => pipeline.people(by, id)));
    expect(fromCopy).toEqual(fromPostgres);
    expect(fromCopy?.text.split('\n')).toHaveLength(9);
    expect(await spentOf(pipeline, by, 100)).toBe(14);
  },
);

test('an opt-out after the people were read hides the person, and is not charged', async () => {
  const by = await pipeline.unmeteredAccount(100);
  beforeFirstCommit(pipeline, () => suppress(pipeline.sql, 'p12@list.example'));
  let id = '';
  const parts = await partsDuring(async () => {
    id = await run(by, 'id=1011-1014');
  });
  expect(parts).toEqual({ copy: 1, postgres: 1, repeated: 1 });
  expect(await idsIn(by, id)).toEqual([1011, 1013, 1014]);
  expect(await spentOf(pipeline, by, 100)).toBe(3);
  expect((await pipeline.charges(by)).map(({ units }) => units)).toEqual([3]);
});

test('an opt-out hides the person from the next part of a running export', async () => {
  const by = await pipeline.unmeteredAccount(100);
  beforeFirstCommit(pipeline, () => suppress(pipeline.sql, 'p36@list.example'));
  const id = await run(by, 'id=1015-1040', null);
  expect(await pipeline.exportOf(by, id)).toMatchObject({
    rows: { total: 26, matched: 25, suppressed: 1 },
    credits: { charged: 25, reserved: 0 },
  });
  expect((await pipeline.people(by, id)).text).not.toContain('p36@list.example');
});

test('people who changed, opted out or were deleted since their ids were written are read as they are', async () => {
  const by = await pipeline.unmeteredAccount(100);
  const id = await pipeline.makeExport(by, { filter: 'id=1041-1046', fields: ['id', 'email'] });
  await pipeline.queues.runNext(pipeline.context, 'write-ids');
  await suppress(pipeline.sql, 'p42@list.example');
  // The copy has no record of a person who had opted out when it was built.
  await buildCopy(pipeline.sql, { folder });
  await suppress(pipeline.sql, 'p43@list.example');
  await importGraph(pipeline.sql, { persons: [{ id: 1044, email: 'new@list.example' }] });
  const parts = await partsDuring(() => pipeline.runUntilIdle());
  expect(parts).toEqual({ copy: 1, postgres: 0, repeated: 0 });
  expect((await pipeline.people(by, id)).text).toBe(
    'person.id,person.email\n1041,p41@list.example\n1044,new@list.example\n1045,p45@list.example\n1046,p46@list.example\n',
  );
  expect(await pipeline.exportOf(by, id)).toMatchObject({
    rows: { total: 6, matched: 4, no_match: 0, suppressed: 2 },
    credits: { charged: 4 },
  });
  await deletePersons(pipeline.sql, [1046]);
  const after = await run(by, 'id=1045-1046');
  expect(await idsIn(by, after)).toEqual([1045]);
});

test('an export of test mode is read from Postgres', async () => {
  const by = await pipeline.unmeteredAccount(100);
  await importGraph(pipeline.context.testSql, { persons: [{ id: 9 }] });
  const tester = await pipeline.keyOf(by.accountId, 'test');
  const parts = await partsDuring(() => run(tester, 'id=1-2000'));
  expect(parts).toEqual({ copy: 0, postgres: 1, repeated: 0 });
});
