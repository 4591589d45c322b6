/** Downloads that begin at once after an opt-out take turns to rewrite parts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { suppress } from '../../core/suppression/suppress.ts';

const DOWNLOADS = 20;

let pipeline: Pipeline;
let one: Caller;
let other: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(4) });
  one = await pipeline.account(100);
  other = await pipeline.account(100);
});
afterAll(() => pipeline.close());

/** A list of which every part has both people. */
const listOf = (parts: number) => `email\n${'p1@list.example\np2@list.example\n'.repeat(parts)}`;
const options = { operation: 'people.enrich', fields: 'id' };

async function download(caller: Caller, id: string): Promise<string> {
  return (await pipeline.results(caller, id)).text;
}

test('each part is rewritten once, one of an account at a time, and no other account waits for all', async () => {
  const [long, short] = [
    await pipeline.enrich(one, listOf(4), options),
    await pipeline.enrich(other, listOf(1), options),
  ];
  const parts = (await pipeline.objects()).filter((key) => key.includes(`${long}/parts/`));
  await suppress(pipeline.sql, 'p1@list.example');
  const begun = new Signal();
  const goOn = new Signal();
  let [writing, writingMax, written] = [0, 0, 0];
  pipeline.faults.put = async (key) => {
    if (!key.includes(long)) return;
    written++;
    writingMax = Math.max(writingMax, ++writing);
    begun.raise();
    await goOn.raised;
    writing--;
  };
  const many = Array.from({ length: DOWNLOADS }, () => download(one, long));
  await begun.raised;
  expect(await download(other, short)).toContain('suppressed');
  goOn.raise();
  const texts = new Set(await Promise.all(many));
  delete pipeline.faults.put;
  expect(texts.size).toBe(1);
  expect([...texts][0]?.match(/suppressed/g)).toHaveLength(4);
  expect({ writingMax, written }).toEqual({ writingMax: 1, written: parts.length });
});
