/** Imports by an operator: files are received, examined, counted, imported and undone by calls. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../../../tests/support/problem.ts';
import {
  contacts,
  contactsHeader,
  type Importing,
  openImporting,
  type Run,
} from './imports.test-suite.ts';

const BYTES_MAX = 100_000;

let importing: Importing;
beforeAll(async () => {
  importing = await openImporting(BYTES_MAX);
});
afterAll(() => importing.pipeline.close());
// Every test begins with an empty graph.
afterEach(() => importing.reset());

function patch(id: string, body: unknown) {
  return importing.pipeline.call(importing.operator, `/admin/import-runs/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const partners =
  'Partner no;Vorname;Nachname;E-Mail\n17;Ada;Lark;ada@acme.example\n18;Bob;Stone;bob@acme.example\n';

describe('a file of a source', () => {
  test('is shown whatever its first rows hold', async () => {
    const cut = `${'x'.repeat(199)}\u{1f600}`;
    const run = await importing.examined(
      'partners.csv',
      `${partners}19;N\0l;${cut};c@acme.example\n20;Cy;${cut};d@acme.example\n`,
    );
    expect(run).toMatchObject({ state: 'ready', problem: null });
    expect(JSON.stringify(run.found)).toContain(`${'x'.repeat(199)}\ufffd…`);
  });

  test('is recognised, shown as it would be importing.imported, counted, imported and undone', async () => {
    const run = await importing.examined('contacts.csv', contacts);
    expect(run).toMatchObject({
      state: 'ready',
      problem: null,
      counts: null,
      files: [{ name: 'contacts.csv', bytes: contacts.length }],
      found: { source: 'hubspot', snapshot: false, mapping: null },
    });
    expect(run.found?.preview).toMatchObject([
      {
        line: 2,
        entity: 'person',
        record: { name: 'Ada', surname: 'Lark', company: 'acme.example' },
        reason: null,
      },
      { line: 3, record: null, reason: 'opted_out' },
      { line: 4, record: null, reason: expect.stringMatching(/^[a-z_]+$/) },
    ]);
    await importing.post(`/admin/import-runs/${run.id}/count`);
    await importing.work();
    const counts = {
      rows: 3,
      new: 1,
      changed: 0,
      same: 0,
      gone: 0,
      merged: 0,
      rejected: 1,
      suppressed: 1,
    };
    const counted = await importing.read(run.id);
    expect(counted).toMatchObject({ state: 'ready', counts, import_id: null });
    expect(Object.values(counted.reasons ?? {})).toEqual([1]);
    expect(await importing.countPeople()).toBe(0);

    await importing.post(`/admin/import-runs/${run.id}/start`);
    await importing.work();
    const ended = await importing.read(run.id);
    expect(ended).toMatchObject({ state: 'done', counts, found: null, problem: null });
    expect(await importing.countPeople()).toBe(1);
    const rejects = await importing.pipeline.call(
      importing.operator,
      `/admin/import-runs/${run.id}/rejects`,
    );
    expect(rejects.headers.get('content-disposition')).toContain('contacts.csv.rejects.jsonl');
    expect(JSON.parse(await rejects.text())).toMatchObject({ line: 4 });
    // The files hold people: they are deleted with the end.
    expect(await importing.pipeline.objects()).toEqual([`imports/${run.id}/rejects`]);

    expect(await importing.json('/admin/imports')).toMatchObject({
      data: [
        {
          id: ended.import_id,
          source: 'hubspot',
          files: ['contacts.csv'],
          state: 'done',
          ...counts,
          run_id: run.id,
        },
      ],
      next_cursor: null,
    });
    expect(await importing.json(`/admin/imports/${ended.import_id}`)).toMatchObject({
      undo: { later: [], restored: 0, ended: 1, without_company: 0 },
      run_id: run.id,
    });
    const undoing = (await (
      await importing.post(`/admin/imports/${ended.import_id}/undo`, {})
    ).json()) as Run;
    expect(undoing).toMatchObject({
      kind: 'undo',
      state: 'undoing',
      import_id: ended.import_id,
    });
    await importing.work();
    expect(await importing.read(undoing.id)).toMatchObject({ state: 'done' });
    expect(await importing.countPeople()).toBe(0);
    expect(await importing.json(`/admin/imports/${ended.import_id}`)).toMatchObject({
      state: 'undone',
      undo: null,
    });
    const again = await importing.post(`/admin/imports/${ended.import_id}/undo`, {});
    await expectProblem(again, { status: 409, code: 'import_undone' });
  });

  test('may come in parts, and is examined whole', async () => {
    const lines = [1, 2].map(
      (id) => `${contactsHeader}\n${id},Ada${id},Lark,a${id}@acme.example,\n`,
    );
    const first = await importing.examined('one.csv', lines[0] ?? '');
    const path = `/admin/import-runs/${first.id}/files`;
    expect((await importing.upload('two.csv', lines[1] ?? '', { path })).status).toBe(202);
    await importing.work();
    await importing.post(`/admin/import-runs/${first.id}/start`);
    await importing.work();
    expect(await importing.read(first.id)).toMatchObject({
      state: 'done',
      counts: { rows: 2, new: 2 },
    });
    await expectProblem(await importing.upload('three.csv', lines[0] ?? '', { path }), {
      status: 409,
      code: 'invalid_state',
    });
    expect(await importing.pipeline.objects()).toEqual([]);
  });

  test('is refused with a file of another kind of the same source, by their names', async () => {
    const companies = 'Record ID,Company name,Company Domain Name\n7,Acme,acme.example\n';
    const run = await importing.examined('companies.csv', companies);
    const path = `/admin/import-runs/${run.id}/files`;
    await importing.upload('contacts.csv', contacts, { path });
    await importing.work();
    expect(await importing.read(run.id)).toMatchObject({
      state: 'ready',
      found: null,
      problem: {
        code: 'different_files',
        detail: 'contacts.csv is another kind of file than companies.csv; import them one by one.',
      },
    });
  });

  test('that is refused changes nothing, says why, and can be taken all the same', async () => {
    const companies = (count: number) =>
      `CompanyName, CompanyNumber,CompanyStatus,IncorporationDate,RegAddress.CareOf,RegAddress.POBox,RegAddress.AddressLine1, RegAddress.AddressLine2,RegAddress.PostTown,RegAddress.County,RegAddress.Country,RegAddress.PostCode,${[1, 2, 3, 4].map((index) => `SICCode.SicText_${index}`).join(',')},${Array.from({ length: 10 }, (_, index) => ` PreviousName_${index + 1}.CompanyName`).join(',')}\n${Array.from({ length: count }, (_, index) => `C${index} LIMITED,0000001${index},Active,01/01/2001${','.repeat(22)}\n`).join('')}`;
    const before = await importing.imported(
      'BasicCompanyDataAsOneFile-2026-10-01.csv',
      companies(4),
    );
    expect(before, JSON.stringify(before)).toMatchObject({ state: 'done', counts: { new: 4 } });
    const run = await importing.examined('BasicCompanyDataAsOneFile-2026-11-01.csv', companies(1));
    expect(run.found).toMatchObject({
      source: 'gb-companies',
      as_of: '2026-11-01',
      snapshot: true,
    });
    await importing.post(`/admin/import-runs/${run.id}/start`);
    await importing.work();
    const refused = await importing.read(run.id);
    expect(refused).toMatchObject({ state: 'ready', problem: { code: 'too_many_gone' } });
    expect((await patch(run.id, { allow_gone: true })).status).toBe(200);
    await importing.work();
    await importing.post(`/admin/import-runs/${run.id}/start`);
    await importing.work();
    expect(await importing.read(run.id)).toMatchObject({
      state: 'done',
      counts: { gone: 3, same: 1 },
    });
    const { import_id: first } = before;
    const built = await importing.post(`/admin/imports/${first}/undo`, {});
    await expectProblem(built, { status: 409, code: 'import_built_on' });
    const told = (
      (await importing.json(`/admin/imports/${first}`)) as { undo: { later: number[] } }
    ).undo;
    expect(told).toEqual({
      later: [expect.any(Number)],
      restored: 0,
      ended: 1,
      without_company: 0,
    });
    await importing.post(`/admin/imports/${first}/undo`, { with: told.later });
    await importing.work();
    const [row] = await importing.pipeline.sql`select count(*)::int as companies from companies`;
    expect(row).toEqual({ companies: 0 });
  });
});

describe('a file of no known source', () => {
  test('is refused by its name when it lacks the columns of the one before it', async () => {
    const run = await importing.examined('partners.csv', partners);
    const path = `/admin/import-runs/${run.id}/files`;
    await importing.upload('others.csv', 'Vorname;Nachname\nAda;Lark\n', { path });
    await importing.work();
    await importing.post(`/admin/import-runs/${run.id}/count`);
    await importing.work();
    expect(await importing.read(run.id)).toMatchObject({
      state: 'ready',
      problem: {
        code: 'unknown_columns',
        detail: expect.stringMatching(/^others\.csv has no column E-Mail; nothing was changed/),
      },
    });
  });

  test('gets a mapping that is guessed, shown, changed and kept under its name', async () => {
    const run = await importing.examined('Partner list 2026-10-01.csv', partners);
    expect(run.found).toMatchObject({
      source: 'partner-list',
      as_of: '2026-10-01',
      mapping_origin: 'guessed',
      mapping: { of: 'persons', columns: { given_name: ['Vorname'], email: ['E-Mail'] } },
      columns: [
        { name: 'Partner no', samples: ['17', '18'] },
        { name: 'Vorname', samples: ['Ada', 'Bob'] },
        { name: 'Nachname', samples: ['Lark', 'Stone'] },
        { name: 'E-Mail', samples: ['ada@acme.example', 'bob@acme.example'] },
      ],
    });
    const mapping = {
      name: 'partners',
      of: 'persons',
      columns: { key: ['Partner no'], full_name: ['Nachname'], email: ['E-Mail'] },
    };
    expect((await patch(run.id, { mapping, as_of: '2026-09-30' })).status).toBe(200);
    await importing.work();
    const changed = await importing.read(run.id);
    expect(changed.found).toMatchObject({ mapping, mapping_origin: 'given', as_of: '2026-09-30' });
    expect(changed.found?.preview[0]).toMatchObject({ record: { name: 'Lark' } });
    await importing.post(`/admin/import-runs/${run.id}/start`);
    await importing.work();
    expect(await importing.read(run.id)).toMatchObject({ state: 'done', counts: { new: 2 } });
    const next = await importing.examined('Partner list 2026-11-01.csv', partners);
    expect(next.found).toMatchObject({ source: 'partners', mapping_origin: 'kept', mapping });
    await importing.pipeline.sql`delete from source_mappings`;
  });

  test('is imported at a revision only as it was then', async () => {
    const run = await importing.examined('revised.csv', partners);
    const start = (revision: string) =>
      importing.post(`/admin/import-runs/${run.id}/start?revision=${revision}`);
    await importing.post(`/admin/import-runs/${run.id}/count`);
    await importing.work();
    // Counting shows the same records.
    expect(await importing.read(run.id)).toMatchObject({ revision: run.revision });
    expect((await patch(run.id, { as_of: '2026-09-30' })).status).toBe(200);
    await importing.work();
    const changed = await importing.read(run.id);
    await expectProblem(await start(run.revision), { status: 409, code: 'invalid_state' });
    expect(await importing.read(run.id)).toMatchObject({ state: 'ready' });
    for (const _ of ['start', 'repeated']) {
      expect((await start(changed.revision)).status).toBe(202);
    }
    await expectProblem(await start(run.revision), { status: 409, code: 'invalid_state' });
    await importing.work();
    expect(await importing.read(run.id)).toMatchObject({ state: 'done', counts: { new: 2 } });
    await importing.pipeline.sql`delete from source_mappings`;
  });

  test('is read by none of two kept mappings that fit its columns until one is chosen', async () => {
    const { sql } = importing.pipeline;
    const people = { name: 'partners', of: 'persons', columns: { email: ['E-Mail'] } };
    const firms = { name: 'suppliers', of: 'companies', columns: { name: ['Nachname'] } };
    for (const { name, ...mapping } of [people, firms]) {
      await sql`insert into source_mappings (name, mapping) values (${name}, ${JSON.stringify(mapping)}::text::json)`;
    }
    const named = await importing.examined('Suppliers 2026-11-01.csv', partners);
    expect(named).toMatchObject({
      problem: null,
      found: { mapping_origin: 'kept', mapping: firms },
    });
    const run = await importing.examined('list.csv', partners);
    expect(run).toMatchObject({
      state: 'ready',
      found: { mapping_origin: 'several', fitting: [people, firms] },
      problem: { code: 'several_mappings', detail: expect.stringContaining('partners, suppliers') },
    });
    for (const step of ['count', 'start']) {
      const refused = await importing.post(`/admin/import-runs/${run.id}/${step}`);
      await expectProblem(refused, { status: 409, code: 'invalid_state' });
    }
    expect((await patch(run.id, { mapping: firms })).status).toBe(200);
    await importing.work();
    expect(await importing.read(run.id)).toMatchObject({
      problem: null,
      found: { source: 'suppliers', mapping_origin: 'given', fitting: [people, firms] },
    });
    const other = { ...firms, name: 'partners' };
    expect((await patch(run.id, { mapping: other })).status).toBe(200);
    await importing.work();
    // The name of another source: the import would replace its mapping, and update its records.
    expect(await importing.read(run.id)).toMatchObject({
      found: { source: 'partners', mapping_origin: 'replacing' },
    });
    expect((await importing.post(`/admin/import-runs/${run.id}/count`)).status).toBe(202);
    await sql`delete from source_mappings`;
  });

  test.each([
    [
      { mapping: { name: 'hubspot', of: 'persons', columns: { email: ['E-Mail'] } } },
      /mapping\.name/,
    ],
    [{ mapping: { name: '../x', of: 'persons', columns: { email: ['E-Mail'] } } }, /mapping\.name/],
    [{ mapping: { name: 'x', of: 'persons', columns: { emails: ['E-Mail'] } } }, /other than key/],
    [{ source: 'nowhere' }, /source/],
    [{ as_of: '2026-13-01' }, /as_of/],
    [{ as_of: '2026-02-31' }, /as_of/],
    [{ as_of: '0000-01-01' }, /as_of/],
    [{ as_of: '2126-01-01' }, /as_of.*later than tomorrow/],
  ])('refuses the options %j', async (options, message) => {
    const { id } = await importing.examined('partners.csv', partners);
    const response = await patch(id, options);
    const problem = (await response.clone().json()) as { detail: string };
    expect(problem.detail).toMatch(message);
    await expectProblem(response, { status: 400, code: 'invalid_parameter' });
  });

  test('takes no day from a file name that does not exist', async () => {
    const today = () => new Date().toISOString().slice(0, 10);
    const before = today();
    const { found } = await importing.examined('partners-2026-02-31.csv', partners);
    expect([before, today()]).toContain(found?.as_of);
  });

  test.each([
    ['list.xlsx', 'PK', 'workbook'],
    ['colours.csv', 'Colour,Weight\nred,3\n', 'unmapped'],
    ['empty.csv', '', 'unreadable_csv'],
    ['leads.csv', `${contactsHeader}\n`, 'no_rows'],
    ['leads.csv', 'Vorname;Nachname;E-Mail\n', 'no_rows'],
    ['report.pdf', '%PDF-1.7\n%\xe2\xe3\n1 0 obj\n', 'unsupported_media_type'],
  ])('says what is wrong with %s', async (name, text, code) => {
    const run = await importing.examined(name, text);
    expect(run).toMatchObject({ state: 'ready', found: null, problem: { code } });
    const start = await importing.post(`/admin/import-runs/${run.id}/start`);
    await expectProblem(start, { status: 409, code: 'invalid_state' });
    const cancelled = await importing.post(`/admin/import-runs/${run.id}/cancel`);
    expect(await cancelled.json()).toMatchObject({ state: 'cancelled' });
  });
});
