import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { inTransaction } from '../core/db/client.ts';
import { must } from '../core/lib/assert.ts';
import { objectsDamaged } from '../core/storage/object-sum.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';
import { markStore } from '../jobs/batch/own-store.ts';
import { runHousekeeping } from '../jobs/housekeeping/run-housekeeping.ts';

const BYTES_MAX = 100_000;
const list = 'email\np1@list.example\np2@list.example\n';
const operation = 'people.enrich';

interface OpenUpload {
  upload_id: string;
  method: string;
  url: string;
  url_expires_at: string;
  expires_at: string;
  bytes_max: number;
}

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ UPLOAD_BYTES_MAX: String(BYTES_MAX) }, 's3');
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

async function openUpload(who = caller): Promise<OpenUpload> {
  const response = await pipeline.call(who, '/v1/uploads', { method: 'POST' });
  const text = await response.text();
  expect(response.status, text).toBe(201);
  return JSON.parse(text) as OpenUpload;
}

/** An upload with a file; the storage takes it as it is. */
async function uploaded(body: string | Buffer, who = caller): Promise<string> {
  const { upload_id, url } = await openUpload(who);
  const headers = { 'Content-Type': 'text/csv' };
  const response = await fetch(url, {
    method: 'PUT',
    headers,
    body: new Uint8Array(Buffer.from(body)),
  });
  expect(response.status).toBe(200);
  return upload_id;
}

function post(body: unknown, who = caller, headers: Record<string, string> = {}) {
  return pipeline.call(who, '/v1/batches', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function accepted(response: Response): Promise<BatchView> {
  const text = await response.text();
  expect(response.status, text).toBe(202);
  return JSON.parse(text) as BatchView;
}

const uploadObjects = async () =>
  (await pipeline.objects()).filter((key) => key.startsWith('uploads/'));
/** Counts of the metric that wakes the operator. */
const damagedObjects = async () => (await objectsDamaged.get()).values;
const batchCount = async () => (await pipeline.sql`select id from batches`).length;

test('an upload says where to put the file, how large it may be, and until when', async () => {
  const upload = await openUpload();
  expect(upload).toMatchObject({ method: 'PUT', bytes_max: BYTES_MAX });
  expect(upload.url).toContain('X-Amz-Signature=');
  const hours = (time: string) => (Date.parse(time) - Date.now()) / 3_600_000;
  expect(hours(upload.url_expires_at)).toBeCloseTo(1, 1);
  expect(hours(upload.expires_at)).toBeCloseTo(24, 1);
});

test('no upload is opened by a key whose revocation is under way', async () => {
  const leaving = await pipeline.keyOf(caller.accountId, 'live');
  const before = await pipeline.sql`select id from uploads`;
  let opening: Promise<Response> | undefined;
  await inTransaction(pipeline.sql, async (tx) => {
    await tx`update api_keys set revoked_at = now() where id = ${leaving.keyId}`;
    opening = pipeline.call(leaving, '/v1/uploads', { method: 'POST' });
    await Promise.race([opening, pipeline.untilBlocked(1)]);
  });
  await expectProblem(must(await opening, 'answer'), { status: 403, code: 'key_revoked' });
  expect(await pipeline.sql`select id from uploads`).toEqual(before);
});

test('without S3 there are no uploads, and the answer names the way', async () => {
  await using embedded = Object.assign(await openPipeline(), {
    async [Symbol.asyncDispose](this: Pipeline) {
      await this.close();
    },
  });
  const response = await embedded.call(await embedded.account(1), '/v1/uploads', {
    method: 'POST',
  });
  const problem = await expectProblem(response, { status: 409, code: 'invalid_state' });
  expect(problem.detail).toContain('POST /v1/batches');
});

describe('an upload becomes a batch', () => {
  test.each([
    ['as CSV', list],
    ['as gzip', gzipSync(list)],
  ])('%s, with its options as JSON', async (_what, body) => {
    const batch = await accepted(
      await post({
        upload_id: await uploaded(body),
        operation,
        name: 'From storage',
        mapping: { email: 'email' },
        fields: ['id', 'email'],
        max_credits: 1,
        dedupe: false,
      }),
    );
    expect(batch).toMatchObject({ name: 'From storage', credits: { max: 1 } });
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, batch.id)).toMatchObject({
      state: 'paused',
      reason: 'max_credits',
      rows: { total: 2, matched: 1 },
    });
    // The batch has its own copy.
    expect(await uploadObjects()).toEqual([]);
  });

  test('once: the second time is refused', async () => {
    const upload_id = await uploaded(list);
    await accepted(await post({ upload_id, operation }));
    const before = await batchCount();
    const again = await post({ upload_id, operation });
    await expectProblem(again, { status: 409, code: 'invalid_state' });
    expect(await batchCount()).toBe(before);
  });

  test('once, also for requests at the same time', async () => {
    const upload_id = await uploaded(list);
    const before = await batchCount();
    const responses = await Promise.all([1, 2, 3, 4].map(() => post({ upload_id, operation })));
    const statuses = responses.map((response) => response.status).sort();
    await Promise.all(responses.map((response) => response.text()));
    expect(statuses.filter((status) => status === 202)).toHaveLength(1);
    expect(statuses.every((status) => [202, 409, 503].includes(status))).toBe(true);
    expect(await batchCount()).toBe(before + 1);
  });

  test('and a request sent again with its Idempotency-Key gets the same answer', async () => {
    const upload_id = await uploaded(list);
    const key = { 'Idempotency-Key': 'from-storage-1' };
    const first = await accepted(await post({ upload_id, operation }, caller, key));
    const again = await post({ upload_id, operation }, caller, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await accepted(again)).id).toBe(first.id);
    const other = await post({ upload_id, operation, name: 'Other' }, caller, key);
    await expectProblem(other, { status: 422, code: 'idempotency_key_reused' });
  });

  test('after a request that did not fit the file', async () => {
    const upload_id = await uploaded('Colour,Contact\nred,p1@list.example\n');
    const before = await pipeline.objects();
    const wrong = await post({ upload_id, operation, mapping: { email: 'No such column' } });
    await expectProblem(wrong, { status: 400, code: 'invalid_parameter' });
    expect(await pipeline.objects()).toEqual(before);
    await accepted(await post({ upload_id, operation, mapping: { email: 'Contact' } }));
  });
});

describe('an upload is refused', () => {
  test('when nothing was put yet', async () => {
    const { upload_id } = await openUpload();
    await expectProblem(await post({ upload_id, operation }), {
      status: 409,
      code: 'invalid_state',
    });
  });

  test('when it is larger than an upload may be, by its size alone, and deleted', async () => {
    const upload_id = await uploaded('x'.repeat(BYTES_MAX + 1));
    const large = { status: 413, code: 'file_too_large' };
    await expectProblem(await post({ upload_id, operation }), large);
    expect(await uploadObjects()).toEqual([]);
  });

  test.each([
    ['a shorter file', 'email\np1@list.example\n'],
    ['a longer file', `${list}p3@list.example\n`],
    ['no file', null],
  ])(
    'when there is %s in its place by the time that it is read, which is no damage of the store',
    async (_what, other) => {
      const { upload_id, url } = await openUpload();
      await fetch(url, { method: 'PUT', body: list });
      const { store } = pipeline.context;
      const { head } = store;
      store.head = async (key) => {
        const bytes = await head(key);
        await (other === null ? store.delete(key) : fetch(url, { method: 'PUT', body: other }));
        return bytes;
      };
      const before = [await damagedObjects(), await pipeline.objects(), await batchCount()];
      const changed = await post({ upload_id, operation });
      store.head = head;
      await expectProblem(changed, { status: 409, code: 'invalid_state' });
      const uploadKey = `uploads/${upload_id}`;
      const objects = (await pipeline.objects()).concat(other === null ? uploadKey : []).toSorted();
      expect([await damagedObjects(), objects, await batchCount()]).toEqual(before);
      if (other !== null) await accepted(await post({ upload_id, operation }));
    },
  );

  test('when it grows too large unzipped', async () => {
    const upload_id = await uploaded(gzipSync(`email\n${'p1@list.example\n'.repeat(10_000)}`));
    const large = { status: 413, code: 'file_too_large' };
    const before = await batchCount();
    await expectProblem(await post({ upload_id, operation }), large);
    expect(await batchCount()).toBe(before);
    expect((await pipeline.objects()).filter((key) => key.endsWith(upload_id))).toHaveLength(1);
  });

  test('to another account, another mode and with an unknown id: 404', async () => {
    const upload_id = await uploaded(list);
    const missing = { status: 404, code: 'not_found' };
    const stranger = await pipeline.account(100);
    await expectProblem(await post({ upload_id, operation }, stranger), missing);
    const testKey = await pipeline.keyOf(caller.accountId, 'test');
    await expectProblem(await post({ upload_id, operation }, testKey), missing);
    const nothing = '00000000-0000-7000-8000-000000000000';
    await expectProblem(await post({ upload_id: nothing, operation }), missing);
    await accepted(await post({ upload_id, operation }));
  });

  test.each([
    ['upload_id', { operation }],
    ['upload_id', { upload_id: 'x', operation }],
    ['operation', { upload_id: '00000000-0000-7000-8000-000000000000' }],
    ['colour', { upload_id: '00000000-0000-7000-8000-000000000000', operation, colour: 'red' }],
    ['body', '{'],
  ])('with the parameter %s wrong: 400 that names it', async (field, body) => {
    const problem = await expectProblem(await post(body), {
      status: 400,
      code: 'invalid_parameter',
    });
    expect(problem.errors[0]?.field).toBe(field);
  });
});

describe('after a day', () => {
  test('an upload is gone for its owner, and its object is deleted with it', async () => {
    const old = await uploaded(list);
    const fresh = await uploaded(list);
    await pipeline.sql`
      update uploads set created_at = created_at - interval '24 hours' where id = ${old}`;
    await expectProblem(await post({ upload_id: old, operation }), {
      status: 404,
      code: 'not_found',
    });
    await runHousekeeping(pipeline.context);
    expect(await uploadObjects()).toContain(`uploads/${fresh}`);
    expect(await uploadObjects()).not.toContain(`uploads/${old}`);
    const left = await pipeline.sql`select id from uploads where id in (${old}, ${fresh})`;
    expect(left).toEqual([{ id: fresh }]);
    await accepted(await post({ upload_id: fresh, operation }));
  });

  test('a file sent after the batch was created is deleted too', async () => {
    const { upload_id, url } = await openUpload();
    const put = () => fetch(url, { method: 'PUT', body: list });
    await put();
    await accepted(await post({ upload_id, operation }));
    await put();
    expect(await uploadObjects()).toContain(`uploads/${upload_id}`);
    await pipeline.sql`
      update uploads set created_at = created_at - interval '24 hours' where id = ${upload_id}`;
    await runHousekeeping(pipeline.context);
    expect(await uploadObjects()).not.toContain(`uploads/${upload_id}`);
  });

  test('a file that arrives after the row of its upload was deleted is deleted too, in a store of its own', async () => {
    const { upload_id, url } = await openUpload();
    await pipeline.sql`
      update uploads set created_at = created_at - interval '24 hours' where id = ${upload_id}`;
    await runHousekeeping(pipeline.context);
    await fetch(url, { method: 'PUT', body: list });
    await runHousekeeping(pipeline.context);
    expect(await uploadObjects()).toContain(`uploads/${upload_id}`);
    await markStore(pipeline.context);
    await runHousekeeping(pipeline.context);
    expect(await uploadObjects()).not.toContain(`uploads/${upload_id}`);
  });

  test('a file put again after its use, or too large, is deleted within ten minutes', async () => {
    const used = await openUpload();
    const putAgain = () => fetch(used.url, { method: 'PUT', body: list });
    await putAgain();
    await accepted(await post({ upload_id: used.upload_id, operation }));
    await putAgain();
    const large = await uploaded(Buffer.alloc(BYTES_MAX + 1, 'x'));
    const fine = await uploaded(list);
    await runHousekeeping(pipeline.context);
    const left = await uploadObjects();
    expect(left).toContain(`uploads/${fine}`);
    expect(left).not.toContain(`uploads/${used.upload_id}`);
    expect(left).not.toContain(`uploads/${large}`);
    await accepted(await post({ upload_id: fine, operation }));
  });

  test('a file put again after its use is deleted as soon, however many uploads there are, as are the rows of old ones', async () => {
    const many = 20_000;
    await pipeline.sql`
      insert into uploads (id, account_id, live, key, created_at, used_at)
      select id, ${caller.accountId}, true, 'uploads/' || id, now() - make_interval(hours => hours), now()
      from (select gen_random_uuid() as id, hours
        from generate_series(1, ${many}), unnest('{1,25}'::int[]) hours) upload`;
    const [used] = await pipeline.sql`
      select key from uploads where used_at is not null and created_at > now() - interval '2 hours'
      order by id limit 1`;
    await pipeline.context.store.put(used?.key, [Buffer.from(list)]);
    await runHousekeeping(pipeline.context);
    expect(await uploadObjects()).not.toContain(used?.key);
    const [old] = await pipeline.sql`
      select count(*) as rows from uploads where created_at < now() - interval '24 hours'`;
    expect(old).toEqual({ rows: 0 });
  });
});
