/** The build of a local copy reads the graph in pages: every record once, and none of them by way of a temporary file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { connect, inTransaction } from '../db/client.ts';
import { buildCopy } from './build-copy.ts';
import { type RecordToCopy, readRecordsToCopy } from './copy.sql.ts';
import { entities } from './manifest.ts';
import { writeRecords } from './write-records.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-copy-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await database.sql`truncate person_records, person_briefs, person_identifiers, company_records, company_identifiers`;
});

/** The ids of all pages, as read for people and for companies. */
function readIds(): Promise<number[][]> {
  return inTransaction(database.sql, async (tx) => {
    const ids: number[][] = [];
    for (const entity of entities) {
      const read: number[] = [];
      for await (const page of readRecordsToCopy(tx, entity, null)) {
        read.push(...page.map(([id]) => Number(id.toString())));
      }
      ids.push(read);
    }
    return ids;
  });
}

test('records with a text, with identifiers or with both are in it, once and in order', async () => {
  const { sql } = database;
  // Far apart, and where pages meet: 2,000 records or 8,000 identifiers.
  const texts = [-5, 0, ...Array.from({ length: 4_500 }, (_, index) => 7 + index * 1_000)];
  const held = [-9, 1, ...Array.from({ length: 9_000 }, (_, index) => 7 + index * 700), 9e15];
  await sql`insert into person_records (id, company_id, record) select id, 0, 'a' from unnest(${texts}::bigint[]) id`;
  await sql`insert into company_records (id, record) select id, 'a' from unnest(${texts}::bigint[]) id`;
  await sql`insert into person_identifiers (value, kind, person_id) select 'v' || id, 1, id from unnest(${held}::bigint[]) id`;
  await sql`insert into company_identifiers (value, kind, company_id) select 'v' || id, 1, id from unnest(${held}::bigint[]) id`;
  // More than a page of one record.
  await sql`insert into person_identifiers (value, kind, person_id) select 'w' || n, 1, 7 from generate_series(1, 20000) n`;
  const expected = [...new Set([...texts, ...held])].sort((a, b) => a - b);
  expect(await readIds()).toEqual([expected, expected]);
});

test('no page is sorted on the disk, however large the graph is', async () => {
  const { sql, url } = database;
  // Some 20 MB of each, where a page has 1.4 MB and a sort may hold 4 MB.
  const text = 'x'.repeat(700);
  await sql`insert into person_records (id, company_id, record) select id, 0, ${text} from generate_series(1, 30000) id`;
  await sql`insert into person_briefs (id, brief) select id, ${text} from generate_series(1, 30000) id`;
  await sql`insert into person_identifiers (value, kind, person_id) select 'v' || id, 1, id from generate_series(1, 30000) id`;
  await sql`insert into company_records (id, record) select id, ${text} from generate_series(1, 30000) id`;
  await sql`analyze person_records, person_briefs, person_identifiers, company_records`;
  const name = new URL(url).pathname.slice(1);
  await sql`alter database ${sql(name)} set temp_file_limit = 0`;
  await sql`alter database ${sql(name)} set work_mem = '4MB'`;
  const limited = connect({ url, connections: 1 });
  try {
    const built = await buildCopy(limited, { folder });
    expect([built.people.count, built.companies.count]).toEqual([30_000, 30_000]);
  } finally {
    await limited.end();
  }
});

test('more identifiers than a table can have are refused before anything is read', async () => {
  const read = async function* (): AsyncGenerator<RecordToCopy[]> {
    yield* [];
    throw new Error('read');
  };
  const written = writeRecords(read(), {
    ...{ folder, entity: 'people', seed: 1, covered: new Float64Array(), furtherFrom: 0 },
    identifiers: 376_000_000,
  });
  await expect(written).rejects.toMatchObject({ code: 'graph_too_large', status: 422 });
});
