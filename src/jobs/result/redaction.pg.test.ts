/** People who opted out are redacted from earlier results, in every format and despite failures. */
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createFilledTemplate, type FilledTemplate } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { AppError } from '../../core/lib/errors.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { csvOfBytes } from '../../formats/xlsx/xlsx-fixtures.test-suite.ts';
import { audit } from '../audit/audit.ts';
import { auditParts } from '../audit/audit-parts.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { runHousekeeping } from '../housekeeping/run-housekeeping.ts';
import { redactBatch } from './redact-parts.ts';

let template: FilledTemplate;
let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  template = await createFilledTemplate(async (sql) => {
    await importGraph(sql, smallGraph);
    await importGraph(sql, { persons: crowd(8) });
  });
});
afterAll(() => template.drop());
beforeEach(async () => {
  const options = { CHUNK_ROWS: '2' };
  pipeline = await openPipeline(options, undefined, undefined, await template.copy());
  caller = await pipeline.account(1000);
});
afterEach(() => pipeline.close());

const options = { operation: 'people.enrich', fields: 'id,email,name' };
/** p3 is in two rows of two chunks; the customer's own text of a row has quotes and umlauts. */
const list = [
  'note,email',
  'a,p1@list.example',
  '"b, ""quoted"" ü",P3@list.example',
  '',
  'c,p2@list.example',
  'd,nobody@list.example',
  'e,p3@list.example',
  '',
].join('\n');

const csv = async (id: string) => (await pipeline.results(caller, id)).text;
const form = async (id: string, query: string) => {
  const response = await pipeline.call(caller, `/v1/batches/${id}/results?${query}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};
const partsOf = async (id: string) =>
  (await pipeline.objects()).filter((key) => key.includes(`${id}/parts/`));
const recordedOf = async (id: string) => {
  const rows = await pipeline.sql<{ objectKey: string }[]>`
    select object_key from parts where batch_id = ${id} order by chunk_number, number`;
  return rows.map((row) => row.objectKey);
};
const check = async (id: string) => {
  const batch = await findBatch(pipeline.sql, id);
  if (batch === undefined) throw new Error('no batch');
  return redactBatch(pipeline.context, batch);
};

/** Expects only parts and their person indexes to be stored. */
async function expectNothingLeft(id: string): Promise<void> {
  const recorded = await recordedOf(id);
  expect(await partsOf(id)).toEqual(recorded.flatMap((key) => [key, `${key}.ids`]).sort());
  expect(await pipeline.sql`select key from discarded_objects`).toEqual([]);
}

describe('a download after an opt-out', () => {
  test('keeps the row and its own text, without the person; other parts are unchanged', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const before = (await csv(id)).split('\n');
    expect(before[2]).toBe(
      '"b, ""quoted"" ü",P3@list.example,matched,email,,false,1,1003,,p3@list.example',
    );
    const counts = await pipeline.batch(caller, id);
    const keys = await recordedOf(id);
    await suppress(pipeline.sql, 'p3@list.example');
    const after = (await csv(id)).split('\n');
    expect(after).toEqual([
      ...before.slice(0, 2),
      '"b, ""quoted"" ü",P3@list.example,suppressed,email,opted_out,,1,,,',
      ...before.slice(3, 6),
      'e,p3@list.example,suppressed,email,opted_out,,1,,,',
      '',
    ]);
    const keysAfter = await recordedOf(id);
    expect(keysAfter.map((key, index) => key === keys[index])).toEqual([false, true, false]);
    // The batch still reports what was delivered and paid then.
    expect(await pipeline.batch(caller, id)).toEqual(counts);
    expect((await audit(pipeline.sql)).ok).toBe(true);
    await expectNothingLeft(id);
    expect(await csv(id)).toBe(after.join('\n'));
    expect(await recordedOf(id)).toEqual(keysAfter);
  });

  test('empties the duplicates of the row too, which stay what they were', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, dedupe: 'true' });
    expect(await csv(id)).toContain(
      'e,p3@list.example,duplicate,email,same_record_as_row_2,false,0,1003',
    );
    await suppress(pipeline.sql, 'p3@list.example');
    const after = await csv(id);
    expect(after).not.toContain('1003');
    expect(after).toContain('e,p3@list.example,duplicate,email,same_record_as_row_2,,0,,,\n');
    const { checks } = await auditParts(pipeline.context);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
  });

  test.each(['csv', 'csv-safe', 'jsonl', 'xlsx', 'csv&gzip=true', 'jsonl&gzip=true'])(
    'as %s never contains the person',
    async (query) => {
      const id = await pipeline.enrich(caller, list, options);
      const readable = async (bytes: Buffer) => {
        if (query === 'xlsx') return csvOfBytes(bytes);
        return (query.includes('gzip') ? gunzipSync(bytes) : bytes).toString();
      };
      const text = async () => readable(await form(id, `format=${query}`));
      expect(await text()).toContain('1003');
      await suppress(pipeline.sql, 'p3@list.example');
      const after = await text();
      expect(after).not.toContain('1003');
      expect(after).toContain('1001');
      expect(after.match(/opted_out/g)).toHaveLength(2);
    },
  );

  test('as JSON lines has the outcome and the credits paid', async () => {
    const id = await pipeline.enrich(caller, list, options);
    await suppress(pipeline.sql, 'p3@list.example');
    const lines = (await form(id, 'format=jsonl')).toString().trim().split('\n');
    expect(JSON.parse(lines[1] ?? '')).toEqual({
      row: 2,
      input: { note: 'b, "quoted" ü', email: 'P3@list.example' },
      match: {
        status: 'suppressed',
        by: 'email',
        reason: 'opted_out',
        conflict: false,
        credits: 1,
      },
      person: null,
    });
  });

  test('redacts a person who is imported again and then falls under an old opt-out', async () => {
    const id = await pipeline.enrich(caller, list, options);
    await suppress(pipeline.sql, 'other@list.example');
    expect(await csv(id)).toContain('1003');
    await importGraph(pipeline.sql, {
      persons: [{ id: 1003, email: 'p3@list.example', workEmail: 'other@list.example' }],
    });
    expect(await csv(id)).not.toContain('1003');
  });

  test('of a rerun treats the row as suppressed', async () => {
    const id = await pipeline.enrich(caller, list, options);
    await suppress(pipeline.sql, 'p3@list.example');
    const response = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"outcomes":["suppressed"]}',
    });
    expect(response.status).toBe(202);
    const again = ((await response.json()) as { id: string }).id;
    await pipeline.runUntilIdle();
    const lines = (await csv(again)).split('\n');
    expect(lines.map((line) => line.split(',')[0])).toEqual(['note', '"b', 'e', '']);
    expect(lines[2]).toBe('e,p3@list.example,no_match,email,not_found,,0,,,');
  });

  test('of companies keeps role and dates of a director, and the company', async () => {
    const numbers = 'registry_number\n01234567\nSC123456\n';
    const id = await pipeline.enrich(caller, numbers, { operation: 'companies.enrich' });
    const directors = async () => {
      const [first = ''] = (await form(id, 'format=jsonl')).toString().split('\n');
      return JSON.parse(first).company.directors as Record<string, unknown>[];
    };
    const before = await directors();
    // A cell of JSON is compact.
    expect(await csv(id)).toContain('[{""name"":""');
    await suppress(pipeline.sql, 'out@home.example');
    const after = await directors();
    const hidden = { name: null, person_id: null, matched_by: null };
    expect(after).toEqual(
      before.map((director) =>
        String(director.name).startsWith('OUT') ? { ...director, ...hidden } : director,
      ),
    );
    expect(after.filter(({ name }) => name === null)).toHaveLength(2);
    // Another officer of the same company, later.
    await suppress(pipeline.sql, 'eve@home.example');
    expect((await directors()).filter(({ name }) => name === null)).toHaveLength(3);
    await expectNothingLeft(id);
  });

  test.each(['people.enrich-with-company', 'people.mobile', 'people.email-verify'])(
    'of %s redacts the row',
    async (operation) => {
      const id = await pipeline.enrich(caller, 'email\nada@acme.example\n', { operation });
      expect(await csv(id)).toContain('matched');
      await suppress(pipeline.sql, 'ada@acme.example');
      const [header = '', row = ''] = (await csv(id)).split('\n');
      const added = header.split(',').length - 6;
      const credits = operation === 'people.mobile' ? 8 : 1;
      expect(row).toBe(
        `ada@acme.example,suppressed,email,opted_out,,${credits}${','.repeat(added)}`,
      );
    },
  );

  test('of a test batch redacts people who opted out of the test graph, and no others', async () => {
    const tester = await pipeline.keyOf(caller.accountId, 'test');
    await importGraph(pipeline.context.testSql, { persons: crowd(2) });
    const id = await pipeline.enrich(tester, 'email\np1@list.example\np2@list.example\n', options);
    await suppress(pipeline.sql, 'p1@list.example');
    expect((await pipeline.results(tester, id)).text).toContain('1001');
    await suppress(pipeline.context.testSql, 'p1@list.example');
    expect((await pipeline.results(tester, id)).text).not.toContain('1001');
    expect((await pipeline.results(tester, id)).text).toContain('1002');
  });
});

describe('a running batch', () => {
  test('that matched a person before the opt-out does not deliver the person after it', async () => {
    const id = await pipeline.upload(caller, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    pipeline.faults.put = async () => {
      delete pipeline.faults.put;
      await suppress(pipeline.sql, 'p3@list.example');
    };
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    const { text, complete } = await pipeline.results(caller, id);
    expect(complete).toBe('false');
    expect(text).not.toContain('1003');
    expect(text).toContain('suppressed,email,opted_out,,1,');
    await pipeline.runUntilIdle();
    expect(await csv(id)).toContain('e,p3@list.example,no_match,email,not_found,,0,');
  });
});

describe('the sweep', () => {
  test('rewrites results that are not downloaded, once', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const untouched = await pipeline.enrich(caller, 'email\np1@list.example\n', options);
    const before = await recordedOf(untouched);
    await suppress(pipeline.sql, 'p3@list.example');
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    await expectNothingLeft(id);
    for (const key of await recordedOf(id)) {
      const bytes = await pipeline.context.store.get(key, { from: 0, to: 10_000 });
      expect(bytes.toString()).not.toContain('1003');
    }
    expect(await recordedOf(untouched)).toEqual(before);
    const woken = () =>
      pipeline.queues.history.filter(({ name }) => name === 'redact-results').length;
    expect(woken()).toBe(2);
    await pipeline.sweep();
    expect(woken()).toBe(2);
  });

  test('skips batches whose files are deleted', async () => {
    const id = await pipeline.enrich(caller, list, options);
    await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });
    await suppress(pipeline.sql, 'p3@list.example');
    await pipeline.sweep();
    expect(pipeline.queues.history.filter(({ name }) => name === 'redact-results')).toEqual([]);
  });
});

describe('after a crash or a race', () => {
  const crash = () => Promise.reject(new AppError({ code: 'x', status: 503, message: 'crashed' }));

  test.each([1, 2])(
    'before put %i of a new part: the next check completes, and no debris is left',
    async (nth) => {
      const id = await pipeline.enrich(caller, list, options);
      await suppress(pipeline.sql, 'p3@list.example');
      let puts = 0;
      pipeline.faults.put = () => (++puts === nth ? crash() : Promise.resolve());
      await expect(check(id)).rejects.toThrow('crashed');
      delete pipeline.faults.put;
      expect(await csv(id)).not.toContain('1003');
      await pipeline.sql`update discarded_objects set since = since - interval '2 hours'`;
      await runHousekeeping(pipeline.context);
      await expectNothingLeft(id);
    },
  );

  test('between the new part and the commit: the old part stays in use until the next check', async () => {
    const id = await pipeline.enrich(caller, list, options);
    await suppress(pipeline.sql, 'p3@list.example');
    const written = new Signal();
    const never = new Promise<never>(() => {});
    const { store } = pipeline.context;
    let puts = 0;
    // Both new objects are stored, and the process hangs for ever.
    const stopped = {
      ...pipeline.context,
      store: {
        ...store,
        async put(key: string, bytes: Uint8Array[]) {
          const sum = await store.put(key, bytes);
          if (++puts < 2) return sum;
          written.raise();
          return never;
        },
      },
    };
    const batch = await findBatch(pipeline.sql, id);
    if (batch === undefined) throw new Error('no batch');
    void redactBatch(stopped, batch);
    await written.raised;
    const before = await recordedOf(id);
    expect((await partsOf(id)).length).toBe(8);
    expect(before.every((key) => /\/\d+-\d+-\d+\.csv$/.test(key))).toBe(true);
    expect(await csv(id)).not.toContain('1003');
    await runHousekeeping(pipeline.context);
    expect((await partsOf(id)).length).toBe(8);
    await pipeline.sql`update discarded_objects set since = since - interval '2 hours'`;
    await runHousekeeping(pipeline.context);
    await expectNothingLeft(id);
  });

  test('two concurrent rewrites leave one result', async () => {
    const id = await pipeline.enrich(caller, list, options);
    await suppress(pipeline.sql, 'p3@list.example');
    const frozen = new Signal();
    const thawed = new Signal();
    pipeline.faults.put = () => {
      delete pipeline.faults.put;
      frozen.raise();
      return thawed.raised;
    };
    const slow = check(id);
    await frozen.raised;
    expect(await check(id)).toBe(2);
    await suppress(pipeline.sql, 'p1@list.example');
    expect(await check(id)).toBe(1);
    const whole = await csv(id);
    const keys = await recordedOf(id);
    thawed.raise();
    expect(await slow).toBe(0);
    expect(await recordedOf(id)).toEqual(keys);
    expect(await csv(id)).toBe(whole);
    expect(whole).not.toMatch(/1001|1003/);
    await expectNothingLeft(id);
  });

  test('many concurrent downloads and rewrites all get the same complete result', async () => {
    const id = await pipeline.enrich(caller, list, options);
    await suppress(pipeline.sql, 'p3@list.example');
    const all = await Promise.all(
      // As many as an account may have at once in other forms.
      Array.from({ length: 8 }, (_, index) =>
        index % 2 === 0 ? form(id, 'format=jsonl') : form(id, 'format=csv-safe'),
      ),
    );
    expect(new Set(all.map(String)).size).toBe(2);
    expect(all.join('')).not.toContain('1003');
    await expectNothingLeft(id);
  });

  test('a download of rows continues when a part is replaced while it is read', async () => {
    const id = await pipeline.enrich(caller, list, options);
    let gets = 0;
    pipeline.faults.get = async () => {
      if (++gets !== 3) return;
      delete pipeline.faults.get;
      await suppress(pipeline.sql, 'p3@list.example');
      await check(id);
    };
    const lines = (await form(id, 'format=jsonl')).toString().trim().split('\n');
    expect(lines).toHaveLength(5);
    // The first part was read before the opt-out, the last one after it.
    expect(lines.filter((line) => line.includes('1003'))).toHaveLength(1);
    expect(await csv(id)).not.toContain('1003');
  });
});
