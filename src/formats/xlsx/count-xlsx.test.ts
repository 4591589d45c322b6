import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeCell } from '../csv/quote-cell.ts';
import type { Delimiter } from '../csv/record-table.ts';
import { type CsvRow, sheetBytesMax } from './count-xlsx.ts';
import { xlsxLimits } from './limits.ts';
import { rowsToXlsx } from './write-xlsx.ts';
import { collect, sourceOf } from './xlsx-fixtures.test-suite.ts';
import { openZipParts } from './zip-parts.ts';

const csvRow = (cells: string[], delimiter: Delimiter = ','): CsvRow => ({
  text: Buffer.from(
    cells.map((cell) => encodeCell(cell, { delimiter, safe: false })).join(delimiter),
  ),
  cells,
  blankLines: 0,
});

async function* each(rows: Iterable<CsvRow>): AsyncGenerator<CsvRow> {
  yield* rows;
}

/** The bytes of the sheet as it is written. */
async function sheetBytes(rows: readonly CsvRow[]): Promise<number> {
  const sheet = rows.flatMap(({ cells, blankLines }) => [
    ...(blankLines > 0 ? [blankLines] : []),
    cells.map((text) => ({ text, typed: false })),
  ]);
  const bytes = await collect(rowsToXlsx(sheet));
  const parts = await openZipParts(sourceOf(bytes), xlsxLimits, () => {});
  return (await collect(parts.read('xl/worksheets/sheet1.xml'))).length;
}

describe('the bound of a sheet', () => {
  test.each([',', ';', '\t', '|'] as const)(
    'is never below what is written of rows with %j, whatever they contain',
    async (delimiter) => {
      const odd = [
        '_x000D_',
        '_x1e5a',
        '\u0001',
        '\uffff',
        '\u00a0',
        '\u3000',
        '<&>',
        '_',
        '\u2028',
        'é',
        '😀',
      ];
      const piece = fc.constantFrom(...odd, 'a', ' ', '\t', '\n', '\r', '"', ',', ';', '|');
      const cell = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
      const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 30 }), { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(rows, fc.nat({ max: 1_000_000 }), async (written, blankLines) => {
          const all = written.map((cells) => csvRow(cells, delimiter));
          const [first] = all;
          if (first !== undefined) first.blankLines = blankLines;
          const bound = await sheetBytesMax(each(all), delimiter);
          expect(bound).toBeGreaterThanOrEqual(await sheetBytes(all));
        }),
        { numRuns: 200 },
      );
    },
  );

  test('is at most a tenth above it for rows of ordinary texts, and reads none of their cells', async () => {
    const rows = Array.from({ length: 2000 }, (_, row) => {
      const { text, cells } = csvRow([
        `Zoë Müller ${row}`,
        `zoe_mueller${row}@mail.example`,
        '',
        `${row} & Sons, Ltd`,
        ...Array.from({ length: 40 }, (__, column) =>
          column % 3 === 0 ? 'Software Engineer' : '',
        ),
      ]);
      return { text, cells, blankLines: 0 };
    });
    const written = await sheetBytes(rows);
    const unread = rows.map(({ text }) => ({
      text,
      blankLines: 0,
      get cells(): string[] {
        throw new Error('cells are read');
      },
    }));
    const bound = await sheetBytesMax(each(unread), ',');
    expect(bound).toBeGreaterThanOrEqual(written);
    expect(bound).toBeLessThan(written * 1.1);
  });

  test('has the bytes of a text that is not UTF-8 as its cells have them', async () => {
    const text = Buffer.from('\xe9'.repeat(20), 'latin1');
    const rows = [{ text, cells: ['é'.repeat(20)], blankLines: 0 }];
    expect(await sheetBytesMax(each(rows), ',')).toBeGreaterThanOrEqual(await sheetBytes(rows));
  });

  test.each<[string, () => Iterable<CsvRow>]>([
    ['the cell B2 has', () => [csvRow(['a']), csvRow(['a', 'x'.repeat(32_768)])]],
    ['row 1 has more than 16384 columns', () => [csvRow(Array.from({ length: 16_385 }, () => ''))]],
    ['it has more than 1048576 rows', () => [{ ...csvRow(['a']), blankLines: 1_048_576 }]],
  ])('refuses what a sheet cannot have: %s', async (message, rows) => {
    await expect(sheetBytesMax(each(rows()), ',')).rejects.toMatchObject({
      status: 422,
      code: 'not_as_xlsx',
      message: expect.stringContaining(message),
    });
  });

  test('has no other answer for the longest cells, long rows and the last row of a sheet', async () => {
    const long = csvRow(['x'.repeat(32_767), 'é'.repeat(32_767)]);
    const rows = [long, { ...csvRow(['a']), blankLines: 1_048_574 }];
    expect(await sheetBytesMax(each(rows), ',')).toBeGreaterThanOrEqual(await sheetBytes(rows));
  });
});
