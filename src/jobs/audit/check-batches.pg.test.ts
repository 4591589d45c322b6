import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CountingProxy, openCountingProxy } from '../../../tests/support/counting-proxy.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { auditParts } from './audit-parts.ts';

let proxy: CountingProxy;
let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  // Few connections: each asks the server for its types when it opens.
  pipeline = await openPipeline({ DATABASE_CONNECTIONS: '2' }, 'files', async (url) => {
    proxy = await openCountingProxy(url);
    return proxy.url;
  });
  await importGraph(pipeline.sql, { persons: crowd(2) });
  caller = await pipeline.unmeteredAccount(1000);
});
afterAll(async () => {
  await pipeline.close();
  proxy.close();
});

async function addLists(count: number): Promise<void> {
  const options = { operation: 'people.enrich', fields: 'id' };
  for (let list = 0; list < count; list++) {
    await pipeline.upload(caller, 'email\np1@list.example\n', options);
  }
  await pipeline.runUntilIdle();
}

async function audited() {
  proxy.take();
  const { checks, objects } = await auditParts(pipeline.context);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
  return { selects: proxy.take().statements.SELECT ?? 0, objects: objects.checked };
}

test('lists are read from the database in pages, not one after the other', async () => {
  await addLists(1);
  const one = await audited();
  await addLists(4);
  expect(await audited()).toEqual({ selects: one.selects, objects: 5 * one.objects });
  await addLists(50);
  expect(await audited()).toEqual({ selects: one.selects + 2, objects: 55 * one.objects });
});
