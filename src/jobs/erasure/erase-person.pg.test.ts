/** Erasure removes a person from everything, proves it, and keeps the person suppressed. */
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createFilledTemplate, type FilledTemplate } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { ada, crowd, eve, smallGraph } from '../../../tests/support/small-graph.ts';
import { buildCopy } from '../../core/graph-copy/build-copy.ts';
import { readGraphState } from '../../core/graph-copy/copy.sql.ts';
import { deleteHalfBuilds } from '../../core/graph-copy/copy-folder.ts';
import { readManifestText } from '../../core/graph-copy/manifest.ts';
import { publishCopy } from '../../core/graph-copy/publish-copy.ts';
import { claimPublishing, readNamed, readPublished } from '../../core/graph-copy/published.sql.ts';
import { PUBLISHED_PREFIX } from '../../core/graph-copy/published-objects.ts';
import type { CopyReport } from '../../core/graph-copy/report-copy.ts';
import { must } from '../../core/lib/assert.ts';
import { type PersonIdentifier, suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../audit/audit.ts';
import { insertBeat } from '../monitor/monitor.sql.ts';
import { auditErasure, type ErasureAudit } from './audit-erasure.ts';
import { erasePerson } from './erase-person.ts';
import { readLastChange } from './erasure.sql.ts';
import { showPerson } from './show-person.ts';

let template: FilledTemplate;
let pipeline: Pipeline;
let caller: Caller;
const pipelines: Pipeline[] = [];
beforeAll(async () => {
  template = await createFilledTemplate(async (sql) => {
    await importGraph(sql, smallGraph);
    await importGraph(sql, { persons: crowd(3) });
  });
});
beforeEach(async () => {
  const options = { CHUNK_ROWS: '2' };
  pipeline = await openPipeline(options, undefined, undefined, await template.copy());
  pipelines.push(pipeline);
  caller = await pipeline.account(1000);
});
afterAll(async () => {
  await Promise.all(pipelines.map((one) => one.close()));
  await template.drop();
});

const list = 'email\np1@list.example\nada@home.example\np2@list.example\nada@acme.example\n';
/** Audits as of now. */
const auditNow = async (ids: number[], identifiers: PersonIdentifier[]) =>
  auditErasure(pipeline.context, ids, identifiers, await readLastChange(pipeline.sql));
const personOptions = { operation: 'people.enrich' };
const adaCall = '/v1/people/enrich?email=ada%40acme.example';
const acmeCall = '/v1/companies/enrich?registry_number=01234567';
const get = (path: string, key?: string) =>
  pipeline.call(caller, path, key === undefined ? {} : { headers: { 'Idempotency-Key': key } });
const adaValues = /ada@home|ada@acme|1632960001|7700900001|ada-lovely|LOVELY/;

describe('show', () => {
  test('returns everything stored: record, identifiers, officers, results, kept responses', async () => {
    const id = await pipeline.enrich(caller, list, personOptions);
    const company = await pipeline.enrich(caller, 'registry_number\n01234567\n', {
      operation: 'companies.enrich',
    });
    await get(adaCall, 'a');
    await get(acmeCall, 'b');
    const shown = await showPerson(pipeline.context, { identifier: 'Ada@ACME.example' });
    expect(shown).toMatchObject({
      identifier: { kind: 'email', value: 'ada@acme.example' },
      opted_out: false,
      people: [
        {
          id: 1,
          suppressed_at: null,
          record: { id: 1, surname: 'Lovely', email: ada.email, mobile: ada.mobile },
          idempotent_answers: 2,
        },
      ],
    });
    const [person] = shown.people;
    expect(person?.identifiers).toContainEqual({ kind: 'twitter', value: 'ada', shared: false });
    expect(person?.officers.map(({ role }) => role)).toContain('director');
    const results = person?.results.map(({ batch_id, rows }) => [batch_id, rows]) ?? [];
    expect(results).toHaveLength(3);
    expect(results).toEqual(
      expect.arrayContaining([
        [id, [2]],
        [id, [2]],
        [company, [1]],
      ]),
    );
    expect(await showPerson(pipeline.context, { id: 99 })).toMatchObject({
      people: [{ id: 99, record: null, identifiers: [], results: [] }],
    });
  });

  test('returns a person whatever texts customers send', async () => {
    const made = await pipeline.call(caller, '/v1/schedules', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'c' },
      body: String.raw`{"name": "A\ud800", "filter": "gender=2", "cron": "30 2 * * *"}`,
    });
    expect(made.status).toBe(201);
    await get(adaCall, 'a');
    const { people } = await showPerson(pipeline.context, { identifier: 'ada@acme.example' });
    expect(people).toMatchObject([{ id: 1, idempotent_answers: 1 }]);
    const erased = await erasePerson(pipeline.context, { identifier: 'ada@acme.example' });
    expect(erased).toMatchObject({ erased: 1, answers_cleared: 1 });
  });

  test('of a shared phone returns every holder', async () => {
    const { people } = await showPerson(pipeline.context, { identifier: eve.phone });
    expect(people.map(({ id }) => id)).toEqual([3, 4]);
  });
});

describe('erase', () => {
  test('deletes what a killed process left of a write, and reports one that may still be made', async () => {
    const { store } = pipeline.context;
    const unfinished = async (key: string, hoursAgo: number) => {
      const born = (Date.now() - hoursAgo * 3_600_000).toString(16).padStart(12, '0');
      const id = `${born.slice(0, 8)}-${born.slice(8)}${crypto.randomUUID().slice(13)}`;
      const file = `${key}.${id}.tmp`;
      await store.put(file, [Buffer.from(`${ada.email},matched`)]);
      return file;
    };
    const batch = `batches/${crypto.randomUUID()}`;
    const dead = [
      await unfinished(`${batch}/parts/1-0-1.csv`, 1.1),
      await unfinished(`${batch}/upload`, 24.1),
    ];
    const young = await unfinished(`${batch}/parts/2-0-1.csv`, 0.9);
    const coming = await unfinished(`${batch}/upload`, 23);
    const { left } = await erasePerson(pipeline.context, { identifier: ada.email });
    expect(left.map(({ where }) => where)).toEqual([young]);
    for (const file of dead) expect(await store.head(file)).toBeNull();
    for (const file of [young, coming]) expect(await store.head(file)).not.toBeNull();
  });

  test('leaves nothing in tables, results and kept responses, and reports customers’ own text', async () => {
    const id = await pipeline.enrich(caller, list, personOptions);
    const once = await pipeline.enrich(caller, list, { ...personOptions, dedupe: 'true' });
    const answered = () =>
      pipeline.sql`select from batch_records where batch_id = ${once} and record_id = 1`;
    expect(await answered()).toHaveLength(1);
    const company = await pipeline.enrich(caller, 'registry_number\n01234567\n', {
      operation: 'companies.enrich',
    });
    await get(adaCall, 'a');
    await get(acmeCall, 'b');
    const before = await auditNow([1], [{ kind: 'email', value: ada.email }]);
    expect(before.left.map(({ where }) => where.replace(/^batches.*(csv)$/, '$1'))).toEqual(
      expect.arrayContaining([
        'graph.persons',
        'graph.person_records',
        'graph.person_identifiers',
        'public.idempotency_keys',
        'csv',
      ]),
    );

    const erasure = await erasePerson(pipeline.context, { identifier: ada.email });
    expect(erasure).toMatchObject({ erased: 1, parts_rewritten: 5, answers_cleared: 2, left: [] });
    expect(await answered()).toHaveLength(0);
    expect(erasure.swept.tables).toBeGreaterThan(30);
    expect(erasure.swept.objects).toBe((await pipeline.objects()).length);
    expect(erasure.swept.bytes).toBeGreaterThan(1000);
    const uploads = erasure.customer_uploads.map(({ where }) => where);
    expect(uploads).toContain(`batches/${id}/upload`);

    const { text } = await pipeline.results(caller, id);
    const lines = text.split('\n');
    expect(lines[2]).toMatch(/^ada@home.example,suppressed,email,opted_out,,1,+$/);
    expect(lines[1]).toContain('p1@list.example,matched');
    const [, acme = ''] = (await pipeline.results(caller, company)).text.split('\n');
    expect(acme).not.toMatch(adaValues);
    expect(acme).toContain('Acme Widgets Ltd');

    // The same as for an unknown person: an opt-out is not disclosed to customers.
    for (const key of ['a', undefined]) expect((await get(adaCall, key)).status).toBe(404);
    const replayed = await get(acmeCall, 'b');
    expect([replayed.status, replayed.headers.get('x-credits-charged')]).toEqual([200, '0']);
    expect(await replayed.text()).not.toMatch(adaValues);
    expect((await audit(pipeline.sql)).ok).toBe(true);
  });

  test('is done although objects of other lists are damaged, and reports what may name the person', async () => {
    const { store } = pipeline.context;
    const damaged = await pipeline.enrich(caller, list, personOptions);
    const harmless = await pipeline.enrich(caller, 'email\np1@list.example\n', personOptions);
    const sound = await pipeline.enrich(caller, list, personOptions);
    const keys = await pipeline.objects();
    const [index = ''] = keys.filter((key) => key.includes(damaged) && key.endsWith('.ids'));
    const [part = ''] = keys.filter((key) => key.includes(harmless) && key.endsWith('.csv'));
    for (const key of [index, part]) await store.put(key, [Buffer.from('damaged')]);
    const erased = await erasePerson(pipeline.context, { identifier: ada.email });
    expect(erased.erased).toBe(1);
    expect(erased.left.map(({ where }) => where)).toContain(index.replace(/\.ids$/, ''));
    expect(erased.left.every(({ where }) => where.includes(damaged))).toBe(true);
    expect((await pipeline.results(caller, sound)).text).not.toMatch(/Lovely/);
  });

  test.each(['erased', 'opted out'])(
    'leaves no place in an order of names, and a replay has none of who was %s',
    async (how) => {
      const page = (key?: string) =>
        get('/personsearch/?surname=Lovely&sort=surname&skip=0&limit=1', key);
      await importGraph(pipeline.sql, { persons: [{ id: 903, name: 'Bea', surname: 'Lovely' }] });
      const before = (await page('p')).headers.get('link') ?? '';
      expect(await pipeline.sql`select from page_hints where last_key = 'lovely'`).toHaveLength(1);
      if (how === 'erased') await erasePerson(pipeline.context, { id: 1 });
      else await suppress(pipeline.sql, ada.email);
      const replay = await page('p');
      expect([replay.status, await replay.json()]).toEqual([200, []]);
      const next = /<([^>]+)>/.exec(replay.headers.get('link') ?? '')?.[1] ?? '';
      expect(before).not.toContain(`<${next}>`);
      const refused = await expectProblem(await get(next), {
        status: 400,
        code: 'invalid_parameter',
      });
      expect(refused.detail).toContain('no longer served');
      if (how === 'opted out') return;
      const [kept] = await pipeline.sql<{ next: string; answer: string }[]>`
        select body ->> 'next' as next, body ->> 'answer' as answer from idempotency_keys where key = 'p'`;
      expect(kept?.answer).toBe('{}');
      const name = Buffer.from('lovely').toString('base64url');
      expect(Buffer.from(kept?.next ?? '', 'base64url').toString()).not.toContain(name);
      expect(await pipeline.sql`select from page_hints`).toHaveLength(0);
    },
  );

  test('and a later import under another id stays suppressed', async () => {
    await erasePerson(pipeline.context, { identifier: ada.email });
    await importGraph(pipeline.sql, {
      persons: [
        { ...ada, id: 900, email: '', workEmail: '', twitter: '', professional_network: '' },
      ],
    });
    const mobile = encodeURIComponent(ada.mobile);
    expect((await get(`/v1/people/enrich?phone=${mobile}`)).status).toBe(404);
    expect(await showPerson(pipeline.context, { identifier: ada.mobile })).toMatchObject({
      opted_out: true,
      people: [{ id: 900 }],
    });
  });

  test('of a person who shares a switchboard spares the others, now and later', async () => {
    await expect(erasePerson(pipeline.context, { identifier: eve.phone })).rejects.toMatchObject({
      code: 'ambiguous_match',
      message: expect.stringContaining('3, 4'),
    });
    expect(await erasePerson(pipeline.context, { id: 4 })).toMatchObject({ erased: 1, left: [] });
    await importGraph(pipeline.sql, { persons: [{ id: 901, phone: eve.phone }] });
    expect((await showPerson(pipeline.context, { id: 901 })).people[0]?.suppressed_at).toBeNull();
    const bob = await get('/v1/people/enrich?email=bob.brown%40home.example');
    expect(bob.status).toBe(200);
  });

  test('of a person who was never stored records the opt-out', async () => {
    const erasure = await erasePerson(pipeline.context, { identifier: 'new@home.example' });
    expect(erasure).toMatchObject({ erased: 0, left: [] });
    await importGraph(pipeline.sql, { persons: [{ id: 902, email: 'new@home.example' }] });
    expect((await get('/v1/people/enrich?email=new%40home.example')).status).toBe(404);
  });

  test('of an id that no one had, as that of another database, is refused', async () => {
    const asked = erasePerson(pipeline.context, { id: 4711 });
    await expect(asked).rejects.toMatchObject({ code: 'not_found', status: 404 });
  });

  test('a second time finds nothing and still searches', async () => {
    await pipeline.enrich(caller, list, personOptions);
    await erasePerson(pipeline.context, { identifier: ada.email });
    const again = await erasePerson(pipeline.context, { id: 1 });
    expect(again).toMatchObject({ erased: 0, parts_rewritten: 0, left: [] });
  });
});

describe('a local copy of the graph', () => {
  const report = {
    ...{ copy: {}, reached: null, graph_number: 1_000_000, building: false },
    rows: { copy: 0, postgres: 0 },
  };
  /** The report of a process on another machine; none of one that knows no copies. */
  const beat = (id: number, change: object | null, kind: 'api' | 'worker' = 'worker') =>
    insertBeat(pipeline.sql, {
      id: `01900000-0000-7000-8000-00000000000${id}`,
      kind,
      host: `machine-${id}`,
      version: '1.0.0',
      startedAt: new Date(),
      leasesReclaimed: 0,
      localCopy: change && ({ ...report, ...change } as unknown as CopyReport),
    });

  /** Five files for people and for companies, and the manifest. */
  const COPIED_FILES = 11;

  test('loses the person and stays, and the audit reads what is left', async () => {
    const { folder } = pipeline.context.localCopy;
    await buildCopy(pipeline.sql, { folder });
    const before = await auditNow(
      [],
      [
        { kind: 'email', value: ada.email },
        { kind: 'twitter', value: 'ada' },
      ],
    );
    const blocks = before.left.filter(({ where }) => where.endsWith('people.blocks'));
    expect(blocks.map(({ found }) => found.sort())).toEqual([['email', 'twitter']]);
    expect(before.swept.copied_files).toBe(COPIED_FILES);

    // What a killed build left.
    const half = path.join(folder, 'build-half');
    await cp(path.dirname(blocks[0]?.where ?? ''), half, { recursive: true });
    const erasure = await erasePerson(pipeline.context, { id: 1 });
    const files = erasure.left.map(({ where }) => where);
    expect(files).toContain(path.join(half, 'people.blocks'));
    expect(files.filter((file) => !file.startsWith(half))).toEqual([]);
    await deleteHalfBuilds(pipeline.sql, folder);
    const again = await erasePerson(pipeline.context, { identifier: ada.email });
    expect(again).toMatchObject({ left: [], swept: { copied_files: COPIED_FILES } });
    expect(await pipeline.context.localCopy.read(pipeline.sql, async () => 'read')).toBe('read');
  });

  test('that is published, or being published, goes with the person, and the audit reads what is left', async () => {
    const { sql, context } = pipeline;
    const { folder } = context.localCopy;
    await buildCopy(sql, { folder });
    const text = must(await readManifestText(folder), 'a copy');
    const { number } = await readLastChange(sql);
    await publishCopy(context, { folder, text, wipedTo: number, replaces: null });
    const published = ({ left }: ErasureAudit) =>
      left.filter(({ where }) => where.startsWith(PUBLISHED_PREFIX));
    expect(published(await auditNow([], [{ kind: 'email', value: ada.email }]))).toHaveLength(2);
    // Another worker has begun with the next one, and written an object.
    const { id: replaces } = must(await readPublished(sql), 'a published copy');
    const state = { ...(await readGraphState(sql)), wipedTo: number, replaces };
    const { id } = must(await claimPublishing(sql, state), 'a lease');
    const half = `${PUBLISHED_PREFIX}${id}/${'0'.repeat(64)}`;
    await context.store.put(half, [Buffer.from(`ask ${ada.email}`)]);
    expect(await erasePerson(context, { id: 1 })).toMatchObject({ erased: 1, left: [] });
    expect(await context.store.head(half)).toBeNull();
    expect(await readNamed(sql)).toEqual({ pieces: [], written: [] });
    // One that was published without the person stays.
    const after = must(await readManifestText(folder), 'a copy');
    const { number: wipedTo } = await readLastChange(sql);
    await publishCopy(context, { folder, text: after, wipedTo, replaces: null });
    expect(await erasePerson(context, { identifier: ada.email })).toMatchObject({ left: [] });
    expect((await readNamed(sql)).pieces).not.toEqual([]);
  });

  test('of another machine is left until its processes have followed, or build no longer', async () => {
    await beat(1, { reached: 0 });
    await beat(2, { building: true });
    await beat(3, { reached: 1_000_000 });
    await beat(4, { copy: null });
    await beat(5, { reached: 0 }, 'api');
    await beat(6, null, 'api');
    const { left } = await erasePerson(pipeline.context, { id: 1 }, 0);
    expect(left.map(({ where }) => where)).toEqual([
      'local copy on machine-1',
      'local copy on machine-2',
      'local copy on machine-5',
    ]);
    const waiting = erasePerson(pipeline.context, { id: 1 });
    await beat(1, { copy: null });
    await beat(2, { reached: 1_000_000 });
    await beat(5, { reached: 1_000_000 }, 'api');
    expect(await waiting).toMatchObject({ left: [] });
    // A worker that is gone says nothing any more; its machine's copy is dropped by the next one.
    await beat(1, { reached: 0 });
    await pipeline.sql`update processes set seen_at = now() - interval '16 seconds'`;
    expect(await erasePerson(pipeline.context, { id: 1 }, 0)).toMatchObject({ left: [] });
  });

  test('of another machine is left until its worker has reported after the deletion', async () => {
    // It may have begun a build after this report, and before the deletion.
    const { number } = await readLastChange(pipeline.sql);
    await beat(1, { copy: null, graph_number: number });
    const { left } = await erasePerson(pipeline.context, { id: 1 }, 0);
    expect(left.map(({ where }) => where)).toEqual(['local copy on machine-1']);
    const waiting = erasePerson(pipeline.context, { id: 1 });
    const after = await readLastChange(pipeline.sql);
    await beat(1, { copy: null, graph_number: after.number });
    expect(await waiting).toMatchObject({ left: [] });
  });
});
