/** An object that cannot be deleted, because of a permission, a lock or a damaged folder, keeps no other one. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { unavailable } from '../../core/lib/errors.ts';
import type { Log } from '../../core/log.ts';
import { insertDiscarded } from '../result/redaction.sql.ts';
import { runHousekeeping } from './run-housekeeping.ts';

const DAYS = 7;
const BYTES_MAX = 1_000;
const options = { operation: 'people.enrich', fields: 'id' };
const list = 'email\np1@list.example\n';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({
    FILES_KEEP_DAYS: String(DAYS),
    UPLOAD_BYTES_MAX: String(BYTES_MAX),
  });
  await importGraph(pipeline.sql, { persons: crowd(1) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

/** Objects that the log names as not deleted, and messages of other errors. */
let logged: unknown[] = [];
beforeEach(() => {
  logged = [];
});

/** The context of a worker that cannot delete what is below these ids. */
function withStuck(ids: readonly string[], isAway = false) {
  const { context } = pipeline;
  const { store } = context;
  const fail = (key: string) => {
    if (ids.some((id) => key.includes(id))) throw unavailable('store_unavailable', 'AccessDenied');
  };
  const log = Object.assign(Object.create(context.log) as Log, {
    error: ({ object, err }: { object?: string; err: Error }) => logged.push(object ?? err.message),
  });
  return {
    ...context,
    log,
    store: {
      ...store,
      async delete(key: string) {
        fail(key);
        await store.delete(key);
      },
      async deletePrefix(prefix: string) {
        fail(prefix);
        await store.deletePrefix(prefix);
      },
      async head(key: string) {
        fail(key);
        if (isAway) throw unavailable('store_unavailable', 'away');
        return store.head(key);
      },
    },
  };
}

/** Expired lists, the oldest first. */
async function expired(lists: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < lists; n++) {
    const id = await pipeline.enrich(caller, list, options);
    await pipeline.sql`
      update batches set finished_at = now() - make_interval(days => ${DAYS + lists - n})
      where id = ${id}`;
    ids.push(id);
  }
  return ids;
}

const objectsOf = async (ids: readonly string[]) =>
  (await pipeline.objects()).filter((key) => ids.some((id) => key.includes(id)));

test('is named in the log, the others are deleted, and it is tried again in the next round', async () => {
  const [stuck = '', ...others] = await expired(3);
  const discarded = crypto.randomUUID();
  const [first, second] = [`batches/${stuck}/old.csv`, `batches/${discarded}/old.csv`];
  for (const key of [first, second]) {
    await pipeline.context.store.put(key, [Buffer.from('email\n')]);
  }
  await insertDiscarded(pipeline.sql, [first, second]);
  await pipeline.sql`update discarded_objects set since = now() - interval '2 hours'`;
  await runHousekeeping(withStuck([stuck]));
  expect(logged).toEqual([`batches/${stuck}/`, first]);
  expect(await objectsOf([...others, discarded])).toEqual([]);
  expect(await objectsOf([stuck])).not.toEqual([]);
  await runHousekeeping(pipeline.context);
  expect(await objectsOf([stuck])).toEqual([]);
  expect(await pipeline.sql`select key from discarded_objects`).toEqual([]);
});

test('keeps no others, however many cannot be deleted', async () => {
  const { sql } = pipeline;
  await sql`
    insert into discarded_objects (key, since)
    select 'batches/stuck/' || n, now() - interval '3 hours' from generate_series(1, 1001) n
    union all select 'batches/young/1', now() - interval '2 hours'`;
  await sql`
    insert into import_runs (id, account_id, kind, state, finished_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ${caller.accountId}::uuid, 'import', 'done', now()
    from generate_series(1, 1001) n
    union all
    select ('11111111-1111-7111-8111-111111111111')::uuid, ${caller.accountId}::uuid, 'import', 'done', now()`;
  await runHousekeeping(withStuck(['stuck', '/00000000-']));
  const left = await sql`
    select (select count(*) from discarded_objects)::int as discarded,
      (select count(*) from import_runs where files_deleted_at is null)::int as runs`;
  expect(left).toEqual([{ discarded: 1001, runs: 1001 }]);
  await runHousekeeping(pipeline.context);
  expect(await sql`select key from discarded_objects`).toEqual([]);
  expect(await sql`select id from import_runs where files_deleted_at is null`).toEqual([]);
});

test('an upload whose length cannot be read keeps none that is too large', async () => {
  const { sql, context } = pipeline;
  const keys = ['00000000', '11111111'].map((id) => `uploads/${id}-0000-7000-8000-000000000000`);
  const large = [Buffer.alloc(BYTES_MAX + 1)];
  for (const key of keys) {
    await sql`
      insert into uploads (id, account_id, live, key)
      values (${key.slice('uploads/'.length)}, ${caller.accountId}, true, ${key})`;
  }
  // A store lists them in any order.
  for (const stuck of keys) {
    for (const key of keys) await context.store.put(key, large);
    await runHousekeeping(withStuck([stuck]));
    expect(await objectsOf(keys)).toEqual([stuck]);
  }
  expect(logged).toEqual(keys);
  await runHousekeeping(context);
  expect(await objectsOf(keys)).toEqual([]);
});

test('of a store that does not respond is the error of the round, and names no object', async () => {
  const ids = await expired(2);
  await expect(runHousekeeping(withStuck(ids, true))).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  expect(logged.filter((one) => one !== 'away')).toEqual([]);
  await runHousekeeping(pipeline.context);
  expect(await objectsOf(ids)).toEqual([]);
});

test('the database names no file of a list any more when those of the next one are deleted', async () => {
  const ids = await expired(3);
  const { sql, context } = pipeline;
  const deleted: string[] = [];
  const named: unknown[] = [];
  const deletePrefix = async (prefix: string) => {
    named.push(
      ...(await sql`
        select id from batches where id = any(${deleted}::uuid[]) and files_deleted_at is null`),
    );
    await context.store.deletePrefix(prefix);
    deleted.push(...ids.filter((id) => prefix.includes(id)));
  };
  await runHousekeeping({ ...context, store: { ...context.store, deletePrefix } });
  expect(deleted.toSorted()).toEqual(ids.toSorted());
  expect(named).toEqual([]);
});

test('a stage that always fails keeps no later one: each runs, and the first error is reported', async () => {
  const ids = await expired(1);
  const { sql } = pipeline;
  const run = crypto.randomUUID();
  await sql`
    insert into import_runs (id, account_id, kind, state, finished_at)
    values (${run}, ${caller.accountId}, 'import', 'done', now() - interval '60 days')`;
  // One of the first stages, and one of the last.
  await sql`alter table idempotency_keys rename to idempotency_keys_lost`;
  await sql`alter table uploads rename to uploads_lost`;
  try {
    await expect(runHousekeeping(withStuck([]))).rejects.toMatchObject({
      message: 'relation "idempotency_keys" does not exist',
    });
    expect(logged).toEqual(['relation "uploads" does not exist']);
    expect(await objectsOf(ids)).toEqual([]);
    expect(await sql`select id from import_runs where id = ${run}`).toEqual([]);
  } finally {
    await sql`alter table idempotency_keys_lost rename to idempotency_keys`;
    await sql`alter table uploads_lost rename to uploads`;
  }
});
