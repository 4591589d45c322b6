import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { deletePersons } from '../../core/graph/delete-persons.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../audit/audit.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2', BATCH_ROWS_MAX: '50' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(60) });
  caller = await pipeline.account(100_000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

/** The first ten of the crowd. */
const ten = 'id=1001-1010';
const tenIds = Array.from({ length: 10 }, (_, index) => 1001 + index);

const fileOf = (ids: readonly number[]) => `person.id\n${ids.map((id) => `${id}\n`).join('')}`;

/** Creates an export of ids and runs it as far as possible. */
async function run(owner: Caller, body: Record<string, unknown>): Promise<string> {
  const id = await pipeline.makeExport(owner, { fields: ['id'], ...body });
  await pipeline.runUntilIdle();
  return id;
}

describe('an export', () => {
  test('contains all matching people, in order, and charges one credit each', async () => {
    const owner = await pipeline.account(100);
    const id = await run(owner, { filter: ten });
    expect(await pipeline.exportOf(owner, id)).toMatchObject({
      state: 'completed',
      operation: 'people.search',
      filter: ten,
      estimated_credits: 10,
      rows: { total: 10, processed: 10, matched: 10 },
      credits: { charged: 10, reserved: 0 },
    });
    expect(await pipeline.people(owner, id)).toEqual({ text: fileOf(tenIds), complete: 'true' });
    expect(await pipeline.wallet(owner)).toEqual({ balance: 90, reserved: 0 });
    expect((await pipeline.charges(owner)).map(({ units }) => units)).toEqual([6, 4]);
  });

  test('has the chosen columns in the format of lists', async () => {
    const fields = ['id', 'name', 'summary', 'skills', 'mobile'];
    const id = await run(caller, { filter: 'id=1', fields });
    expect((await pipeline.people(caller, id)).text).toBe(
      'person.id,person.name,person.skills,person.summary,person.mobile\n' +
        '1,Ada,"Writing, ""quoting"", lists","Two\nlines; and, commas.",+447700900001\n',
    );
    const list = await pipeline.upload(caller, 'email\nada@home.example\n', {
      operation: 'people.enrich',
      fields: fields.join(','),
    });
    await pipeline.runUntilIdle();
    const { text } = await pipeline.results(caller, list);
    const [, exported] = (await pipeline.people(caller, id)).text.split('\n1,Ada,');
    expect(text.endsWith(`,1,Ada,${exported}`)).toBe(true);
  });

  test('downloads in the requested format and in any other', async () => {
    const body = { filter: ten, fields: ['id', 'email'], format: 'jsonl', gzip: true };
    const id = await run(caller, { ...body, max_results: 2 });
    const lines = [1, 2].map((n) => `{"id":${1000 + n},"email":"p${n}@list.example"}\n`).join('');
    const response = await pipeline.call(caller, `/v1/exports/${id}/results`);
    expect(response.headers.get('content-type')).toBe('application/gzip');
    expect(gunzipSync(Buffer.from(await response.arrayBuffer())).toString()).toBe(lines);
    const csv = await pipeline.people(caller, id, '?format=csv-safe&gzip=false');
    expect(csv.text).toBe('person.id,person.email\n1001,p1@list.example\n1002,p2@list.example\n');
  });

  test('does not lose a person whose only column is empty', async () => {
    const id = await run(caller, { filter: ten, fields: ['mobile'], max_results: 2 });
    expect((await pipeline.people(caller, id)).text).toBe('person.mobile\n""\n""\n');
    const { text } = await pipeline.people(caller, id, '?format=jsonl');
    expect(text).toBe('{"mobile":null}\n{"mobile":null}\n');
  });

  test('is the same file every time', async () => {
    const files = [];
    for (let times = 0; times < 3; times++) {
      const id = await run(caller, { filter: 'id=1-1040', fields: null });
      files.push((await pipeline.people(caller, id)).text);
    }
    expect(new Set(files).size).toBe(1);
    expect(files[0]?.split('\n').length).toBeGreaterThan(40);
  });

  test('stops at max_results and at max_credits', async () => {
    const few = await run(caller, { filter: ten, max_results: 5 });
    expect((await pipeline.people(caller, few)).text).toBe(fileOf(tenIds.slice(0, 5)));
    const cheap = await run(caller, { filter: ten, max_credits: 6 });
    expect((await pipeline.people(caller, cheap)).text).toBe(fileOf(tenIds.slice(0, 6)));
    expect(await pipeline.exportOf(caller, cheap)).toMatchObject({
      state: 'completed',
      rows: { total: 10, matched: 6, not_processed: 4 },
      credits: { charged: 6, max: 6 },
    });
  });

  test('at max_credits has the first people in its order, whichever chunk a worker would take first', async () => {
    const owner = await pipeline.account(100);
    const all = 'id=1001-1040';
    const firsts = Array.from({ length: 9 }, (_, index) => 1001 + index);
    const id = await pipeline.makeExport(owner, { fields: ['id'], filter: all, max_credits: 9 });
    await pipeline.queues.runNext(pipeline.context, 'write-ids');
    for (let last = pipeline.queues.waiting.at(-1); last; last = pipeline.queues.waiting.at(-1)) {
      await pipeline.queues.run(pipeline.context, last);
    }
    expect((await pipeline.people(owner, id)).text).toBe(fileOf(firsts));
    expect(await pipeline.exportOf(owner, id)).toMatchObject({
      state: 'completed',
      rows: { total: 40, processed: 40, matched: 9, not_processed: 31 },
      credits: { charged: 9, reserved: 0 },
    });
  });

  test('without matching people completes with only a header', async () => {
    const id = await run(caller, { filter: 'id=5000' });
    expect(await pipeline.exportOf(caller, id)).toMatchObject({
      state: 'completed',
      rows: { total: null, processed: 0, matched: 0 },
      credits: { charged: 0 },
    });
    expect(await pipeline.people(caller, id)).toEqual({ text: 'person.id\n', complete: 'true' });
  });

  test('of more people than the maximum fails before any charge', async () => {
    const id = await run(caller, { filter: 'id=1001-1060' });
    expect(await pipeline.exportOf(caller, id)).toMatchObject({
      state: 'failed',
      error: { code: 'too_many_results', status: 422 },
      credits: { charged: 0 },
    });
    expect((await pipeline.objects()).filter((key) => key.includes(id))).toEqual([]);
    const all = await run(caller, { filter: 'id=1001-1060', max_results: 50 });
    expect(await pipeline.exportOf(caller, all)).toMatchObject({ rows: { matched: 50 } });
  });

  test('that is held shows its price and charges nothing until it is started', async () => {
    // The crowd has addresses of only one kind.
    const id = await run(caller, { filter: 'email=*&workEmail=null', hold: true, max_results: 12 });
    expect(await pipeline.exportOf(caller, id)).toMatchObject({
      state: 'ready',
      total_is: 'about',
      estimated_credits: 10,
      rows: { total: 10 },
      credits: { charged: 0 },
    });
    const started = await pipeline.call(caller, `/v1/exports/${id}/start`, { method: 'POST' });
    expect(started.status).toBe(202);
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(caller, id)).toMatchObject({
      state: 'completed',
      total_is: 'exact',
      rows: { total: 12, matched: 12 },
      credits: { charged: 12 },
    });
  });

  test('of a test key reads the test graph and charges nothing', async () => {
    await importGraph(pipeline.context.testSql, { persons: [{ id: 9 }] });
    const tester = await pipeline.keyOf(caller.accountId, 'test');
    const before = await pipeline.wallet(caller);
    const id = await run(tester, { filter: 'id=1-2000' });
    expect((await pipeline.people(tester, id)).text).toBe(fileOf([9]));
    expect(await pipeline.exportOf(tester, id)).toMatchObject({
      live: false,
      estimated_credits: 0,
      credits: { charged: 0 },
    });
    expect(await pipeline.wallet(caller)).toEqual(before);
  });
});

describe('people who change while an export runs', () => {
  test('are left out uncharged when deleted or opted out; new people are not added', async () => {
    const owner = await pipeline.account(100);
    await importGraph(pipeline.sql, {
      persons: [2001, 2002, 2003, 2004, 2005, 2006].map((id) => ({
        id,
        email: `q${id}@list.example`,
      })),
    });
    const id = await pipeline.makeExport(owner, {
      filter: 'id=2001-2099',
      fields: ['id', 'email'],
    });
    await pipeline.queues.runNext(pipeline.context, 'write-ids');
    await deletePersons(pipeline.sql, [2002, 2005, 2006]);
    await suppress(pipeline.sql, 'q2003@list.example');
    await importGraph(pipeline.sql, {
      persons: [
        { id: 2004, email: 'new@list.example' },
        { id: 2050, email: 'q2050@list.example' },
      ],
    });
    await pipeline.runUntilIdle();
    expect((await pipeline.people(owner, id)).text).toBe(
      'person.id,person.email\n2001,q2001@list.example\n2004,new@list.example\n',
    );
    expect(await pipeline.exportOf(owner, id)).toMatchObject({
      state: 'completed',
      rows: { total: 6, processed: 6, matched: 2, no_match: 3, suppressed: 1 },
      credits: { charged: 2 },
    });
    const lines = (await pipeline.people(owner, id, '?format=jsonl')).text.trim().split('\n');
    expect(lines).toHaveLength(2);
  });
});

describe('people who opt out after an export was made', () => {
  test('are redacted from every download, in any format, and the others are unchanged', async () => {
    const owner = await pipeline.account(100);
    const people = Array.from({ length: 6 }, (_, n) => ({
      id: 4001 + n,
      email: `o${n + 1}@list.example`,
    }));
    await importGraph(pipeline.sql, { persons: people });
    await deletePersons(pipeline.sql, [4002]);
    const id = await pipeline.makeExport(owner, { filter: 'id=4001-4006', fields: ['id'] });
    await pipeline.queues.runNext(pipeline.context, 'write-ids');
    // A person without a line in the file comes before those with one.
    await deletePersons(pipeline.sql, [4001]);
    await pipeline.runUntilIdle();
    expect((await pipeline.people(owner, id)).text).toBe(fileOf([4003, 4004, 4005, 4006]));
    await suppress(pipeline.sql, 'o4@list.example');
    expect((await pipeline.people(owner, id)).text).toBe(fileOf([4003, 4005, 4006]));
    await suppress(pipeline.sql, 'o5@list.example');
    await suppress(pipeline.sql, 'o6@list.example');
    expect((await pipeline.people(owner, id)).text).toBe(fileOf([4003]));
    const { text } = await pipeline.people(owner, id, '?format=jsonl');
    expect(text).toBe('{"id":4003}\n');
    await suppress(pipeline.sql, 'o3@list.example');
    expect((await pipeline.people(owner, id)).text).toBe('person.id\n');
    // What was delivered stays paid.
    expect(await pipeline.exportOf(owner, id)).toMatchObject({ credits: { charged: 4 } });
  });
});

describe('a person on the account’s do-not-contact list', () => {
  test('is in no export, even when added after the ids were written', async () => {
    const owner = await pipeline.account(100);
    const keepAway = (email: string) => pipeline.sql`
      insert into do_not_contact (account_id, live, email_sha256)
      values (${owner.accountId}, true, sha256(convert_to(${email}, 'UTF8')))`;
    await keepAway('p1@list.example');
    const id = await pipeline.makeExport(owner, { filter: ten, fields: ['id'] });
    await pipeline.queues.runNext(pipeline.context, 'write-ids');
    await keepAway('p7@list.example');
    await pipeline.runUntilIdle();
    const left = tenIds.filter((person) => person !== 1001 && person !== 1007);
    expect((await pipeline.people(owner, id)).text).toBe(fileOf(left));
    expect(await pipeline.exportOf(owner, id)).toMatchObject({
      rows: { total: 9, matched: 8, suppressed: 1 },
      credits: { charged: 8 },
    });
  });
});

describe('a wallet that is too small', () => {
  test('pauses an export, whose finished rows can be read, and a grant resumes it', async () => {
    const owner = await pipeline.account(6);
    const id = await run(owner, { filter: ten });
    expect(await pipeline.exportOf(owner, id)).toMatchObject({
      state: 'paused',
      reason: 'insufficient_credits',
      rows: { processed: 6 },
      credits: { charged: 6, reserved: 0 },
    });
    expect(await pipeline.people(owner, id)).toEqual({
      text: fileOf(tenIds.slice(0, 6)),
      complete: 'false',
    });
    await pipeline.grant(owner, 100, `more-${id}`);
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(owner, id)).toMatchObject({
      state: 'completed',
      credits: { charged: 10 },
    });
    expect((await pipeline.people(owner, id)).text).toBe(fileOf(tenIds));
  });
});

describe('a caller', () => {
  test('cancels an export: nothing is charged after the response', async () => {
    const owner = await pipeline.account(100);
    const id = await pipeline.makeExport(owner, { filter: ten, fields: ['id'] });
    await pipeline.queues.runNext(pipeline.context, 'write-ids');
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    const answer = await pipeline.call(owner, `/v1/exports/${id}/cancel`, { method: 'POST' });
    expect(answer.status).toBe(202);
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(owner, id)).toMatchObject({
      state: 'cancelled',
      rows: { total: 10, matched: 6, not_processed: 4 },
      credits: { charged: 6 },
    });
    expect(await pipeline.people(owner, id)).toEqual({
      text: fileOf(tenIds.slice(0, 6)),
      complete: 'true',
    });
    const again = await pipeline.call(owner, `/v1/exports/${id}/cancel`, { method: 'POST' });
    await expectProblem(again, { status: 409, code: 'invalid_state' });
  });

  test('deletes the file: 410 afterwards, and the counts stay', async () => {
    const id = await run(caller, { filter: ten });
    const deleted = await pipeline.call(caller, `/v1/exports/${id}`, { method: 'DELETE' });
    expect(deleted.status).toBe(204);
    const results = await pipeline.call(caller, `/v1/exports/${id}/results`);
    await expectProblem(results, { status: 410, code: 'files_expired' });
    expect(await pipeline.exportOf(caller, id)).toMatchObject({ rows: { matched: 10 } });
    expect((await pipeline.objects()).filter((key) => key.includes(id))).toEqual([]);
  });

  test('finds exports only as exports and lists only as lists; other accounts find neither', async () => {
    const owner = await pipeline.account(100);
    const exportId = await run(owner, { filter: ten });
    const listId = await pipeline.enrich(owner, 'email\np1@list.example\n', {
      operation: 'people.enrich',
    });
    const idsOf = async (path: string) => {
      const page = (await (await pipeline.call(owner, path)).json()) as { data: { id: string }[] };
      return page.data.map(({ id }) => id);
    };
    expect(await idsOf('/v1/exports')).toEqual([exportId]);
    expect(await idsOf('/v1/batches')).toEqual([listId]);
    const other = await pipeline.account(1);
    const tester = await pipeline.keyOf(owner.accountId, 'test');
    const ways: [Caller, string][] = [
      [owner, `/v1/exports/${listId}`],
      [owner, `/v1/batches/${exportId}`],
      ...[other, tester].flatMap((who): [Caller, string][] => [
        [who, `/v1/exports/${exportId}`],
        [who, `/v1/exports/${exportId}/results`],
        [who, `/v1/exports/${exportId}/report`],
        [who, `/v1/exports/${exportId}/events`],
      ]),
    ];
    for (const [who, path] of ways) {
      await expectProblem(await pipeline.call(who, path), { status: 404, code: 'not_found' });
    }
    for (const action of ['start', 'pause', 'resume', 'cancel']) {
      const path = `/v1/exports/${exportId}/${action}`;
      const refused = await pipeline.call(other, path, { method: 'POST' });
      await expectProblem(refused, { status: 404, code: 'not_found' });
    }
  });

  test('gets one export for the same Idempotency-Key', async () => {
    const make = () =>
      pipeline.call(caller, '/v1/exports', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' },
        body: JSON.stringify({ filter: ten, fields: ['id'] }),
      });
    const first = (await (await make()).json()) as { id: string };
    const second = await make();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await second.json()).toMatchObject({ id: first.id });
    await pipeline.runUntilIdle();
  });

  test.each([
    [{}, 'filter'],
    [{ filter: '' }, 'filter'],
    [{ filter: 'nothing=1' }, 'nothing'],
    [{ filter: 'id=x' }, 'id'],
    [{ filter: ten, fields: ['nothing'] }, 'fields'],
    [{ filter: ten, max_results: 51 }, 'max_results'],
    [{ filter: ten, format: 'pdf' }, 'format'],
    [{ filter: ten, limit: 3 }, 'limit'],
  ])('gets an error that names the field of %j', async (body, field) => {
    const answer = await pipeline.call(caller, '/v1/exports', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain(field);
  });
});
