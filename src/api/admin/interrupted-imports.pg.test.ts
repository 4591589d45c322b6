/** Import runs whose work is interrupted: dead workers, outages, failing builds, another import, a cancellation. */
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../core/db/client.ts';
import { tryLockImports, unlockImports } from '../../core/graph/sources/identify.sql.ts';
import { unavailable } from '../../core/lib/errors.ts';
import { deleteOldRuns } from '../../jobs/imports/delete-runs.ts';
import { claimRun } from '../../jobs/imports/import-runs.sql.ts';
import { runImports } from '../../jobs/imports/run-imports.ts';
import { contacts, type Importing, openImporting, type Run } from './imports.test-suite.ts';

let importing: Importing;
beforeAll(async () => {
  importing = await openImporting(100_000);
});
afterAll(() => importing.pipeline.close());
// Every test begins with an empty graph.
afterEach(async () => {
  await importing.pipeline.sql`drop function if exists graph.dies() cascade`;
  await importing.reset();
});

test('a repeated upload is one run, and leaves one file', async () => {
  const headers = { 'Idempotency-Key': 'once' };
  const first = (await (
    await importing.upload('contacts.csv', contacts, { headers })
  ).json()) as Run;
  const second = await importing.upload('contacts.csv', contacts, { headers });
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(await second.json()).toEqual(first);
  expect(await importing.pipeline.objects()).toHaveLength(1);
  expect(await importing.pipeline.sql`select id from import_runs`).toHaveLength(1);
});

test('a file that no worker survives is given up', async () => {
  const { id } = (await (await importing.upload('contacts.csv', contacts)).json()) as Run;
  const { sql } = importing.pipeline;
  for (let died = 0; died < 5; died++) {
    expect(await claimRun(sql, ['examining'])).toMatchObject({ id });
    await sql`update import_runs set lease_until = now() where id = ${id}`;
  }
  await importing.work();
  expect(await importing.read(id)).toMatchObject({
    state: 'failed',
    found: null,
    problem: { detail: expect.stringContaining('ended 5 times') },
  });
});

test('a run that was claimed before the clock was set back is claimed again', async () => {
  const { id } = (await (await importing.upload('contacts.csv', contacts)).json()) as Run;
  const { sql } = importing.pipeline;
  expect(await claimRun(sql, ['examining'])).toMatchObject({ id });
  expect(await claimRun(sql, ['examining'])).toBeUndefined();
  await sql`update import_runs set lease_until = lease_until + interval '2 hours' where id = ${id}`;
  expect(await claimRun(sql, ['examining'])).toMatchObject({ id });
});

test('an import whose worker died after it wrote is built to its end, once', async () => {
  const { id } = await importing.examined('contacts.csv', contacts);
  await importing.post(`/admin/import-runs/${id}/start`);
  await importing.pipeline.sql.unsafe(`
    create function graph.dies() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
    create trigger dies before delete on graph.records_to_build for each row execute function graph.dies();`);
  const pauses: number[] = [];
  const { sql } = importing.pipeline;
  for (let attempt = 0; attempt < 8; attempt++) {
    await sql`update import_runs set claim_after = null`;
    await importing.work();
    const { problem } = await importing.read(id);
    const told = Number(/in (\d+) s/.exec(problem?.detail ?? '')?.[1]);
    const early =
      await sql`select from import_runs where claim_after <= clock_timestamp() + ${told} * interval '1 s'`;
    expect(early).toHaveLength(1);
    pauses.push(told);
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
  expect(await importing.countPeople()).toBe(0);
  expect(await importing.read(id)).toMatchObject({
    state: 'importing',
    import_id: expect.any(Number),
    problem: { code: 'attempt_failed', detail: expect.stringContaining('killed') },
  });
  const latest = async () => {
    const { data } = (await importing.json('/admin/imports')) as { data: object[] };
    return data[0];
  };
  expect(await latest()).toMatchObject({ state: 'running', problem: 'killed' });
  await importing.pipeline.sql`drop function graph.dies() cascade`;
  await importing.pipeline.sql`update import_runs set claim_after = null`;
  await importing.work();
  expect(await importing.read(id)).toMatchObject({
    state: 'done',
    counts: { rows: 3, new: 1 },
    problem: null,
  });
  expect(await latest()).toMatchObject({ state: 'done', problem: null });
  expect(await importing.countPeople()).toBe(1);
  expect(await importing.done()).toHaveLength(1);
});

test('an undo is done although the database goes away between its commit and the build', async () => {
  const { id } = await importing.examined('contacts.csv', contacts);
  await importing.post(`/admin/import-runs/${id}/start`);
  await importing.work();
  const { import_id } = await importing.read(id);
  const { sql } = importing.pipeline;
  await sql.unsafe(`
    create function graph.dies() returns trigger language plpgsql as $$ begin raise exception using errcode = '57P01'; end $$;
    create trigger dies before delete on graph.records_to_build for each row execute function graph.dies();`);
  const undo = (await (await importing.post(`/admin/imports/${import_id}/undo`, {})).json()) as Run;
  await importing.work();
  expect(await importing.read(undo.id)).toMatchObject({ state: 'undoing' });
  await sql`drop function graph.dies() cascade`;
  await sql`update import_runs set claim_after = null`;
  await importing.work();
  expect(await importing.read(undo.id)).toMatchObject({ state: 'done', problem: null });
  expect(await importing.countPeople()).toBe(0);
});

test('an import outlasts an outage of the store, however long', async () => {
  const { id } = await importing.examined('contacts.csv', contacts);
  await importing.post(`/admin/import-runs/${id}/start`);
  const { context, sql } = importing.pipeline;
  const getStream = () => {
    throw unavailable('store_unavailable', 'The store does not respond.');
  };
  for (let attempt = 0; attempt < 8; attempt++) {
    await sql`update import_runs set claim_after = null`;
    await runImports({ ...context, store: { ...context.store, getStream } });
  }
  expect(await importing.read(id)).toMatchObject({
    state: 'importing',
    problem: { detail: expect.stringContaining('The store does not respond') },
  });
  await sql`update import_runs set claim_after = null`;
  await importing.work();
  expect(await importing.read(id)).toMatchObject({ state: 'done', counts: { new: 1 } });
});

test('an import whose stored file is missing fails, and changes nothing', async () => {
  const { id } = await importing.examined('contacts.csv', contacts);
  await importing.post(`/admin/import-runs/${id}/start`);
  await importing.pipeline.context.store.deletePrefix(`imports/${id}/`);
  for (let attempt = 0; attempt < 5; attempt++) {
    await importing.pipeline.sql`update import_runs set claim_after = null`;
    await importing.work();
  }
  expect(await importing.read(id)).toMatchObject({ state: 'failed', import_id: null });
  expect(await importing.done()).toEqual([]);
});

test('a cancelled import writes nothing, whenever it is cancelled', async () => {
  const { id } = await importing.examined('contacts.csv', contacts);
  await importing.post(`/admin/import-runs/${id}/start`);
  const cancelling = {
    ...importing.pipeline.context,
    store: {
      ...importing.pipeline.context.store,
      // The file is read after the claim.
      getStream: (key: string) =>
        Readable.from(
          (async function* () {
            await importing.post(`/admin/import-runs/${id}/cancel`);
            yield* importing.pipeline.context.store.getStream(key);
          })(),
          { objectMode: false },
        ),
    },
  };
  await runImports(cancelling);
  expect(await importing.read(id)).toMatchObject({ state: 'cancelled', import_id: null });
  expect(await importing.countPeople()).toBe(0);
  expect(await importing.done()).toEqual([]);
});

test('an import waits for another one, and says so', async () => {
  const { id } = await importing.examined('contacts.csv', contacts);
  await importing.post(`/admin/import-runs/${id}/start`);
  const connection = await importing.pipeline.sql.reserve();
  expect(await tryLockImports(connection as unknown as Sql)).toBe(true);
  await runImports(importing.pipeline.context);
  expect(await importing.read(id)).toMatchObject({
    state: 'importing',
    progress: { step: 'waiting' },
  });
  await unlockImports(connection as unknown as Sql);
  connection.release();
  await importing.pipeline.sql`update import_runs set claim_after = null`;
  await importing.work();
  expect(await importing.read(id)).toMatchObject({ state: 'done' });
});

test('files that were left for a day are deleted, with what was read of them', async () => {
  const { id } = await importing.examined('contacts.csv', contacts);
  await importing.pipeline.sql`update import_runs set updated_at = now() - interval '25 hours'`;
  await deleteOldRuns(importing.pipeline.context);
  expect(await importing.read(id)).toMatchObject({ state: 'cancelled', found: null });
  expect(await importing.pipeline.objects()).toEqual([]);
  await importing.pipeline.sql`update import_runs set finished_at = now() - interval '31 days'`;
  await deleteOldRuns(importing.pipeline.context);
  expect(await importing.pipeline.sql`select id from import_runs`).toEqual([]);
});

test.each([
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf('2,Eve'))],
  ['changed', (bytes: Buffer) => Buffer.from(bytes.toString().replace('Ada', 'Ava'))],
])('a file that is %s in the store after its examination is not imported', async (_, damage) => {
  const { id } = await importing.examined('contacts.csv', contacts);
  const { sql, context } = importing.pipeline;
  const [key = ''] = await importing.pipeline.objects();
  await context.store.put(key, [damage(Buffer.from(contacts))]);
  await importing.post(`/admin/import-runs/${id}/start`);
  await importing.work();
  expect(await importing.read(id)).toMatchObject({
    state: 'importing',
    problem: { code: 'attempt_failed', detail: expect.stringContaining('is damaged') },
  });
  expect(await importing.countPeople()).toBe(0);
  await context.store.put(key, [Buffer.from(contacts)]);
  await sql`update import_runs set claim_after = null`;
  await importing.work();
  expect(await importing.read(id)).toMatchObject({ state: 'done', counts: { new: 1 } });
});
