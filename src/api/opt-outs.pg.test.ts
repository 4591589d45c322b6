/** The feed of people who opted out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { must } from '../core/lib/assert.ts';
import { suppress } from '../core/suppression/suppress.ts';

interface Feed {
  data: { person_id: number; opted_out_at: string }[];
  next_cursor: string;
}

const people = crowd(6);
let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: people });
  caller = await pipeline.account(0);
});
afterAll(() => pipeline.close());

const optOut = (index: number) => suppress(pipeline.sql, String(people[index]?.email));
const idOf = (index: number) => must(people[index], 'a person').id;

async function read(query: string, who = caller): Promise<Feed> {
  const response = await pipeline.call(who, `/v1/opt-outs?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Feed;
}

test('lists each opt-out once, in order, and continues with those that came since', async () => {
  expect(await read('')).toEqual({ data: [], next_cursor: '0-0' });
  for (const index of [4, 0, 2]) await optOut(index);
  const ids: number[] = [];
  let cursor = '0-0';
  for (let page = 0; page < 4; page++) {
    const feed = await read(`limit=1&cursor=${cursor}`);
    ids.push(...feed.data.map(({ person_id }) => person_id));
    cursor = feed.next_cursor;
  }
  expect(ids).toEqual([4, 0, 2].map(idOf));
  await optOut(5);
  // The same again is the same opt-out.
  await optOut(0);
  const { data } = await read(`cursor=${cursor}`);
  expect(data.map(({ person_id }) => person_id)).toEqual([idOf(5)]);
});

test('misses none that are recorded while it is read', async () => {
  const { next_cursor: before } = await read('');
  let cursor = before;
  const seen: number[] = [];
  const look = async () => {
    const feed = await read(`cursor=${cursor}`);
    seen.push(...feed.data.map(({ person_id }) => person_id));
    cursor = feed.next_cursor;
  };
  // One reader, page after page, while others write.
  const reading = async () => {
    while (seen.length < 2) await look();
  };
  await Promise.all([optOut(1), optOut(3), reading()]);
  expect(seen.toSorted()).toEqual([1, 3].map(idOf).toSorted());
});

test('a test key reads those of the test graph', async () => {
  const tester = await pipeline.keyOf(caller.accountId, 'test');
  const live = await read('');
  const feed = await read('', tester);
  for (const { person_id } of live.data) {
    expect(feed.data.map((person) => person.person_id)).not.toContain(person_id);
  }
});

test.each(['cursor=x', 'cursor=1', 'limit=0', 'limit=10001', 'since=1'])(
  '%s is refused',
  async (query) => {
    const response = await pipeline.call(caller, `/v1/opt-outs?${query}`);
    await expectProblem(response, { status: 400, code: 'invalid_parameter' });
  },
);
