/** Erasures of people whose records an import has joined, or an undo has parted, and who are not built yet. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { noRejects, rowsOf, sourceInput } from '../../tests/support/source-input.ts';
import type { JsonRecord } from '../core/graph/import/read-records.ts';
import { finishImport, importSource } from '../core/graph/sources/import-source.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { erasePerson } from '../jobs/erasure/erase-person.ts';
import { withoutBuild } from './import-files.test-suite.ts';

const work = 'ada@acme.example';
const home = 'ada@home.example';
const workPhone = '+442079460001';
const homePhone = '+442079460002';
const all = { work, home, workPhone, homePhone };

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
  await importAda('hubspot', '2026-01-01', { email: work, phone: workPhone });
  await importAda('vcard', '2026-01-02', { email: home, phone: homePhone });
});
afterEach(() => pipeline.close());

async function importAda(
  source: string,
  asOf: string,
  values: JsonRecord,
  key = 'ada',
): Promise<number> {
  const record = { name: 'Ada', surname: 'Lark', ...values };
  const rows = rowsOf({ line: 2, records: [{ entity: 'person', key, record }] });
  const input = sourceInput({ source, asOf, rows });
  const report = await importSource(pipeline.sql, input, { rejects: noRejects() });
  return must(report.import_id, 'import');
}

const join = () => importAda('hubspot', '2026-01-03', { email: home, phone: workPhone });

/** Erases whoever has the identifier; returns who is found afterwards when another source brings each identifier again. */
async function foundAfterErasing(identifier: string): Promise<string[]> {
  const erasure = await erasePerson(pipeline.context, { identifier });
  expect(erasure).toMatchObject({ left: [] });
  await finishImport(pipeline.sql, () => {});
  const found: string[] = [];
  const by = await pipeline.account(100);
  for (const [name, value] of Object.entries(all)) {
    const kind = value.includes('@') ? 'email' : 'phone';
    await importAda('salesforce', '2026-02-01', { [kind]: value }, name);
    const answer = await pipeline.call(
      by,
      `/v1/people/enrich?${kind}=${encodeURIComponent(value)}`,
    );
    if (answer.status !== 404) found.push(name);
  }
  return found;
}

it('joined: none of their identifiers is served again', async () => {
  await withoutBuild(pipeline.sql, join);
  expect(await foundAfterErasing(home)).toEqual([]);
});

it('parted: none of their identifiers is served again', async () => {
  const joining = await join();
  await withoutBuild(pipeline.sql, () => undoImport(pipeline.sql, joining));
  expect(await foundAfterErasing(home)).toEqual([]);
});

it('a colleague who is not built yet keeps the telephone that they share', async () => {
  await withoutBuild(pipeline.sql, () =>
    importAda(
      'hubspot',
      '2026-01-03',
      { name: 'Bob', email: 'bob@acme.example', phone: workPhone },
      'bob',
    ),
  );
  expect(await erasePerson(pipeline.context, { identifier: work })).toMatchObject({ left: [] });
  await finishImport(pipeline.sql, () => {});
  const by = await pipeline.account(100);
  const answer = await pipeline.call(by, '/v1/people/enrich?email=bob@acme.example');
  expect(answer.status).toBe(200);
});
