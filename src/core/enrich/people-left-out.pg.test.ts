/** A value that people share with one who opted out is answered as if that person were not stored. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { audit } from '../../jobs/audit/audit.ts';
import { buildCopy } from '../graph-copy/build-copy.ts';
import { copyFolder } from '../graph-copy/manifest.ts';
import { suppress } from '../suppression/suppress.ts';

const hall = '+441632960881';
const desk = '+441632960882';
const stairs = '+441632960883';
const persons = [
  { id: 1, name: 'Sue', email: 'sue@list.example', phone: hall },
  { id: 2, name: 'Tim', email: 'tim@list.example', phone: hall },
  { id: 3, name: 'Uma', email: 'uma@list.example', phone: desk },
  { id: 4, name: 'Vic', email: 'vic@list.example', phone: desk },
  { id: 5, name: 'Wim', email: 'wim@list.example', phone: stairs },
  { id: 6, name: 'Xia', email: 'xia@list.example', phone: stairs },
  { id: 7, name: 'Yan', email: 'yan@list.example', phone: stairs },
];

let pipeline: Pipeline;
let by: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons });
  by = await pipeline.unmeteredAccount(100);
  // A person, everyone who has a number, and one of three.
  for (const optOut of ['sue@list.example', desk, 'wim@list.example']) {
    await suppress(pipeline.sql, optOut);
  }
});
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});
afterAll(() => pipeline.close());

const rows = [
  [hall, ''],
  [desk, ''],
  [stairs, ''],
  [hall, 'nobody@list.example'],
  [desk, 'tim@list.example'],
  ['', 'sue@list.example'],
  [stairs, 'tim@list.example'],
];
const list = `phone,email\n${rows.map((row) => row.join(',')).join('\n')}\n`;
const expected = [
  'matched,phone,,false,1,2',
  'no_match,phone,not_found,,0,',
  'ambiguous,phone,shared_by_2_records,,0,',
  'matched,phone,,false,1,2',
  'matched,email,,false,1,2',
  'no_match,email,not_found,,0,',
  'matched,email,,true,1,2',
];

test.each(['Postgres', 'a copy'])('in a list from %s', async (from) => {
  const folder = copyFolder(pipeline.context.config.dataDir);
  if (from === 'a copy') await buildCopy(pipeline.sql, { folder });
  const id = await pipeline.enrich(by, list, { operation: 'people.enrich', fields: 'id' });
  const { text } = await pipeline.results(by, id);
  const added = text.trim().split('\n').slice(1);
  expect(added.map((row) => row.split(',').slice(2).join(','))).toEqual(expected);
});

test.each([
  [hall, 200, { data: { id: 2 } }],
  [desk, 404, { code: 'no_match' }],
  [stairs, 409, { code: 'ambiguous_match', candidates: 2 }],
])('in a call for %s', async (phone, status, body) => {
  const query = new URLSearchParams({ phone });
  const response = await pipeline.call(by, `/v1/people/enrich?${query}`);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject(body);
});
