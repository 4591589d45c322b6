/**
 * Filling the graph: `enrich import persons` of a JSONL file, into a database that has the companies and the
 * words, compared with COPY of the finished rows into copies of every table that the import fills, with the
 * same indexes. COPY reads no JSON, checks and compares nothing, and renders no record.
 */
import { createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../src/core/db/client.ts';
import { personFields } from '../src/core/graph/fields.ts';
import { recordToJson } from '../src/core/graph/record.ts';
import { assert } from '../src/core/lib/assert.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { type ImportTarget, openTarget, runBesideCopy, runImport } from './beside-copy.ts';
import {
  copyFromFiles,
  copyToFiles,
  countTable,
  emptyImported,
  filledByImport,
  makeCopies,
  nameLookups,
  neededByImport,
  readStoredPersons,
} from './import.sql.ts';

export interface ImportOptions {
  persons: number;
  runs: number;
  say: (line: string) => void;
}

/** Measures both. Throws when a table differs in any row, or a record is rejected. */
export async function measureImport(
  stack: BenchStack,
  { persons, runs, say }: ImportOptions,
): Promise<BenchResult[]> {
  const people = path.join(stack.folder, 'people.jsonl');
  if ((await stat(people).catch(() => null)) === null) {
    say(`Writing ${persons} people as JSON lines, once ...`);
    await writePeople(stack.sql, people);
  }
  await using target = await openTarget(stack, 'import');
  const { sql, folder } = target;
  await copyToFiles(stack.sql, [...neededByImport, ...filledByImport], folder);
  await copyFromFiles(sql, 'graph', neededByImport, folder);
  await nameLookups(sql);
  await makeCopies(sql, filledByImport);
  const counts: Counts = {};
  const results = await runBesideCopy(stack, {
    name: 'import',
    runs,
    details: { persons, bytes: (await stat(people)).size, tables: counts },
    empty: () => emptyImported(sql),
    ours: {
      run: () => importPeople(target, people, persons),
      check: () => keepCounts(sql, counts, 'graph'),
    },
    copy: {
      run: () => copyFromFiles(sql, 'copied', filledByImport, folder),
      check: () => keepCounts(sql, counts, 'copied'),
    },
  });
  for (const table of filledByImport) {
    const { graph, copied } = counts[table] ?? {};
    assert(graph !== undefined && graph === copied, `${table}: ${graph} is not ${copied}`);
  }
  return results;
}

/** The contents of each full table by schema: rows and a sum over all cells. */
type Counts = Record<string, { graph?: string; copied?: string }>;

async function keepCounts(
  sql: Database,
  counts: Counts,
  schema: 'graph' | 'copied',
): Promise<void> {
  for (const table of filledByImport) {
    const found = await countTable(sql, `${schema}.${table}`);
    counts[table] = { ...counts[table], [schema]: found };
  }
}

async function importPeople(target: ImportTarget, people: string, persons: number) {
  const { inserted } = await runImport<{ inserted: number }>(target, ['persons', people]);
  assert(inserted === persons, `${inserted} of ${persons} people are new`);
}

/** The stored people in the response format, which an import reads. */
async function writePeople(sql: Database, file: string): Promise<void> {
  async function* lines() {
    for await (const rows of readStoredPersons(sql)) {
      let text = '';
      for (const { record, former } of rows) {
        const person = recordToJson(personFields, record);
        const meta = former === null ? '' : `,"_meta":${JSON.stringify({ twitterFormer: former })}`;
        text += `${person.slice(0, -1)}${meta}}\n`;
      }
      yield text;
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(`${file}.part`));
  await rename(`${file}.part`, file);
}
