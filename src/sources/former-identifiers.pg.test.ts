/** Opt-outs of people who left the graph, by what they were found by: results that were made before still have them. */
import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { suppress, suppressHashes } from '../core/suppression/suppress.ts';
import { erasePerson } from '../jobs/erasure/erase-person.ts';
import { showPerson } from '../jobs/erasure/show-person.ts';
import { runHousekeeping } from '../jobs/housekeeping/run-housekeeping.ts';

const email = 'ada@home.example';
const further = 'ada.further@home.example';
const phone = '+442079460002';
const profile = 'ada-lark-home';
const ada = { name: 'Ada', surname: 'Lark', email, otherEmails: [further], phone };
const people = {
  ada: { ...ada, professional_network: profile },
  bo: { name: 'Bo', surname: 'Finch', email: 'bo@home.example' },
};

let pipeline: Pipeline;
let by: Caller;
let imported: number;
let list: string;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
  imported = await importSnapshot('ada', 'bo');
  expect((await call()).status).toBe(200);
  list = await pipeline.enrich(by, `email\n${email}\n`, { operation: 'people.enrich' });
  await pipeline.runUntilIdle();
});
afterEach(() => pipeline.close());

/** Imports a file that has these people, and says that there are no others. */
async function importSnapshot(...keys: (keyof typeof people)[]): Promise<number> {
  const row = (key: keyof typeof people, line: number): SourceRow => {
    return { line, records: [{ entity: 'person', key, record: people[key] }] };
  };
  const input = {
    source: 'crm',
    files: ['all.csv'],
    asOf: '2026-01-02',
    snapshotOf: [''],
    rows: async function* () {
      yield keys.map(row);
    },
    sha256: () => Buffer.from(keys.join()),
  };
  const rejects = new PassThrough().resume();
  return must((await importSource(pipeline.sql, input, { rejects })).import_id, 'import');
}

const call = () =>
  pipeline.call(by, `/v1/people/enrich?email=${email}`, { headers: { 'Idempotency-Key': 'k' } });
const isShown = async () => (await pipeline.results(by, list)).text.includes(phone);
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const hashOf = (text: string) => sha256(text).toString('hex');
const former = () => pipeline.sql`select person_id from former_identifiers`;

describe.each([
  ['an undone import', () => undoImport(pipeline.sql, imported)],
  ['a snapshot without them', () => importSnapshot('bo')],
])('a person who left the graph by %s', (_how, leave) => {
  it.each([
    ['email', () => suppress(pipeline.sql, email)],
    ['further email that only the source had', () => suppress(pipeline.sql, further)],
    ['phone', () => suppress(pipeline.sql, phone)],
    ['profile', () => suppress(pipeline.sql, `https://www.linkedin.com/in/${profile}`)],
    ['hash of their phone', () => suppressHashes(pipeline.sql, [hashOf(phone)])],
    ['hash of a further email', () => suppressHashes(pipeline.sql, [hashOf(further)])],
  ])('is hidden in stored results and replays after an opt-out by %s', async (_by, optOut) => {
    await leave();
    expect([await isShown(), (await call()).status]).toEqual([true, 200]);
    expect(await optOut()).toMatchObject({ persons: 1 });
    expect([await isShown(), (await call()).status]).toEqual([false, 404]);
  });

  it('is shown and erased by an identifier, with what sources said', async () => {
    await leave();
    const shown = await showPerson(pipeline.context, { identifier: phone });
    expect(shown).toMatchObject({ people: [{ results: [{ rows: [1] }] }] });
    const erasure = await erasePerson(pipeline.context, { identifier: phone });
    expect(erasure).toMatchObject({ parts_rewritten: 1, answers_cleared: 1, left: [] });
    expect([await isShown(), (await call()).status]).toEqual([false, 404]);
    const [left] = await pipeline.sql`
      select count(*)::int as rows from former_identifiers where value_sha256 = ${sha256(phone)}`;
    expect(left).toEqual({ rows: 0 });
    const [texts] = await pipeline.sql`
      select coalesce(string_agg(v::text, ''), '') as said from source_record_versions v`;
    expect(texts?.said).not.toContain(phone);
  });
});

describe('former identifiers', () => {
  it('are hashes, and are kept as long as a result of before is', async () => {
    await undoImport(pipeline.sql, imported);
    await pipeline.sql`update former_identifiers set left_at = left_at + interval '1 hour'`;
    await runHousekeeping(pipeline.context);
    expect(await former()).not.toEqual([]);
    const [stored] =
      await pipeline.sql`select string_agg(f::text, '') as text from former_identifiers f`;
    expect(stored?.text).not.toMatch(/ada|2079460002/i);
    await pipeline.sql`update former_identifiers set left_at = now() - interval '3 days'`;
    await pipeline.sql`update batches set created_at = now() - interval '4 days'`;
    await runHousekeeping(pipeline.context);
    expect(await former()).not.toEqual([]);
    await pipeline.sql`update batches set created_at = now() - interval '1 day'`;
    await runHousekeeping(pipeline.context);
    expect(await former()).toEqual([]);
  });

  it('go with the files of the last result', async () => {
    await undoImport(pipeline.sql, imported);
    await pipeline.sql`update former_identifiers set left_at = now() - interval '3 days'`;
    await pipeline.sql`update batches set created_at = now() - interval '9 days', finished_at = now() - interval '9 years'`;
    await runHousekeeping(pipeline.context);
    expect(await former()).toEqual([]);
  });

  it('of a person who opted out are deleted', async () => {
    await undoImport(pipeline.sql, imported);
    await suppress(pipeline.sql, email);
    expect(await former()).not.toEqual([]);
    await runHousekeeping(pipeline.context);
    expect(await former()).toHaveLength(1);
  });

  it('do not reach a person who is in the graph again with other ones', async () => {
    await undoImport(pipeline.sql, imported);
    people.ada = { ...people.ada, email: 'ada@new.example', otherEmails: [] };
    await importSnapshot('ada', 'bo');
    people.ada = { ...ada, professional_network: profile };
    expect(await suppress(pipeline.sql, email)).toEqual({ persons: 0 });
    expect((await pipeline.call(by, '/v1/people/enrich?email=ada@new.example')).status).toBe(200);
  });
});
