import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { xlsxLimits } from './limits.ts';
import { certainlyFitsXlsx, rowsToXlsx, type XlsxCell } from './write-xlsx.ts';
import { collect, csvOfBytes, sourceOf } from './xlsx-fixtures.test-suite.ts';
import { openZipParts } from './zip-parts.ts';

const text = (value: string): XlsxCell => ({ text: value, typed: false });
const typed = (value: string): XlsxCell => ({ text: value, typed: true });

async function sheetXmlOf(rows: (XlsxCell[] | number)[]): Promise<string> {
  const bytes = await collect(rowsToXlsx(rows));
  const parts = await openZipParts(sourceOf(bytes), xlsxLimits, () => {});
  return (await collect(parts.read('xl/worksheets/sheet1.xml'))).toString();
}

describe('rowsToXlsx', () => {
  it('is read back as the same rows, whatever the cells contain', async () => {
    const piece = fc.constantFrom('a', 'é', '😀', ',', '"', '\n', '\r', ' ', '\t', '<', '&', '_x');
    const odd = fc.constantFrom(
      '_x000D_',
      '_x1e5a',
      '=1+1',
      '007',
      '-0',
      '0.10',
      '1e5',
      ']]>',
      '\u0001',
    );
    const part = fc.oneof(piece, odd, fc.string({ unit: 'grapheme', maxLength: 5 }));
    const number = fc.oneof(fc.double({ noNaN: true }), fc.integer()).map(String);
    const content = fc.oneof(
      fc.array(part, { maxLength: 4 }).map((parts) => parts.join('').replaceAll('\0', '')),
      number,
    );
    const cell = fc.record({ text: content, typed: fc.boolean() });
    // A last cell that is never empty keeps the width of all rows, and no row is blank.
    const row = fc.tuple(cell, cell, cell).map((cells) => [...cells, text('end')]);
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), async (rows) => {
        const csv = await csvOfBytes(await collect(rowsToXlsx(rows)));
        expect(parse(csv, { record_delimiter: '\r\n' })).toEqual(
          rows.map((cells) => cells.map((each) => each.text)),
        );
      }),
      { numRuns: 100 },
    );
  });

  it('keeps text that looks escaped only with the next escaped character', async () => {
    const csv = await csvOfBytes(
      await collect(rowsToXlsx([['_x1e5a\u0001', '_x1e5a\r', '_x1e5a_x0001_'].map(text)])),
    );
    expect(parse(csv, { record_delimiter: '\r\n' })).toEqual([
      ['_x1e5a\u0001', '_x1e5a\r', '_x1e5a_x0001_'],
    ]);
  });

  it('writes only typed numbers that lose nothing as numbers', async () => {
    const numbers = ['0', '12', '-3.5', '123456789012345', '0.001'];
    const texts = [
      '+447911123456',
      '007',
      '0.10',
      '1234567890123456',
      '-0',
      '1e5',
      '51.5,-0.1',
      '.5',
    ];
    const xml = await sheetXmlOf([[...numbers, ...texts].map(typed), numbers.map(text)]);
    expect(xml.match(/<c r="\w+"><v>/g)).toHaveLength(numbers.length);
    expect(xml.match(/t="inlineStr"/g)).toHaveLength(texts.length + numbers.length);
  });

  it('writes text that looks like a formula as text, never as a formula', async () => {
    const xml = await sheetXmlOf([['=1+1', '@SUM(A1)', '+1', '-1'].map(text)]);
    expect(xml).not.toContain('<f>');
    expect(xml.match(/s="1" t="inlineStr"/g)).toHaveLength(4);
    expect(xml).toContain('<t>=1+1</t>');
  });

  it('names columns and rows as Excel does, and omits empty ones', async () => {
    const cells = Array.from({ length: 704 }, () => text(''));
    cells[25] = text('z');
    cells[26] = text('aa');
    cells[702] = text('aaa');
    const xml = await sheetXmlOf([[], cells]);
    expect([...xml.matchAll(/<c r="(\w+)"/g)].map(([, name]) => name)).toEqual([
      'Z2',
      'AA2',
      'AAA2',
    ]);
    expect(xml).not.toContain('<row r="1">');
  });

  it('counts empty rows without a step for each', async () => {
    const xml = await sheetXmlOf([[text('a')], 1_000_000, [text('b')]]);
    expect([...xml.matchAll(/<c r="(\w+)"/g)].map(([, name]) => name)).toEqual(['A1', 'A1000002']);
  });

  it('writes the same bytes for the same rows', async () => {
    const write = () => collect(rowsToXlsx([[text('a')]]));
    expect(await write()).toEqual(await write());
  });

  it('refuses what exceeds Excel’s limits and says what to do', async () => {
    const tooMany = function* () {
      const row = [text('')];
      for (let count = 0; count < 1_048_577; count++) yield row;
    };
    const cases: [rows: Iterable<XlsxCell[] | number>, message: string][] = [
      [[[text('x'.repeat(32_768))]], 'the cell A1'],
      [[Array.from({ length: 16_385 }, () => text('x'))], '16384 columns'],
      [tooMany(), '1048576 rows'],
      [[[text('a')], 1_048_576], '1048576 rows'],
    ];
    for (const [rows, message] of cases) {
      await expect(collect(rowsToXlsx(rows))).rejects.toMatchObject({
        status: 422,
        code: 'not_as_xlsx',
        message: expect.stringMatching(new RegExp(`${message}.*format=csv`)),
      });
    }
  });

  it('passes on errors of its rows', async () => {
    const failure = new Error('the rows are away');
    const rows = async function* () {
      yield [text('a')];
      throw failure;
    };
    await expect(collect(rowsToXlsx(rows()))).rejects.toBe(failure);
  });

  it('is opened by LibreOffice with every text and number as written', async ({ skip }) => {
    if (!isInstalled('soffice')) {
      process.stdout.write('skipped: LibreOffice (soffice) is not installed\n');
      skip();
    }
    const rows = [
      ['name', 'phone', 'id', 'note'].map(text),
      [text('Zoë & Co'), typed('+447911123456'), text('00123456'), text('=1+1')],
      [text(' two\nlines '), typed('12.5'), text('447911123456'), text('_x000D_')],
    ];
    const folder = await mkdtemp(path.join(tmpdir(), 'xlsx-'));
    try {
      await writeFile(path.join(folder, 'list.xlsx'), await collect(rowsToXlsx(rows)));
      const profile = `-env:UserInstallation=file://${folder}/profile`;
      const csvFilter = 'csv:Text - txt - csv (StarCalc):44,34,76,1';
      const options = [profile, '--headless', '--convert-to', csvFilter, '--outdir', folder];
      await promisify(execFile)('soffice', [...options, path.join(folder, 'list.xlsx')]);
      const csv = await readFile(path.join(folder, 'list.csv'), 'utf8');
      expect(parse(csv)).toEqual(rows.map((cells) => cells.map((each) => each.text)));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);
});

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a result of which only the size is known', () => {
  const small = { rows: 10, columns: 10, bytes: 1000, cellBytesMax: 100 };

  it('fits when no cell, row or column can be too many', () => {
    expect(certainlyFitsXlsx(small)).toBe(true);
    expect(certainlyFitsXlsx({ ...small, rows: 1_048_576, cellBytesMax: 32_767 })).toBe(true);
  });

  it.each([
    ['a row more than a sheet has', { rows: 1_048_577 }],
    ['a column more than a sheet has', { columns: 16_385 }],
    ['a cell that may be too long', { cellBytesMax: 32_768 }],
    ['bytes that may become 4 GiB of XML', { bytes: 620_000_000 }],
    ['cells that may become 4 GiB of XML', { rows: 1_000_000, columns: 60 }],
  ])('is scanned for %s', (_case, change) => {
    expect(certainlyFitsXlsx({ ...small, ...change })).toBe(false);
  });

  it('is refused beyond a GiB', () => {
    const refusal = expect.objectContaining({ code: 'not_as_xlsx', status: 422 });
    expect(() => certainlyFitsXlsx({ ...small, bytes: 1024 ** 3 + 1 })).toThrow(refusal);
  });
});
