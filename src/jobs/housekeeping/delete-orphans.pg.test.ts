/** Files of import runs that the database does not know, as after a restore: they are people. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { insertRun } from '../imports/import-runs.sql.ts';
import { deleteOrphans } from './delete-orphans.ts';

const DAYS = 7;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ FILES_KEEP_DAYS: String(DAYS) });
});
afterAll(() => pipeline.close());

/** An id as generated that many days ago. */
function idFrom(daysAgo: number): string {
  const born = (Date.now() - daysAgo * 86_400_000).toString(16).padStart(12, '0');
  return `${born.slice(0, 8)}-${born.slice(8)}${crypto.randomUUID().slice(13)}`;
}

test('are deleted when they are older than files are kept, and those of a run are kept', async () => {
  const { sql, store } = pipeline.context;
  const { accountId } = await pipeline.account(0);
  const [known, old, young] = [idFrom(DAYS + 1), idFrom(DAYS + 1), idFrom(DAYS - 1)];
  const run = { accountId, kind: 'import', state: 'ready', importId: null } as const;
  await insertRun(sql, { id: known, ...run, told: [] });
  const keyOf = (id: string) => `imports/${id}/files/${crypto.randomUUID()}`;
  const kept = [keyOf(known), keyOf(young)];
  for (const key of [...kept, keyOf(old), `imports/${old}/rejects`]) {
    await store.put(key, [Buffer.from('email\n')]);
  }
  // What a killed process left is deleted wherever it is.
  await store.put(`copies/1/piece.${idFrom(2)}.tmp`, [Buffer.from('a')]);
  expect(await deleteOrphans(pipeline.context)).toBe(1);
  expect(await pipeline.objects()).toEqual(kept.toSorted());
});
