/**
 * No truncated, changed or lost object yields a shorter result: every reader of every kind of object names the
 * object that is damaged. The same on files and on S3, whose test server verifies nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import {
  type Caller,
  openPipeline,
  type Pipeline,
  type Storage,
} from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../audit/audit.ts';
import { markStore } from '../batch/own-store.ts';

const longer = 'longer by a row';
/** Maps an object's bytes to the damaged bytes; null for a lost object. */
const damages: [name: string, code: string, damage: (bytes: Buffer) => Buffer | null][] = [
  [
    'truncated at a row',
    'object_damaged',
    (bytes) => bytes.subarray(0, bytes.lastIndexOf('\n', -2) + 1),
  ],
  ['truncated to nothing', 'object_damaged', () => Buffer.alloc(0)],
  [longer, 'object_damaged', (bytes) => Buffer.concat([bytes, lastRow(bytes)])],
  [
    'changed in one bit',
    'object_damaged',
    (bytes) => {
      const flipped = Buffer.from(bytes);
      // Letters stay letters and digits stay digits: only the value changes.
      const at = flipped.length - 6;
      flipped[at] = (flipped[at] as number) ^ 1;
      return flipped;
    },
  ],
  ['missing', 'object_missing', () => null],
];
const changes = damages.filter(([, code]) => code === 'object_damaged');

function lastRow(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.lastIndexOf('\n', -2) + 1);
}

const emails = Array.from({ length: 9 }, (_, n) => `p${n + 1}@list.example`);
const list = `email,note\n${emails.map((email, n) => `${email},note ${n} of it`).join('\n')}\n`;
const western = Buffer.from(list.replaceAll('note', 'Größe'), 'latin1');
const options = { operation: 'people.enrich', fields: 'id,name' };
const forms = ['csv', 'csv-safe', 'jsonl', 'xlsx'].flatMap((form) => [form, `${form}&gzip=true`]);

describe.each<Storage>(['files', 's3'])('on %s', (storage) => {
  let pipeline: Pipeline;
  let caller: Caller;
  /** Each opt-out uses another person. */
  let next = 10;
  /** The last person who becomes known after a list. */
  let late = 5_000;
  beforeAll(async () => {
    pipeline = await openPipeline({ CHUNK_ROWS: '3' }, storage);
    await importGraph(pipeline.sql, smallGraph);
    await importGraph(pipeline.sql, { persons: crowd(20) });
    caller = await pipeline.account(10_000);
    // A list ends because of its file only while the store has the mark of the service.
    await markStore(pipeline.context);
  });
  afterAll(async () => {
    expect((await audit(pipeline.sql)).ok).toBe(true);
    await pipeline.close();
  });

  const row = async (id: string) => {
    const [batch] = await pipeline.sql<
      { state: string; error: unknown; uploadKey: string; canonicalKey: string; charged: number }[]
    >`
      select state, error, upload_key, canonical_key, credits_charged as charged from batches
      where id = ${id}`;
    return must(batch, 'the batch');
  };
  const partKeys = async (id: string) => {
    const parts = await pipeline.sql<{ objectKey: string }[]>`
      select object_key from parts where batch_id = ${id} order by chunk_number, number`;
    return parts.map(({ objectKey }) => objectKey);
  };

  /** Damages an object and returns a function that restores it. */
  async function harm(key: string, damage: (bytes: Buffer) => Buffer | null) {
    const { store } = pipeline.context;
    const before = await store.get(key, { from: 0, to: must(await store.head(key), key) });
    const after = damage(before);
    if (after === null) await store.delete(key);
    else await store.put(key, [after]);
    return () => store.put(key, [before]);
  }

  const get = (id: string, what: string, kind = 'batches') =>
    pipeline.call(caller, `/v1/${kind}/${id}/${what}`);

  /** A download that has started must not end as if complete; one that has not is refused with the reason. */
  async function expectRefused(
    response: Response,
    problem: { status: number; code: string },
  ): Promise<void> {
    if (response.status === 200) await expect(response.arrayBuffer()).rejects.toThrow();
    else await expectProblem(response, problem);
  }

  describe.each(changes)('an upload that is %s', (name, _code, damage) => {
    test.each([
      ['UTF-8', list],
      ['another encoding', western],
    ])('before the split, in %s, fails its list', async (_encoding, bytes) => {
      const id = await pipeline.upload(caller, bytes, options);
      const { uploadKey } = await row(id);
      await harm(uploadKey, damage);
      await pipeline.runForAnHour();
      expect(await row(id)).toMatchObject({
        state: 'failed',
        charged: 0,
        error: {
          code: 'object_damaged',
          status: 500,
          object: uploadKey,
          detail: expect.stringContaining('upload the list again'),
        },
      });
      const { state, error } = (await pipeline.batch(caller, id)) as {
        state: string;
        error?: unknown;
      };
      expect({ state, error }).toMatchObject({ state: 'failed', error: { object: uploadKey } });
      const results = await get(id, 'results');
      expect(results.headers.get('x-result-complete')).toBe('false');
      // A preview does not read what was added after the first rows.
      if (name === longer) return;
      await expectProblem(await get(id, 'preview'), { status: 500, code: 'object_damaged' });
    });

    test('before its chunks run fails the list at the damage; paid rows stay', async () => {
      const id = await pipeline.upload(caller, list, { ...options, hold: 'true' });
      await pipeline.runUntilIdle();
      const { uploadKey } = await row(id);
      await harm(uploadKey, damage);
      await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
      await pipeline.runForAnHour();
      const { charged, ...batch } = await row(id);
      // No chunk reads what was added after the last one.
      if (name === longer) return expect(batch.state).toBe('completed');
      expect(batch).toMatchObject({
        state: 'failed',
        error: { code: 'object_damaged', object: uploadKey },
      });
      const results = await get(id, 'results');
      const rows = (await results.text()).trimEnd().split('\n').slice(1);
      expect(results.headers.get('x-result-complete')).toBe('false');
      expect(rows.length).toBe(charged);
      expect(rows.filter((text) => text.includes(',error,'))).toEqual([]);
      for (const text of rows) expect(list).toContain(text.split(',').slice(0, 2).join(','));
    });

    test('before a quote fails the list', async () => {
      const id = await pipeline.upload(caller, list, { ...options, hold: 'true' });
      await pipeline.runUntilIdle();
      await harm((await row(id)).uploadKey, damage);
      await pipeline.call(caller, `/v1/batches/${id}/quote`, { method: 'POST' });
      await pipeline.runForAnHour();
      const state = name === longer ? 'ready' : 'failed';
      expect(await row(id)).toMatchObject({ state, charged: 0 });
    });

    test('before a cancelled list is written out ends it as cancelled, not as complete', async () => {
      const id = await pipeline.upload(caller, list, { ...options, hold: 'true' });
      await pipeline.runUntilIdle();
      await harm((await row(id)).uploadKey, damage);
      await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
      await pipeline.runUntilIdle();
      expect(await row(id)).toMatchObject({ state: 'cancelled', charged: 0 });
      const results = await get(id, 'results');
      const rows = (await results.text()).trimEnd().split('\n').length - 1;
      expect(results.headers.get('x-result-complete')).toBe(String(rows === emails.length));
    });
  });

  test.each(changes)('ids of an export that are %s fail it', async (name, _code, damage) => {
    const filter = 'id=1001-1020';
    const id = await pipeline.makeExport(caller, { filter, fields: ['id'], hold: true });
    await pipeline.runUntilIdle();
    const { canonicalKey } = await row(id);
    await harm(canonicalKey, damage);
    await pipeline.call(caller, `/v1/exports/${id}/start`, { method: 'POST' });
    await pipeline.runForAnHour();
    const { charged, ...batch } = await row(id);
    if (name === longer) return expect(batch.state).toBe('completed');
    const detail = expect.stringContaining('create the export again');
    expect(batch).toMatchObject({ state: 'failed', error: { object: canonicalKey, detail } });
    const results = await get(id, 'results', 'exports');
    expect(results.headers.get('x-result-complete')).toBe('false');
    expect((await results.text()).trimEnd().split('\n').length - 1).toBe(charged);
  });

  describe.each(damages)('a part that is %s', (_name, code, damage) => {
    /** Each test repairs it. */
    let ended: string;
    beforeAll(async () => {
      ended = await pipeline.enrich(caller, list, options);
    });

    test.each(forms)('refuses the result as %s, or breaks it off', async (form) => {
      const [first = '', second = ''] = await partKeys(ended);
      const status = code === 'object_damaged' ? 500 : 503;

      const repair = await harm(first, damage);
      const problem = await expectProblem(await get(ended, `results?format=${form}`), {
        status,
        code,
      });
      expect(problem.object).toBe(first);
      await repair();

      const repairSecond = await harm(second, damage);
      await expectRefused(await get(ended, `results?format=${form}`), { status, code });
      await repairSecond();
      expect((await get(ended, `results?format=${form}`)).status).toBe(200);
    });

    test('of a rerun refuses the merged result in every form, or breaks it off', async () => {
      const people = Array.from({ length: 6 }, () => ({
        id: ++late,
        email: `late${late}@list.example`,
      }));
      // Longer than what is sent at a time: the result has begun when its second half is read.
      const long = `email,note\n${people.map(({ email }) => `${email},${'x'.repeat(30_000)}\n`).join('')}`;
      const id = await pipeline.enrich(caller, long, options);
      await importGraph(pipeline.sql, { persons: people });
      const response = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcomes: ['no_match'] }),
      });
      const rerun = (await response.json()) as { id: string };
      await pipeline.runUntilIdle();
      const status = code === 'object_damaged' ? 500 : 503;
      for (const part of await partKeys(rerun.id)) {
        const repair = await harm(part, damage);
        const begun: boolean[] = [];
        for (const form of forms) {
          const merged = await get(id, `results?reruns=true&format=${form}`);
          begun.push(merged.status === 200);
          await expectRefused(merged, { status, code });
        }
        await repair();
        expect(begun[0]).toBe(part !== (await partKeys(rerun.id))[0]);
      }
      const whole = await get(id, 'results?reruns=true');
      expect((await whole.text()).match(/,matched,/g)).toHaveLength(people.length);
    });

    test('refuses a rerun, and leaves no new list', async () => {
      const strangers = list.replaceAll('@list', '@nobody');
      const id = await pipeline.enrich(caller, strangers, options);
      await harm((await partKeys(id))[1] ?? '', damage);
      const before = await pipeline.sql`select count(*) from batches`;
      const response = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcomes: ['no_match'] }),
      });
      await expectProblem(response, { status: code === 'object_damaged' ? 500 : 503, code });
      expect(await pipeline.sql`select count(*) from batches`).toEqual(before);
    });

    test.each([
      ['itself', (key: string) => key],
      ['in its person index', (key: string) => `${key}.ids`],
    ])('%s refuses the result once a person in it opts out', async (_what, keyOf) => {
      const person = `p${next++}@list.example`;
      const id = await pipeline.enrich(caller, `email\n${person}\n`, options);
      const [part = ''] = await partKeys(id);
      // Pairs of numbers have no rows: any truncation is alike.
      const repair = await harm(keyOf(part), (bytes) => damage(bytes));
      await suppress(pipeline.sql, person);
      const status = code === 'object_damaged' ? 500 : 503;
      const problem = await expectProblem(await get(id, 'results'), { status, code });
      expect(problem.object).toBe(keyOf(part));
      await repair();
      expect(await (await get(id, 'results')).text()).toContain('suppressed');
    });
  });

  test.each(['before the split', 'before its chunks run'])(
    'an upload that is damaged for a moment %s fails no list, and no row',
    async (when) => {
      const isSplit = when !== 'before the split';
      const id = await pipeline.upload(caller, western, options);
      if (isSplit) await pipeline.queues.runNext(pipeline.context, 'split-batch');
      const { uploadKey, canonicalKey } = await row(id);
      const repair = await harm(isSplit ? canonicalKey : uploadKey, (bytes) =>
        Buffer.alloc(bytes.length, 'x'),
      );
      await pipeline.runWhatWaits();
      expect(await row(id)).toMatchObject({ state: isSplit ? 'running' : 'validating' });
      await repair();
      await pipeline.runForAnHour();
      expect(await row(id)).toMatchObject({ state: 'completed', charged: emails.length });
    },
  );

  test('an upload whose first rows stay damaged fails its list after half a minute, whatever else was paid', async () => {
    const id = await pipeline.upload(caller, list, { ...options, hold: 'true' });
    await pipeline.runUntilIdle();
    const { uploadKey } = await row(id);
    await harm(uploadKey, (bytes) => Buffer.from(bytes).fill('x', bytes.indexOf('p1'), 30));
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    await pipeline.runWhatWaits();
    await pipeline.passAnHour();
    await pipeline.sweep();
    // Its other rows are paid between two reads of the first ones.
    pipeline.queues.waiting.reverse();
    await pipeline.runWhatWaits();
    expect(await row(id)).toMatchObject({
      state: 'failed',
      charged: 6,
      error: { code: 'object_damaged', object: uploadKey },
    });
  });

  test('a byte changed in transit is read again', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const { store } = pipeline.context;
    const [part = ''] = await partKeys(id);
    const repair = await harm(part, (bytes) => bytes.subarray(1));
    pipeline.faults.get = async () => {
      // The second read returns the intact object.
      pipeline.faults.get = async () => {
        delete pipeline.faults.get;
        await repair();
      };
    };
    expect((await pipeline.results(caller, id)).complete).toBe('true');
    expect(await store.head(part)).toBeGreaterThan(0);
  });
});
