/** Records that an operator splits by hand stay apart, whatever is imported in whatever order, until the split is undone. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import type { Database } from '../core/db/client.ts';
import { importValues } from '../core/graph/import/import-harness.test-suite.ts';
import { showSources } from '../core/graph/sources/show-sources.ts';
import { listSplits, splitRecords, undoSplit } from '../core/graph/sources/split.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { companyOf, csvOf, importText } from './import-files.test-suite.ts';

/** One company each, all with one domain. */
const company = (source: 'hubspot' | 'brreg' | 'pipedrive', asOf = '2026-01-01') => {
  const text = {
    hubspot: csvOf(
      ['Record ID', 'Company name', 'Company Domain Name'],
      [{ 'Record ID': '7', 'Company name': 'Acme Hub', 'Company Domain Name': 'acme.example' }],
    ),
    brreg: csvOf(
      ['organisasjonsnummer', 'navn', 'hjemmeside', 'antallAnsatte', 'forretningsadresse.adresse'],
      [{ organisasjonsnummer: '923609016', navn: 'ACME ASA', hjemmeside: 'acme.example' }],
    ),
    pipedrive: csvOf(
      ['Organization - ID', 'Organization - Name', 'Organization - Website'],
      [
        {
          'Organization - ID': '3',
          'Organization - Name': 'Acme Pipe',
          'Organization - Website': 'acme.example',
        },
      ],
    ),
  }[source];
  return { source, name: `${source}.csv`, asOf, text };
};
const keys = {
  hubspot: 'company:7',
  brreg: 'unit:923609016',
  pipedrive: 'organization:3',
} as const;
type Source = keyof typeof keys;
const files = {
  hubspot: company('hubspot'),
  brreg: company('brreg'),
  pipedrive: company('pipedrive'),
};
const sources = Object.keys(keys) as Source[];

/** The companies, each as the names of the sources of its records. */
async function groupsOf(sql: Database): Promise<string[]> {
  const rows = await sql<{ sources: string }[]>`
    select string_agg(source, ' ' order by source) as sources from source_records
    where record is not null and entity = 1 group by id order by 1`;
  return rows.map((row) => row.sources);
}

async function graphOf(sql: Database): Promise<unknown[]> {
  const rows = await sql`
    select name, domain, domains, aliases, registry_number, website, (
      select array_agg(value || ' ' || kind order by value, kind) from company_identifiers where company_id = c.id) as found
    from companies c order by 1, 2, 3`;
  return [...rows];
}

const databases: TestDatabase[] = [];
let sql: Database;
async function fresh(): Promise<Database> {
  const made = await createTestDatabase();
  databases.push(made);
  return made.sql;
}
beforeEach(async () => {
  sql = await fresh();
});
afterEach(() => Promise.all(databases.splice(0).map((one) => one.drop())));

async function load(into: Database, list: readonly Source[]): Promise<number[]> {
  const ids: number[] = [];
  for (const source of list) {
    const report = await importText(into, files[source]);
    ids.push(must(report.import_id, 'import'));
  }
  return ids;
}

async function split(of: Database, list: readonly Source[]): Promise<{ split: number }> {
  const [first] = list;
  const id = Number((await companyOf(of, must(first, 'source'), keys[must(first, 'source')]))?.id);
  const shown = await showSources(of, 'company', id);
  const records = shown.sources
    .filter(({ source }) => list.includes(source as Source))
    .map(({ record }) => Number(record));
  return splitRecords(of, 'company', id, records);
}

describe('a split by hand', () => {
  it('takes a record out; the id stays with the record that had it first', async () => {
    await load(sql, sources);
    expect(await groupsOf(sql)).toEqual(['brreg hubspot pipedrive']);
    const before = await companyOf(sql, 'hubspot', keys.hubspot);
    await split(sql, ['hubspot']);
    expect(await groupsOf(sql)).toEqual(['brreg pipedrive', 'hubspot']);
    expect((await companyOf(sql, 'hubspot', keys.hubspot))?.id).toBe(before?.id);
    expect((await companyOf(sql, 'brreg', keys.brreg))?.id).not.toBe(before?.id);
    expect((await companyOf(sql, 'hubspot', keys.hubspot))?.name).toBe('Acme Hub');
    expect(await companyOf(sql, 'brreg', keys.brreg)).toMatchObject({ name: 'ACME ASA' });
    expect(JSON.stringify((await companyOf(sql, 'brreg', keys.brreg))?.aliases)).not.toContain(
      'Hub',
    );
    expect(await listSplits(sql, 5)).toMatchObject([
      { of: 'company', from: before?.id, undoneAt: null },
    ]);
  });

  it('holds for every order of imports, replays and undone imports; undone it is as if it had never been', {
    timeout: 240_000,
  }, async () => {
    await load(sql, sources);
    const joined = await graphOf(sql);
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...sources], { minLength: 3 }),
        fc.subarray([...sources], { minLength: 1, maxLength: 2 }),
        fc.nat(2),
        async (order, taken, place) => {
          const one = await fresh();
          const imports = await load(one, order);
          const made = await split(one, taken);
          const apart = await graphOf(one);
          const left = sources.filter((source) => !taken.includes(source));
          const groups = [left, taken].map((group) => [...group].sort().join(' ')).sort();
          expect(await groupsOf(one)).toEqual(groups);
          await undoImport(one, must(imports[place], 'import'), { withLater: true });
          await load(one, [...order].reverse());
          expect(await groupsOf(one)).toEqual(groups);
          expect(await graphOf(one)).toEqual(apart);
          // Another order, split before the last file comes.
          const other = await fresh();
          const late = must(left[0] ?? order[0], 'source');
          await load(
            other,
            order.filter((source) => source !== late),
          );
          if (left.length > 1) {
            await split(other, taken);
            await load(other, [late]);
            expect(await graphOf(other)).toEqual(apart);
          }
          await undoSplit(one, made.split);
          expect(await graphOf(one)).toEqual(joined);
        },
      ),
      { numRuns: 4 },
    );
  });

  it('leaves a record with an id of one’s own its id', async () => {
    await importValues(sql, 'companies', [{ id: 5, name: 'Acme (own)', domain: 'acme.example' }]);
    await load(sql, ['hubspot']);
    expect((await companyOf(sql, 'hubspot', keys.hubspot))?.id).toBe(5);
    const { sources: records } = await showSources(sql, 'company', 5);
    const own = records.find(({ source }) => source === 'own')?.record;
    const { ids } = await splitRecords(sql, 'company', 5, [Number(own)]);
    expect(ids).toEqual([5]);
    expect((await companyOf(sql, 'hubspot', keys.hubspot))?.id).not.toBe(5);
    expect((await showSources(sql, 'company', 5)).record).toMatchObject({ name: 'Acme (own)' });
  });

  it('is refused for records of others, for all records and for none, and undone once', async () => {
    await load(sql, sources);
    const id = Number((await companyOf(sql, 'hubspot', keys.hubspot))?.id);
    const { sources: records } = await showSources(sql, 'company', id);
    const all = records.map(({ record }) => Number(record));
    for (const wrong of [[], all, [999]]) {
      await expect(splitRecords(sql, 'company', id, wrong)).rejects.toMatchObject({ status: 400 });
    }
    await expect(splitRecords(sql, 'company', 99, all)).rejects.toMatchObject({ status: 404 });
    const made = await splitRecords(sql, 'company', id, all.slice(0, 1));
    await undoSplit(sql, made.split);
    await expect(undoSplit(sql, made.split)).rejects.toMatchObject({ code: 'split_undone' });
    await expect(undoSplit(sql, 99)).rejects.toMatchObject({ status: 404 });
    expect(await groupsOf(sql)).toEqual(['brreg hubspot pipedrive']);
  });
});
