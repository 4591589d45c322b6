/** Splits by an operator: records that were wrongly merged are taken apart and joined again by calls. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../../../tests/support/problem.ts';
import { type Importing, openImporting } from './imports.test-suite.ts';

const BYTES_MAX = 100_000;

let importing: Importing;
beforeAll(async () => {
  importing = await openImporting(BYTES_MAX);
});
afterAll(() => importing.pipeline.close());

describe('a wrong merge', () => {
  test('is split by its records, and joined again', async () => {
    await importing.imported(
      'companies.csv',
      'Record ID,Company name,Company Domain Name\n7,Acme Hub,acme.example\n',
    );
    await importing.imported(
      'organizations.csv',
      'Organization - ID,Organization - Name,Organization - Website\n3,Acme Pipe,acme.example\n',
    );
    const listed = async () =>
      importing.pipeline.sql<
        { id: number; name: string }[]
      >`select id, name from companies order by id`;
    const [one, ...others] = await listed();
    expect(others).toEqual([]);
    const { sources } = (await importing.json(`/admin/companies/${one?.id}/sources`)) as {
      sources: { record: number; source: string }[];
    };
    const taken = sources.find(({ source }) => source === 'pipedrive')?.record;
    const path = `/admin/companies/${one?.id}/split`;
    await expectProblem(await importing.post(path, { records: [taken, 999] }), {
      status: 400,
      code: 'invalid_parameter',
    });
    const made = (await (await importing.post(path, { records: [taken] })).json()) as {
      split: number;
      ids: number[];
    };
    expect((await listed()).map(({ name }) => name)).toEqual(['Acme Hub', 'Acme Pipe']);
    expect(await importing.json('/admin/splits')).toMatchObject({
      data: [{ id: made.split, of: 'company', from: one?.id, records: [taken], undone_at: null }],
    });
    const undo = `/admin/splits/${made.split}/undo`;
    expect(await (await importing.post(undo)).json()).toEqual({
      split: made.split,
      ids: [one?.id],
    });
    expect(await listed()).toHaveLength(1);
    await expectProblem(await importing.post(undo), { status: 409, code: 'split_undone' });
    const person = await importing.post('/admin/people/99/split', { records: [1] });
    await expectProblem(person, { status: 404, code: 'not_found' });
  });
});
