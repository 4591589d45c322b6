/** Writes a graph for a test as users do: through the import, from JSON lines. */
import { Readable, Writable } from 'node:stream';
import { expect } from 'vitest';
import type { Database } from '../../src/core/db/client.ts';
import { type ImportEntity, importRecords } from '../../src/core/graph/sources/import-records.ts';

/** The time of records without one. */
const importedAt = new Date('2024-01-02T03:04:05Z');

type JsonRecord = Record<string, unknown>;

/** Imports records in the given order (companies before officers); none may be rejected. */
export async function importGraph(
  sql: Database,
  records: Partial<Record<ImportEntity, JsonRecord[]>>,
): Promise<void> {
  for (const [entity, list] of Object.entries(records)) {
    const lines = list.map((record) => `${JSON.stringify(record)}\n`);
    const report = await importRecords(sql, {
      entity: entity as ImportEntity,
      input: Readable.from(lines, { objectMode: false }),
      format: 'jsonl',
      rejects: new Writable({ write: (_chunk, _encoding, done) => done() }),
      importedAt,
    });
    expect(report).toMatchObject({ read: list.length, rejected: 0, unknownFields: {} });
  }
}
