/** Single calls that the local copy of the graph answers: never stale, charged once, and with the answers of Postgres. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callsDuring, changing, shown, shownError } from '../../../tests/support/copied-calls.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import { acme, smallGraph } from '../../../tests/support/small-graph.ts';
import { audit } from '../../jobs/audit/audit.ts';
import { createAccount } from '../accounts/accounts.ts';
import { readWallet } from '../credits/credits.sql.ts';
import { inTransaction } from '../db/client.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { buildCopy, rollForward } from '../graph-copy/build-copy.ts';
import { type LocalCopy, openLocalCopy } from '../graph-copy/local-copy.ts';
import { dropCopies, readManifestText } from '../graph-copy/manifest.ts';
import { readInProcess } from '../graph-copy/read-in-process.ts';
import { readInThread } from '../graph-copy/read-in-thread.ts';
import { createKey } from '../keys/keys.ts';
import { must } from '../lib/assert.ts';
import { createLog } from '../log.ts';
import { type OperationName, operations } from '../operations.ts';
import { suppress } from '../suppression/suppress.ts';
import { type EnrichCall, enrichCalls, openEnrichCalls } from './enrich-calls.ts';

const CREDITS = 100_000;

let database: TestDatabase;
let folder: string;
let copy: LocalCopy;
let said: string[];
let payer: Pick<EnrichCall, 'accountId' | 'keyId' | 'sessionSha256'>;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  await clear();
  await importGraph(database.sql, smallGraph);
  await suppress(database.sql, 'out@home.example');
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-calls-'));
  said = [];
  copy = openLocalCopy(folder, logOf(said), readInProcess);
  const accountId = await createAccount(database.sql, { name: 'A', credits: CREDITS });
  const { id } = await createKey(database.sql, { accountId, mode: 'live' });
  payer = { accountId, keyId: id, sessionSha256: null };
});
afterEach(async () => {
  copy.close();
  await rm(folder, { recursive: true, force: true });
  const { checks } = await audit(database.sql);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
});

async function clear(): Promise<void> {
  await database.sql`truncate persons, person_identifiers, person_records, person_briefs, person_search,
    person_name_keys, keyed_persons, suppressed_identifiers, suppressed_persons, companies, company_identifiers,
    company_records, company_name_keys, keyed_companies, officers, financial_periods, suppressed_officers`;
}

function logOf(lines: string[]) {
  const warn = (_fields: object, line: string) => void lines.push(line);
  return { ...createLog('silent', 'test'), warn } as ReturnType<typeof createLog>;
}

const contextOf = (localCopy: LocalCopy) => ({
  sql: database.sql,
  testSql: database.sql,
  config: { mobileInRecords: true },
  localCopy,
});

type Cells = Parameters<typeof rowOf>[1];

let references = 0;
function callOf(
  operation: OperationName,
  cells: Cells,
  more: Partial<EnrichCall> = {},
): EnrichCall {
  const asked = { operation, row: rowOf(operation, cells), minProbability: null, required: null };
  return {
    ...{ ...payer, ...asked, isPlain: true, live: true },
    ...{ reference: `call:${references++}`, ...more },
  };
}

/** Runs calls, which are coalesced. Resolves to their answers without buffers. */
type Run = (calls: EnrichCall[]) => Promise<object[]>;

const run =
  (localCopy: LocalCopy): Run =>
  (calls) => {
    const { run } = openEnrichCalls(contextOf(localCopy));
    const { signal } = new AbortController();
    return Promise.all(calls.map((call) => run(call, signal).then(shown, shownError)));
  };
const byPostgres: Run = async (calls) =>
  (await enrichCalls(contextOf(copy), calls)).map((answer) =>
    answer instanceof Error ? shownError(answer) : shown(answer),
  );

async function spent(): Promise<number> {
  return CREDITS - must(await readWallet(database.sql, payer.accountId), 'a wallet').balance;
}

/** Learns of the copy and of the changes since, as the heartbeat of an API does, and each call after a change. */
const learn = () => copy.read(database.sql, async () => null);

async function build(): Promise<void> {
  await buildCopy(database.sql, { folder });
  await learn();
}

const ada = () => callOf('people.enrich', { email: 'ada@home.example' });

const cells: Record<'person' | 'company', Cells[]> = {
  person: [
    { email: 'ada@acme.example' },
    { email: 'bob@acme.example' },
    { phone: '+441632960099' },
    { twitter: 'eve_old' },
    { email: 'nobody@acme.example' },
    { email: 'out@home.example' },
    { professional_network: 'ada-lovely', email: 'bob@home.example' },
  ],
  company: [
    { registry_number: '01234567' },
    { domain: 'beta.example' },
    { name: 'Acme Widgets Ltd' },
    { domain: 'nobody.example' },
  ],
};

test.each(Object.keys(operations) as OperationName[])(
  'calls of %s have the answers and prices of Postgres',
  async (operation) => {
    const calls = () => cells[operations[operation].subject].map((row) => callOf(operation, row));
    const expected = await byPostgres(calls());
    const price = await spent();
    expect(price).toBeGreaterThan(0);
    await build();
    for (const open of [readInProcess, readInThread]) {
      const other = openLocalCopy(folder, logOf(said), open);
      await other.read(database.sql, async () => null);
      const before = await spent();
      const { done, ...by } = await callsDuring(() => run(other)(calls()));
      other.close();
      expect(done).toEqual(expected);
      expect(by).toEqual({ copy: calls().length, postgres: 0, repeated: 0 });
      expect((await spent()) - before).toBe(price);
    }
  },
);

test('calls that match by name, and those of the test graph, have the answers of Postgres', async () => {
  const likely = { name: 'Ada', surname: 'Lovely', company: 'Acme Widgets Ltd' };
  const row = { ...rowOf('people.enrich', {}), likely };
  const calls = () => [
    callOf('people.enrich', {}, { row: row as never, minProbability: 0.5 }),
    callOf('people.enrich', { email: 'ada@home.example' }, { live: false }),
    ada(),
  ];
  const expected = await byPostgres(calls());
  expect(expected).toMatchObject([{ id: 1 }, {}, { id: 1 }]);
  await build();
  const { done, ...by } = await callsDuring(() => run(copy)(calls()));
  expect(done).toEqual(expected);
  expect(by).toEqual({ copy: 2, postgres: 0, repeated: 0 });
  expect(await callsDuring(() => run(copy)([calls()[1] as EnrichCall]))).toMatchObject({
    ...{ copy: 0, postgres: 0, repeated: 0 },
  });
});

test('a call that does not fit after a dearer one is paid alone', async () => {
  await build();
  await database.sql`update wallets set reserved = ${CREDITS - 5} where account_id = ${payer.accountId}`;
  const mobile = callOf('people.mobile', { email: 'ada@home.example' });
  const answers = await run(copy)([mobile, ada()]);
  expect(answers).toMatchObject([
    { message: expect.stringContaining('may cost 8 credits') },
    { id: 1, charged: 1 },
  ]);
  await database.sql`update wallets set reserved = 0 where account_id = ${payer.accountId}`;
  expect(await spent()).toBe(1);
});

/** Changes after which the address names no one, or another person. */
const changes: [string, () => Promise<unknown>, number][] = [
  ['an opt-out', () => suppress(database.sql, 'ada@home.example'), 0],
  ['an erasure', () => deletePersons(database.sql, [1]), 0],
  [
    'an update',
    () => importGraph(database.sql, { persons: [{ id: 1, email: 'moved@home.example' }] }),
    0,
  ],
  [
    'a merge',
    async () => {
      await deletePersons(database.sql, [1]);
      await importGraph(database.sql, { persons: [{ id: 77, email: 'ada@home.example' }] });
    },
    77,
  ],
];

describe.each([
  ['admitted as plain', true],
  ['of any kind', false],
])('calls %s', (_, isPlain) => {
  const call = () => callOf('people.enrich', { email: 'ada@home.example' }, { isPlain });

  test.each(changes)('after %s have the new answer at once', async (_name, change, id) => {
    await build();
    expect(await callsDuring(() => run(copy)([call(), call()]))).toMatchObject({ copy: 2 });
    await change();
    const { done, ...by } = await callsDuring(() => run(copy)([call()]));
    expect(done).toMatchObject([{ id, status: id === 0 ? 'no_match' : 'matched' }]);
    expect(by).toEqual({ copy: 0, postgres: 1, repeated: 1 });
    expect(await spent()).toBe(2 + Math.sign(id));
    await learn();
    const after = await callsDuring(() => run(copy)([call()]));
    expect(after).toMatchObject({ copy: 1, postgres: 0, done: [{ id }] });
  });

  test.each(changes)(
    'are answered again after %s between look-up and charge',
    async (_n, change, id) => {
      await build();
      const { done, ...by } = await callsDuring(() =>
        run(changing(copy, change))([call(), call()]),
      );
      expect(done).toMatchObject([{ id }, { id }]);
      expect(by).toEqual({ copy: 0, postgres: 2, repeated: 2 });
      expect(await spent()).toBe(2 * Math.sign(id));
    },
  );
});

test('a person who is added is found by the very next call', async () => {
  await build();
  const call = () => callOf('people.enrich', { email: 'new@home.example' });
  const miss = await callsDuring(() => run(copy)([call()]));
  expect(miss).toMatchObject({ copy: 1, done: [{ status: 'no_match' }] });
  await importGraph(database.sql, { persons: [{ id: 78, email: 'new@home.example' }] });
  const found = await callsDuring(() => run(copy)([call()]));
  expect(found).toMatchObject({ copy: 0, postgres: 1, repeated: 1, done: [{ id: 78 }] });
});

test('a company answers with its directors as they are', async () => {
  await build();
  const call = () => callOf('companies.enrich', { registry_number: '01234567' });
  const [before] = (await run(copy)([call()])) as { directors: string }[];
  expect(before?.directors).toContain('"person_id":1,');
  await suppress(database.sql, 'ada@home.example');
  await importGraph(database.sql, { companies: [{ ...acme, name: 'Acme Two Ltd' }] });
  for (const reader of ['postgres', 'copy'] as const) {
    const { done, ...by } = await callsDuring(() => run(copy)([call()]));
    await learn();
    expect(by[reader]).toBe(1);
    const [after] = done as { company: string; directors: string }[];
    expect(after?.company).toContain('Acme Two Ltd');
    expect(after?.directors).not.toContain('"person_id":1,');
  }
});

test('no call waits while changes are asked for', async () => {
  await build();
  await suppress(database.sql, 'bob@home.example');
  await inTransaction(database.sql, async (tx) => {
    await tx`lock table changed_records in access exclusive mode`;
    const { done, ...by } = await callsDuring(async () => [
      ...(await run(copy)([ada()])),
      ...(await run(copy)([ada()])),
    ]);
    expect(done).toMatchObject([{ id: 1 }, { id: 1 }]);
    expect(by).toEqual({ copy: 0, postgres: 2, repeated: 1 });
  });
  await learn();
  expect(await callsDuring(() => run(copy)([ada()]))).toMatchObject({ copy: 1, postgres: 0 });
});

test('without a copy, with a dropped and with a damaged one, Postgres answers', async () => {
  const postgresAnswers = async () => {
    const { done, ...by } = await callsDuring(() => run(copy)([ada()]));
    expect(done).toMatchObject([{ id: 1, charged: 1 }]);
    expect(by).toEqual({ copy: 0, postgres: 1, repeated: 0 });
  };
  await postgresAnswers();
  await build();
  await dropCopies(folder);
  await learn();
  await postgresAnswers();
  await build();
  const [built = ''] = (await readdir(folder)).filter((name) => name.startsWith('build-'));
  const file = path.join(folder, built, 'people.blocks');
  await writeFile(file, Buffer.alloc((await readFile(file)).length, 1));
  await postgresAnswers();
  expect(said).toEqual([expect.stringContaining('people.blocks is damaged')]);
  await postgresAnswers();
  expect(await readdir(folder)).toEqual([]);
});

test('with too many changes Postgres answers, and the copy again when it is rolled forward', async () => {
  await build();
  await importGraph(database.sql, {
    persons: Array.from({ length: 9_000 }, (_, index) => ({ id: 100 + index, name: 'N' })),
  });
  for (const from of [10_000, 20_000]) {
    await importGraph(database.sql, {
      persons: Array.from({ length: 9_000 }, (_, index) => ({ id: from + index, name: 'N' })),
    });
  }
  // One call finds that the graph has changed; how much is asked for meanwhile.
  const { done, ...by } = await callsDuring(async () => [
    ...(await run(copy)([ada()])),
    ...(await run(copy)([ada()])),
    ...(await run(copy)([ada()])),
  ]);
  expect(done).toMatchObject([{ id: 1 }, { id: 1 }, { id: 1 }]);
  expect(by).toEqual({ copy: 0, postgres: 3, repeated: 1 });
  const replaces = must(await readManifestText(folder), 'a manifest');
  await rollForward(database.sql, { folder, replaces, shareMax: 10_000 });
  await learn();
  expect(await callsDuring(() => run(copy)([ada()]))).toMatchObject({ copy: 1, postgres: 0 });
});

describe('postgres and the copy', () => {
  const email = fc.constantFrom(...'abcd'.split('').map((letter) => `${letter}@home.example`));
  const personOf = fc.record({
    id: fc.integer({ min: 1, max: 6 }),
    name: fc.constantFrom('Ann', 'Zoë'),
    companyId: fc.constantFrom(0, 10),
    email,
    mobile: fc.option(fc.constantFrom('+447700900001', '+447700900002')),
  });
  const step = fc.oneof(
    personOf.map((person) => ({ name: 'import', person }) as const),
    fc.integer({ min: 1, max: 6 }).map((id) => ({ name: 'erase', id }) as const),
    email.map((value) => ({ name: 'opt-out', value }) as const),
    fc.constant({ name: 'none' } as const),
  );
  const personal = ['people.enrich', 'people.enrich-with-company', 'people.mobile'] as const;

  test('give the same answers and charges whatever changes between calls', async () => {
    const by = { copy: 0, repeated: 0 };
    const property = fc.asyncProperty(
      fc.array(personOf, { minLength: 1, maxLength: 6 }),
      fc.array(
        fc.tuple(
          step,
          fc.array(fc.tuple(fc.constantFrom(...personal), email), { minLength: 1, maxLength: 6 }),
        ),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
      async (persons, steps) => {
        await clear();
        await importGraph(database.sql, { companies: [acme], persons });
        await build();
        for (const [change, asked] of steps) {
          if (change.name === 'opt-out') await suppress(database.sql, change.value);
          else if (change.name === 'erase') await deletePersons(database.sql, [change.id]);
          else if (change.name === 'import') {
            await importGraph(database.sql, { persons: [change.person] });
          }
          const calls = () =>
            asked.map(([operation, value]) => callOf(operation, { email: value }));
          const before = await spent();
          const expected = await byPostgres(calls());
          const between = await spent();
          const { done, copy: fromCopy, repeated } = await callsDuring(() => run(copy)(calls()));
          expect(done).toEqual(expected);
          expect((await spent()) - between).toBe(between - before);
          await learn();
          by.copy += fromCopy;
          by.repeated += repeated;
        }
      },
    );
    await fc.assert(property, { numRuns: 12 });
    expect(Math.min(by.copy, by.repeated)).toBeGreaterThan(10);
  }, 240_000);
});
