/** An erasure while the store refuses to read some objects. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { ada, smallGraph } from '../../../tests/support/small-graph.ts';
import { unavailable } from '../../core/lib/errors.ts';
import { erasePerson } from './erase-person.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
});
afterAll(() => pipeline.close());

test('is done although an object cannot be read, and reports what may name the person', async () => {
  const caller = await pipeline.account(100);
  const list = 'email\nada@home.example\n';
  const refused = await pipeline.enrich(caller, list, { operation: 'people.enrich' });
  const sound = await pipeline.enrich(caller, list, { operation: 'people.enrich' });
  expect((await pipeline.results(caller, sound)).text).toMatch(/Lovely/);
  const keys = (await pipeline.objects()).filter((key) => key.includes(refused)).toSorted();
  const { store } = pipeline.context;
  const refuse = (key: string) => {
    if (key.includes(refused)) throw unavailable('store_unavailable', 'AccessDenied');
  };
  const refusing: typeof store = {
    ...store,
    async get(key, range) {
      refuse(key);
      return store.get(key, range);
    },
    getStream(key, range) {
      refuse(key);
      return store.getStream(key, range);
    },
  };
  const context = { ...pipeline.context, store: refusing };
  const erased = await erasePerson(context, { identifier: ada.email });
  expect(erased.erased).toBe(1);
  expect([...new Set(erased.left.map(({ where }) => where))].toSorted()).toEqual(keys);
  expect((await pipeline.results(caller, sound)).text).not.toMatch(/Lovely/);
});
