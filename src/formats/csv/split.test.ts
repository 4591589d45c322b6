import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../core/lib/errors.ts';
import { junkBytes, listRecords, propertyRuns } from './random-csv.test-suite.ts';
import { scanRecords } from './record-scanner.ts';
import { COLUMNS_MAX, type SplitOptions, splitIntoChunks } from './split.ts';

const plain = { delimiter: ',', chunkRowsMax: 100 } as const;
const split = (text: string | Buffer, options: Partial<SplitOptions> = {}) =>
  splitIntoChunks([Buffer.from(text)], { ...plain, ...options });

async function refusal(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AppError);
  const { status, code, errors } = error as AppError;
  return { status, code, line: errors[0]?.line };
}

describe('splitIntoChunks', () => {
  it('starts chunks at records or the blank lines before them', async () => {
    const text = 'a\nb\n\n\nc\n"d\nd"\n\n';
    const { chunks } = await split(text, { chunkRowsMax: 2, firstLine: 2, firstByte: 100 });
    expect(chunks).toEqual([
      { byteFrom: 100, byteTo: 104, firstRow: 1, firstLine: 2, rows: 2, crc32: crc32('a\nb\n') },
      {
        ...{ byteFrom: 104, byteTo: 115, firstRow: 3, firstLine: 4, rows: 2 },
        crc32: crc32('\n\nc\n"d\nd"\n\n'),
      },
    ]);
  });

  it('counts rows, lines, width, newline, blank lines and what is unreadable', async () => {
    const bytes = Buffer.from('a,b\r\n\r\nx,"open\r\n1,2,3\ny\0\r\n\xe9\r\n', 'latin1');
    const { totals } = await split(bytes, { firstLine: 2 });
    expect(totals).toEqual({
      rows: 5,
      lines: 6,
      bytes: bytes.length,
      longestCell: 0,
      widestFieldCount: 3,
      dominantNewline: '\r\n',
      blankLines: 1,
      unreadable: {
        count: 2,
        firstLines: [
          { line: 4, reason: 'open_quote' },
          { line: 6, reason: 'nul_byte' },
        ],
      },
      invalidUtf8: { count: 1, firstLines: [7] },
    });
  });

  it('returns no chunk for a file without records', async () => {
    for (const text of ['', '\n\n']) {
      const { chunks, totals } = await split(text);
      expect(chunks).toEqual([]);
      expect(totals.rows).toBe(0);
      expect(totals.dominantNewline).toBeNull();
      expect(totals.lines).toBe(text.length);
    }
  });

  it('closes a chunk before it exceeds the limit of bytes', async () => {
    const { chunks } = await split('aaaa\nbbbb\ncccc\n', { chunkBytesMax: 10 });
    expect(chunks.map(({ byteFrom, byteTo }) => byteTo - byteFrom)).toEqual([10, 5]);
  });

  it('refuses the first excess row with its line', async () => {
    const result = refusal(split('a\nb\n\nc\n', { rowsMax: 2 }));
    expect(await result).toEqual({ status: 413, code: 'too_many_rows', line: 4 });
    expect((await split('a\nb\n\n', { rowsMax: 2 })).totals.rows).toBe(2);
  });

  it('counts a record with too many columns as one that cannot be read, with its line', async () => {
    const wide = Array.from({ length: COLUMNS_MAX + 1 }, () => '"x"').join(',');
    const { totals } = await split(`a,b\n${wide}\n${wide.slice(4)}\nc,d`);
    expect(totals).toMatchObject({ rows: 4, widestFieldCount: COLUMNS_MAX });
    const firstLines = [{ line: 2, reason: 'too_many_columns' }];
    expect(totals.unreadable).toEqual({ count: 1, firstLines });
  });

  it('refuses a line, or blank lines, that exceed a chunk', async () => {
    const limits = { chunkBytesMax: 8, recordBytesMax: 4, stepBytesMin: 1 };
    const refused = { status: 422, code: 'unreadable_csv', line: 2 };
    expect(await refusal(split('a\n123456789\nb\n', limits))).toEqual(refused);
    expect(await refusal(split('a\n123456789', limits))).toEqual(refused);
    expect(await refusal(split('a\n\n\n\n\n\n\n\n\n\n\nb', limits))).toEqual(refused);
    expect(await refusal(split('a\n\n\n\n\n\n\n\n\n\n\n', limits))).toEqual(refused);
    expect((await split('a\n12345678', limits)).totals.rows).toBe(2);
  });

  it('stops at an endless line without holding it', async () => {
    let fed = 0;
    function* endless() {
      for (; fed < 1_000_000_000; fed += 65_536) yield Buffer.alloc(65_536, 'x');
    }
    const result = refusal(splitIntoChunks(endless(), plain));
    expect(await result).toEqual({ status: 422, code: 'unreadable_csv', line: 1 });
    expect(fed).toBeLessThan(5_000_000);
  });

  it('returns chunks that, scanned alone, contain all records, in order, with their lines', async () => {
    const feeds = fc.integer({ min: 1, max: 20 });
    await fc.assert(
      fc.asyncProperty(junkBytes, feeds, feeds, async (bytes, feed, chunkRowsMax) => {
        const options = { delimiter: ',', recordBytesMax: 12, stepBytesMin: 1 } as const;
        const source = Array.from({ length: Math.ceil(bytes.length / feed) }, (_, index) =>
          bytes.subarray(index * feed, (index + 1) * feed),
        );
        const { chunks, totals } = await splitIntoChunks(source, { ...options, chunkRowsMax });
        const all = listRecords(scanRecords(bytes, options));
        const again = chunks.flatMap(({ byteFrom, byteTo, firstLine, rows, crc32: sum }) => {
          const piece = bytes.subarray(byteFrom, byteTo);
          expect(sum).toBe(crc32(piece));
          const records = listRecords(scanRecords(piece, { ...options, firstLine }));
          expect(records).toHaveLength(rows);
          return records.map((r) => ({ ...r, start: r.start + byteFrom, end: r.end + byteFrom }));
        });
        expect(again).toEqual(all);
        expect(totals.rows).toBe(all.length);
        expect(chunks.map(({ firstRow }) => firstRow)).toEqual(
          chunks.map((_, index) => index * chunkRowsMax + 1),
        );
        if (chunks.length > 0) {
          expect(chunks[0]?.byteFrom).toBe(0);
          expect(chunks.at(-1)?.byteTo).toBe(bytes.length);
        }
      }),
      { numRuns: propertyRuns * 3 },
    );
  });
});

it('the longest cell is known when it may exceed a workbook’s maximum', async () => {
  const longest = async (cells: string) => (await split(`${cells}\n`)).totals.longestCell;
  expect(await longest(`a,${'x'.repeat(32_768)}`)).toBe(32_768);
  expect(await longest(`a,"${'""'.repeat(20_000)}"`)).toBe(20_000);
  expect(await longest(`a,${'é'.repeat(20_000)}`)).toBe(20_000);
  expect(await longest('a,b')).toBe(0);
});
