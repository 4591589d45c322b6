/** A table of identifiers that is damaged while an API reads it from its file answers no call. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callsDuring, changeEntry } from '../../../tests/support/copied-calls.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import { smallGraph } from '../../../tests/support/small-graph.ts';
import { createAccount } from '../accounts/accounts.ts';
import { buildCopy } from '../graph-copy/build-copy.ts';
import { openLocalCopy } from '../graph-copy/local-copy.ts';
import { readInProcess } from '../graph-copy/read-in-process.ts';
import { createKey } from '../keys/keys.ts';
import { createLog } from '../log.ts';
import { openEnrichCalls } from './enrich-calls.ts';

/** Of two people. */
const PHONE = '+441632960099';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, smallGraph);
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-calls-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database.drop();
});

test('a number of two people is neither of them when an entry of the table changes while the copy is open', async () => {
  const { sql } = database;
  const said: string[] = [];
  const warn = (_fields: object, line: string) => void said.push(line);
  const log = { ...createLog('silent', 'test'), warn } as ReturnType<typeof createLog>;
  const localCopy = openLocalCopy(folder, log, readInProcess);
  const accountId = await createAccount(sql, { name: 'A', credits: 10 });
  const { id: keyId } = await createKey(sql, { accountId, mode: 'live' });
  await buildCopy(sql, { folder });
  await localCopy.read(sql, async () => null);
  const { run } = openEnrichCalls({
    sql,
    testSql: sql,
    config: { mobileInRecords: true },
    localCopy,
  });
  const call = async (reference: string) => {
    const asked = {
      operation: 'people.enrich',
      row: rowOf('people.enrich', { phone: PHONE }),
      minProbability: null,
      required: null,
      isPlain: true,
      live: true,
    } as const;
    const payer = { accountId, keyId, sessionSha256: null };
    return run({ ...payer, ...asked, reference }, new AbortController().signal);
  };
  const ambiguous = { charged: 0, outcome: { status: 'ambiguous', id: 0 } };
  expect(await callsDuring(() => call('call:1'))).toMatchObject({ done: ambiguous, copy: 1 });
  await changeEntry(folder, PHONE);
  expect(await callsDuring(() => call('call:2'))).toMatchObject({ done: ambiguous, postgres: 1 });
  expect(said).toEqual([expect.stringContaining('people.identifiers is damaged')]);
  localCopy.close();
});
