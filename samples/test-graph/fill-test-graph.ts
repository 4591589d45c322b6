/**
 * Fills the graph of test keys once: a thousand synthetic people, the same on every machine, and the records of
 * the magic identifiers. Safe for many concurrent processes and after a crash halfway.
 */
import { Readable, Writable } from 'node:stream';
import { connect, type Database } from '../../src/core/db/client.ts';
import { magicIdentifier } from '../../src/core/enrich/magic-identifiers.ts';
import { type ImportEntity, importRecords } from '../../src/core/graph/sources/import-records.ts';
import { assert } from '../../src/core/lib/assert.ts';
import { AppError } from '../../src/core/lib/errors.ts';
import { isAnySuppressed, suppress } from '../../src/core/suppression/suppress.ts';
import { generateGraph } from '../generate/generate-graph.ts';
import { magicRecords, SUPPRESSED_PERSON_ID } from './magic-records.ts';

const syntheticGraph = { persons: 1000, companies: 200, seed: 20_240_101 } as const;

/** Fills the test graph of the database at this address unless it is filled. */
export async function fillTestGraphAt(databaseUrl: string): Promise<void> {
  const testSql = connect({ url: databaseUrl, connections: 2, graph: 'graph_test' });
  try {
    await fillTestGraph(testSql);
  } finally {
    await testSql.end();
  }
}

/** Fills the graph that `testSql` sees unless it is filled. */
export async function fillTestGraph(testSql: Database): Promise<void> {
  // The opt-out is written last: when it exists, everything does.
  if (await isAnySuppressed(testSql, [SUPPRESSED_PERSON_ID])) return;
  await generateOnce(testSql);
  for (const [entity, records] of magicRecords) await importAll(testSql, entity, records);
  await suppress(testSql, magicIdentifier('suppressed', 'email'));
}

async function generateOnce(testSql: Database): Promise<void> {
  try {
    await generateGraph(testSql, syntheticGraph);
  } catch (error) {
    // Another process was faster, or this is the second attempt.
    if (!(error instanceof AppError) || error.code !== 'graph_not_empty') throw error;
  }
}

async function importAll(
  testSql: Database,
  entity: ImportEntity,
  records: readonly object[],
): Promise<void> {
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  const report = await importRecords(testSql, {
    entity,
    input: Readable.from(lines, { objectMode: false }),
    format: 'jsonl',
    rejects: new Writable({ write: (_chunk, _encoding, done) => done() }),
    importedAt: new Date('2024-01-01T00:00:00Z'),
  });
  assert(report.rejected === 0, `the ${entity} of test mode can be imported`);
}
