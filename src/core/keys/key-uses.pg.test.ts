/** The last use of a key, as its holder sees it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { createLog } from '../log.ts';
import { listKeys } from './account-keys.sql.ts';
import { openKeyUses } from './key-uses.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

const log = createLog('silent', 'test');

test('is written at once, then at most every five minutes, and is never older than before', async () => {
  const { accountId, keyId } = await pipeline.account(1);
  let now = 1_000_000;
  const uses = openKeyUses(pipeline.sql, log, () => now);
  const lastUse = async () => {
    await uses.written();
    const owner = { accountId, mode: null };
    const [key] = await listKeys(pipeline.sql, owner, { before: null, limit: 1 });
    return key?.lastUsedAt ?? null;
  };
  expect(await lastUse()).toBeNull();
  uses.note(keyId);
  const first = await lastUse();
  expect(first).not.toBeNull();
  now += 5 * 60 * 1000 - 1;
  uses.note(keyId);
  expect(await lastUse()).toEqual(first);
  now += 1;
  uses.note(keyId);
  expect(Number(await lastUse())).toBeGreaterThan(Number(first));
});

test('that cannot be written is tried again by the next call, and fails none', async () => {
  const { keyId } = await pipeline.account(1);
  const uses = openKeyUses(pipeline.sql, log);
  await pipeline.sql`alter table key_uses rename to key_uses_away`;
  uses.note(keyId);
  await uses.written();
  await pipeline.sql`alter table key_uses_away rename to key_uses`;
  uses.note(keyId);
  await uses.written();
  expect(await pipeline.sql`select from key_uses where key_id = ${keyId}`).toHaveLength(1);
});

test('of a key that calls is in the list of keys', async () => {
  const { accountId } = await pipeline.account(1);
  const caller = await pipeline.keyOf(accountId, 'live', ['account']);
  await pipeline.call(caller, '/v1/me');
  await expect
    .poll(async () => {
      const page = await (await pipeline.call(caller, '/v1/keys')).json();
      const { data } = page as { data: { id: string; last_used_at: string | null }[] };
      return data.map(({ id, last_used_at: at }) => [id === caller.keyId, at !== null]);
    })
    .toEqual([
      [true, true],
      [false, false],
    ]);
});

test('today are counted in the list of keys', async () => {
  const { accountId } = await pipeline.account(1);
  const caller = await pipeline.keyOf(accountId, 'live', ['account']);
  const other = await pipeline.keyOf(accountId, 'live', ['account']);
  const today = async () => {
    const page = await (await pipeline.call(other, '/v1/keys')).json();
    const { data } = page as { data: { id: string; requests_today: number }[] };
    return Object.fromEntries(data.map(({ id, requests_today: count }) => [id, count]));
  };
  for (const _ of [1, 2, 3]) await pipeline.call(caller, '/v1/me');
  expect(await today()).toMatchObject({ [caller.keyId]: 3, [other.keyId]: 0 });
  await pipeline.sql`update day_counts set day = day - 1 where owner = ${caller.keyId}`;
  expect(await today()).toMatchObject({ [caller.keyId]: 0 });
});
