/** Files of a source, made of records and rows that a test gives. */
import { Writable } from 'node:stream';
import type { SourceInput } from '../../src/core/graph/sources/import-source.ts';
import type { SourceRecord, SourceRow } from '../../src/core/graph/sources/source-record.ts';

/** Returns an input of `importSource`: unless told otherwise, files of changes of the source `partners` of 2026-01-01. */
export function sourceInput(given: Pick<SourceInput, 'rows'> & Partial<SourceInput>): SourceInput {
  const source = given.source ?? 'partners';
  return {
    source,
    files: [`${source}.csv`],
    asOf: '2026-01-01',
    snapshotOf: null,
    sha256: () => Buffer.alloc(32),
    ...given,
  };
}

/** The rows of a file. */
export function rowsOf(...rows: readonly SourceRow[]): SourceInput['rows'] {
  return async function* () {
    yield rows;
  };
}

/** The rows of files with a header row: each file is given by its records, each of which has a row. */
export function filesOf(...files: readonly (readonly SourceRecord[])[]): SourceInput['rows'] {
  return async function* () {
    for (const records of files) {
      yield records.map((record, index) => ({ line: index + 2, records: [record] }));
    }
  };
}

/** Takes rejected rows and forgets them. */
export function noRejects(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
