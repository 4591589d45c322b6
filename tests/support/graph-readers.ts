/** Compares what Postgres, the reader of single calls and a local copy answer about one graph, byte for byte. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { Database } from '../../src/core/db/client.ts';
import { enrichMany, type Outcome } from '../../src/core/enrich/enrich-many.ts';
import {
  type GraphReader,
  graphOfCalls,
  postgresGraph,
} from '../../src/core/enrich/graph-reader.ts';
import type { RecordBytes } from '../../src/core/enrich/match-data.ts';
import type { Hits, RowInput } from '../../src/core/enrich/outcomes.ts';
import { buildCopy, rollForward } from '../../src/core/graph-copy/build-copy.ts';
import { openLocalCopy } from '../../src/core/graph-copy/local-copy.ts';
import { readManifestText } from '../../src/core/graph-copy/manifest.ts';
import { readInProcess } from '../../src/core/graph-copy/read-in-process.ts';
import { must } from '../../src/core/lib/assert.ts';
import { createLog } from '../../src/core/log.ts';
import { type OperationName, operations } from '../../src/core/operations.ts';

export type GraphReaders = Awaited<ReturnType<typeof openReaders>>;

/** Opens all readers of the graph that `sql` sees. `build` makes a copy of it. */
export async function openReaders(sql: Database) {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-copy-'));
  const log = createLog('silent', 'test');
  const copy = openLocalCopy(folder, log);
  const copyOfCalls = openLocalCopy(folder, log, readInProcess);
  /** Expects that the copy reads, and that all readers read the same. Returns what was read. */
  const expectSame = async <Read>(read: (reader: GraphReader) => Promise<Read>): Promise<Read> => {
    const byPostgres = await read(postgresGraph(sql));
    for (const { read: readCopy } of [copy, copyOfCalls]) {
      const byCopy = await readCopy(sql, async (reader) => {
        const answer = await read(reader);
        reader.release();
        return answer;
      });
      expect(byCopy).toEqual(byPostgres);
    }
    expect(await read(graphOfCalls(sql))).toEqual(byPostgres);
    return byPostgres;
  };
  return {
    folder,
    copy,
    build: () => buildCopy(sql, { folder }),
    async rollForward() {
      const replaces = must(await readManifestText(folder), 'a manifest');
      // However much of the graph has changed.
      await rollForward(sql, { folder, replaces, shareMax: 100 });
    },
    expectSame,
    /** Expects the same outcomes, bytes and charges of rows, of people in both widths of records. */
    expectSameOutcomes(operation: OperationName, rows: readonly RowInput[]) {
      return expectSame(async (reader) => {
        const all: ShownOutcome[] = [];
        const widths = operations[operation].subject === 'person' ? [false, true] : [false];
        for (const brief of widths) {
          all.push(...shown(operation, await enrichMany(sql, operation, rows, { brief, reader })));
        }
        return all;
      });
    },
    async close() {
      copy.close();
      copyOfCalls.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A record as text, which may be read after the buffers are released. */
export function textOf(record: RecordBytes | null | undefined): string | null {
  return record?.bytes.toString('utf8', record.from, record.to) ?? null;
}

/** An outcome without buffers, and what it costs. */
export type ShownOutcome = ReturnType<typeof shown>[number];

function shown(operation: OperationName, outcomes: readonly Outcome[]) {
  return outcomes.map(({ match, ...outcome }) => ({
    ...outcome,
    credits: outcome.status === 'matched' ? operations[operation].price : 0,
    person: textOf(match?.person),
    company: textOf(match?.company),
    directors: match?.directors,
    periods: match?.periods,
  }));
}

/** The hits of each line, in their order. */
export function hitsOf(hits: Hits, lines: number): [code: number, id: number][][] {
  return Array.from({ length: lines }, (_, line) => {
    const found: [number, number][] = [];
    hits.forEach(line, (code, id) => found.push([code, id]));
    return found;
  });
}

/** The values that a look-up of these rows has, in its order. */
export function valuesOf(rows: readonly RowInput[]): string[] {
  return rows.flatMap(({ identifiers }) => identifiers.flatMap(({ values }) => values));
}
