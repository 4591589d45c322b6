import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readColumns, readRecord } from './cells.ts';
import { propertyRuns, wellFormedFile } from './random-csv.test-suite.ts';
import { scanRecords } from './record-scanner.ts';
import type { Delimiter } from './record-table.ts';

function readAll(bytes: Buffer, delimiter: Delimiter = ','): string[][] {
  const records = scanRecords(bytes, { delimiter });
  return Array.from({ length: records.count }, (_, index) =>
    readRecord(bytes, records.at(index), delimiter),
  );
}

function parsed(bytes: Buffer, delimiter: Delimiter = ','): string[][] {
  return parse(bytes, {
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
}

describe('cells', () => {
  it('equal those of csv-parse on any well-formed file', () => {
    fc.assert(
      fc.property(wellFormedFile, ({ bytes, delimiter, rows }) => {
        const cells = readAll(bytes, delimiter);
        expect(cells).toEqual(parsed(bytes, delimiter));
        expect(cells).toEqual(rows.map((row) => (row.length === 0 ? [''] : row)));
      }),
      { numRuns: propertyRuns * 3 },
    );
  });

  it('read by column equal those read by record; columns that a row lacks are empty', () => {
    const columns = fc.array(fc.nat({ max: 6 }), { maxLength: 4 });
    fc.assert(
      fc.property(wellFormedFile, columns, ({ bytes, delimiter }, wanted) => {
        const records = scanRecords(bytes, { delimiter });
        const rows = readAll(bytes, delimiter);
        const expected = wanted.map((column) => rows.map((row) => row[column] ?? ''));
        expect(readColumns(bytes, records, wanted, delimiter)).toEqual(expected);
      }),
      { numRuns: propertyRuns * 3 },
    );
  });

  it('are as many as the scanner’s fields', () => {
    fc.assert(
      fc.property(wellFormedFile, ({ bytes, delimiter }) => {
        const records = scanRecords(bytes, { delimiter });
        const fields = [...records.fields.subarray(0, records.count)];
        expect(readAll(bytes, delimiter).map((row) => row.length)).toEqual(fields);
      }),
      { numRuns: propertyRuns },
    );
  });

  it.each(['5" pipe,37°36\'37.8"N', '"a"b,c', '"a""b"c,d', '"a" ,"b"', 'x"",""y"z', ' "a", b'])(
    'of the malformed line %s equal those of csv-parse with relax_quotes',
    (line) => {
      expect(readAll(Buffer.from(line))).toEqual(parsed(Buffer.from(line)));
    },
  );

  it('of one damaged row are Windows-1252, of all other rows UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('Zoë,1\n'),
      Buffer.from([0x52, 0x65, 0x6e, 0xe9, 0x20, 0x80, 0x2c, 0x32, 10]),
      Buffer.from('漢,3\n'),
    ]);
    const records = scanRecords(bytes, { delimiter: ',' });
    expect(readColumns(bytes, records, [0, 1], ',')).toEqual([
      ['Zoë', 'René €', '漢'],
      ['1', '2', '3'],
    ]);
    expect(readAll(bytes)[1]).toEqual(['René €', '2']);
  });

  it('of an unreadable line are never identifiers, but can be shown', () => {
    const bytes = Buffer.from('a@b.c,"open\nd@e.f,x\ng\0,y\n');
    const records = scanRecords(bytes, { delimiter: ',' });
    expect(readColumns(bytes, records, [0], ',')).toEqual([['', 'd@e.f', '']]);
    expect(readAll(bytes)).toEqual([['a@b.c,"open'], ['d@e.f', 'x'], ['g\0', 'y']]);
  });

  it('can be read twice, in any order', () => {
    const bytes = Buffer.from('a,b\n');
    const records = scanRecords(bytes, { delimiter: ',' });
    expect(readColumns(bytes, records, [1, 0, 1], ',')).toEqual([['b'], ['a'], ['b']]);
    expect(readColumns(bytes, records, [], ',')).toEqual([]);
  });
});
