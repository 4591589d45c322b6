/** Lists that are matched from the local copy of the graph: never stale, never charged twice. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { beforeFirstCommit, expectAgreement, spentOf } from '../../../tests/support/money.ts';
import { partsDuring } from '../../../tests/support/parts-during.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { acme, crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { deletePersons } from '../../core/graph/delete-persons.ts';
import { buildCopy } from '../../core/graph-copy/build-copy.ts';
import { openKeeper } from '../../core/graph-copy/copy-keeper.ts';
import { copyFolder, dropCopies, listCopyFiles } from '../../core/graph-copy/manifest.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import { suppress } from '../../core/suppression/suppress.ts';

let pipeline: Pipeline;
let folder: string;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(40) });
  folder = copyFolder(pipeline.context.config.dataDir);
});
afterAll(() => pipeline.close());

beforeEach(async () => {
  await buildCopy(pipeline.sql, { folder });
});
afterEach(async () => {
  delete pipeline.faults.put;
  await dropCopies(folder);
  await expectAgreement(pipeline);
});

const list = (...people: number[]) =>
  `email\n${people.map((p) => `p${p}@list.example\n`).join('')}`;
const run = (by: Caller, people: number[]) =>
  pipeline.enrich(by, list(...people), { operation: 'people.enrich', fields: 'id' });

/** The id of each row's match; `` for none. */
async function idsOf(by: Caller, id: string): Promise<string[]> {
  const { text, complete } = await pipeline.results(by, id);
  expect(complete).toBe('true');
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.split(',').at(-1) ?? '');
}

test('a list from the copy has the same result and price as from Postgres', async () => {
  const by = await pipeline.unmeteredAccount(100);
  const people = [1, 99, 2, 1, 3, 4, 98, 5];
  const ids = new Map<string, string>();
  expect(await partsDuring(async () => ids.set('copy', await run(by, people)))).toEqual({
    copy: 2,
    postgres: 0,
    repeated: 0,
  });
  expect(pipeline.context.localCopy.describe().rows).toBe(8);
  await dropCopies(folder);
  expect(await partsDuring(async () => ids.set('postgres', await run(by, people)))).toEqual({
    copy: 0,
    postgres: 2,
    repeated: 0,
  });
  expect(pipeline.context.localCopy.describe().rows).toBe(8);
  const results = [...ids.values()].map((id) => pipeline.results(by, id));
  const [fromCopy, fromPostgres] = await Promise.all(results);
  expect(fromCopy).toEqual(fromPostgres);
  expect(await spentOf(pipeline, by, 100)).toBe(12);
});

const cells = {
  person:
    'email\nada@home.example\nbob@acme.example\nnobody@home.example\neve@gone.example\nout@home.example\n',
  company:
    'registry number,country,domain,name\n01234567,GB,,\n,,beta.example,\n,,,Gamma\n,FR,,Gamma\n,,,Old Beta Ltd\n552100554,FR,,\n',
};

test.each(Object.keys(operations) as OperationName[])(
  'a list of %s has the same result and price from the copy as from Postgres',
  async (operation) => {
    const by = await pipeline.unmeteredAccount(1000);
    const ids: string[] = [];
    const runOnce = async () =>
      ids.push(await pipeline.enrich(by, cells[operations[operation].subject], { operation }));
    const { copy, postgres } = await partsDuring(runOnce);
    expect([copy > 0, postgres]).toEqual([true, 0]);
    const spent = await spentOf(pipeline, by, 1000);
    await dropCopies(folder);
    await runOnce();
    const [fromCopy, fromPostgres] = await Promise.all(ids.map((id) => pipeline.results(by, id)));
    expect(fromCopy).toEqual(fromPostgres);
    expect(fromCopy?.text).toContain('matched');
    expect(await spentOf(pipeline, by, 1000)).toBe(2 * spent);
  },
);

test('a quote from the copy is that of Postgres, and knows the changes since', async () => {
  const by = await pipeline.unmeteredAccount(1000);
  // Half of them go; no other test lists them.
  const gone = [5, 6, 7, 8, 9, 10, 24, 25, 26, 27];
  const text = list(...gone, 28, 29, 30, 32, 33, 34, 35, 36, 1, 2);
  const options = { operation: 'people.enrich', hold: 'true' };
  const quoteOf = async () => {
    const id = await pipeline.enrich(by, text, options);
    let quote: unknown;
    const parts = await partsDuring(async () => {
      await pipeline.call(by, `/v1/batches/${id}/quote`, { method: 'POST' });
      await pipeline.runUntilIdle();
      const view = await pipeline.batch(by, id);
      quote = { ...('quote' in view ? view.quote : null), asked_at: null };
    });
    return { quote, parts };
  };
  const fromCopy = await quoteOf();
  expect(fromCopy.parts).toEqual({ copy: 5, postgres: 0, repeated: 0 });
  expect(fromCopy.quote).toMatchObject({ state: 'done', credits: 20 });
  await dropCopies(folder);
  const fromPostgres = await quoteOf();
  expect(fromPostgres).toEqual({
    quote: fromCopy.quote,
    parts: { copy: 0, postgres: 5, repeated: 0 },
  });
  await buildCopy(pipeline.sql, { folder });
  await deletePersons(
    pipeline.sql,
    gone.map((person) => 1000 + person),
  );
  const after = await quoteOf();
  expect(after).toMatchObject({ parts: { copy: 5, postgres: 0 } });
  await dropCopies(folder);
  expect((await quoteOf()).quote).toEqual(after.quote);
  expect(after.quote).not.toEqual(fromCopy.quote);
});

test('lists of test mode are not matched from the copy', async () => {
  const by = await pipeline.unmeteredAccount(100);
  const test = await pipeline.keyOf(by.accountId, 'test');
  expect(await partsDuring(() => run(test, [1]))).toEqual({ copy: 0, postgres: 1, repeated: 0 });
});

test('a company that changes after the match is matched again, with its directors', async () => {
  const by = await pipeline.unmeteredAccount(100);
  const director = { id: 2001, name: 'Ned', surname: 'Nobody', birthYear: 1960 };
  beforeFirstCommit(pipeline, async () => {
    await importGraph(pipeline.sql, { persons: [director] });
    await importGraph(pipeline.sql, { companies: [{ ...acme, name: 'Acme Two Ltd' }] });
  });
  const list = 'registry number\n01234567\n';
  let id = '';
  const parts = await partsDuring(async () => {
    id = await pipeline.enrich(by, list, { operation: 'companies.enrich' });
  });
  expect(parts).toEqual({ copy: 1, postgres: 1, repeated: 1 });
  const { text } = await pipeline.results(by, id);
  expect(text).toContain('Acme Two Ltd');
  expect(text).toContain('""person_id"":2001');
  expect(await spentOf(pipeline, by, 100)).toBe(1);
});

test('an opt-out hides a director from the next row of a running list', async () => {
  const by = await pipeline.unmeteredAccount(100);
  const person = {
    id: 2002,
    email: 'dan@list.example',
    name: 'Dan',
    surname: 'Dire',
    birthYear: 1955,
  };
  await importGraph(pipeline.sql, {
    persons: [person],
    officers: [{ companyId: 11, name: 'DIRE, Dan', role: 'director', birthYear: 1955 }],
  });
  await buildCopy(pipeline.sql, { folder });
  let parts = 0;
  pipeline.faults.put = async (key) => {
    if (key.includes('/parts/') && ++parts === 2) await suppress(pipeline.sql, person.email);
  };
  const id = await pipeline.enrich(by, `registry number\n${'SC123456\n'.repeat(12)}`, {
    operation: 'companies.enrich',
    fields: 'directors',
  });
  const { text } = await pipeline.results(by, id);
  const rows = text.trim().split('\n').slice(1);
  expect(rows.filter((row) => row.includes('Dan') || row.includes('DIRE'))).toEqual([]);
  expect(rows.filter((row) => row.includes('""role"":""director""'))).toHaveLength(12);
});

test('an opt-out after the match hides the person, and is not charged', async () => {
  const by = await pipeline.unmeteredAccount(100);
  beforeFirstCommit(pipeline, () => suppress(pipeline.sql, 'p12@list.example'));
  let id = '';
  const parts = await partsDuring(async () => {
    id = await run(by, [11, 12, 13, 14]);
  });
  expect(parts).toEqual({ copy: 1, postgres: 1, repeated: 1 });
  expect(await idsOf(by, id)).toEqual(['1011', '', '1013', '1014']);
  expect(await spentOf(pipeline, by, 100)).toBe(3);
  expect((await pipeline.charges(by)).map(({ units }) => units)).toEqual([3]);
});

test('an opt-out hides the person from the next row of a running list', async () => {
  const by = await pipeline.unmeteredAccount(100);
  let parts = 0;
  pipeline.faults.put = async (key) => {
    // The part of the first chunk is committed when that of the second one is stored.
    if (key.includes('/parts/') && ++parts === 2) await suppress(pipeline.sql, 'p16@list.example');
  };
  const id = await run(by, [15, 15, 15, 15, 16, 17, 17, 17, 16, 18, 18, 18]);
  expect((await idsOf(by, id)).filter((found) => found === '1016')).toEqual([]);
  expect(await spentOf(pipeline, by, 100)).toBe(10);
});

test('an import after the match counts, also where the account pays once for a person', async () => {
  const by = await pipeline.unmeteredAccount(100);
  await changeOwnedDays(pipeline.sql, by.accountId, 30);
  beforeFirstCommit(pipeline, () =>
    importGraph(pipeline.sql, {
      persons: [
        { id: 1021, email: 'moved@list.example' },
        { id: 1022, email: 'p21@list.example' },
      ],
    }),
  );
  const id = await run(by, [21, 22, 23, 23]);
  expect(await idsOf(by, id)).toEqual(['1022', '', '1023', '1023']);
  expect(await spentOf(pipeline, by, 100)).toBe(2);
});

test('a change of test mode is no reason to match again', async () => {
  const by = await pipeline.unmeteredAccount(100);
  beforeFirstCommit(pipeline, () => suppress(pipeline.context.testSql, 'matched@test.example'));
  expect(await partsDuring(() => run(by, [1, 2]))).toEqual({ copy: 1, postgres: 0, repeated: 0 });
});

test('people who changed since the build are answered for without a new one', async () => {
  await importGraph(pipeline.sql, { persons: [{ id: 1031, email: 'new@list.example' }] });
  const by = await pipeline.unmeteredAccount(100);
  let id = '';
  const parts = await partsDuring(async () => {
    id = await pipeline.enrich(by, 'email\nnew@list.example\np31@list.example\n', {
      operation: 'people.enrich',
      fields: 'id',
    });
  });
  expect(parts).toEqual({ copy: 1, postgres: 0, repeated: 0 });
  expect(await idsOf(by, id)).toEqual(['1031', '']);
});

test('a list goes on when the copy is found damaged', async () => {
  const by = await pipeline.unmeteredAccount(100);
  await run(by, [1]);
  const [build = ''] = (await readdir(folder)).filter((name) => name.startsWith('build-'));
  const file = path.join(folder, build, 'people.blocks');
  const { size } = await stat(file);
  await writeFile(file, Buffer.alloc(size, 1));
  const id = await run(by, [1, 2, 3]);
  expect(await idsOf(by, id)).toEqual(['1001', '1002', '1003']);
  expect(await spentOf(pipeline, by, 100)).toBe(4);
  expect(await readdir(folder)).toEqual([]);
});

test('an erased person’s bytes are gone from the copy when workers look after it, and lists go on with it', async () => {
  const copied = async () =>
    Buffer.concat(await Promise.all((await listCopyFiles(folder)).map((file) => readFile(file))));
  await deletePersons(pipeline.sql, [1040]);
  expect((await copied()).includes('p40@list.example')).toBe(true);
  await openKeeper(pipeline.context, { mayBuild: false, mayFetch: false })();
  expect((await copied()).includes('p40@list.example')).toBe(false);
  const by = await pipeline.unmeteredAccount(100);
  let id = '';
  const parts = await partsDuring(async () => {
    id = await run(by, [37, 38, 40]);
  });
  expect(parts).toEqual({ copy: 1, postgres: 0, repeated: 0 });
  expect(await idsOf(by, id)).toEqual(['1037', '1038', '']);
});
