import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../core/lib/errors.ts';
import type { XlsxLimits } from './limits.ts';
import { SharedStrings } from './shared-strings.ts';
import {
  collect,
  csvOf,
  csvOfBytes,
  relationsOf,
  sheetOf,
  sourceOf,
  workbookParts,
  xlsxToCsv,
  zipOf,
} from './xlsx-fixtures.test-suite.ts';
import { XmlScanner } from './xml-scanner.ts';

const oneCell = '<row r="1"><c r="A1"><v>1</v></c></row>';

async function refusal(reading: Promise<string>): Promise<AppError> {
  const error = await reading.then(
    (csv) => new Error(`it was read: ${csv.slice(0, 100)}`),
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

async function expectRefusal(reading: Promise<string>, status: number, text: string) {
  const error = await refusal(reading);
  expect(error.status).toBe(status);
  expect(error.message).toContain(text);
}

function sheetRefusal(sheet: string, status: number, text: string, limits?: Partial<XlsxLimits>) {
  const parts = { 'xl/worksheets/sheet1.xml': sheet };
  return expectRefusal(csvOf({ parts }, limits), status, text);
}

/** A compound file whose directory, in sector 0, lists a stream of this name. */
function compoundFile(stream: string): Buffer {
  const bytes = Buffer.alloc(2048);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(bytes);
  bytes.writeUInt16LE(9, 30);
  bytes.writeUInt32LE(0, 48);
  bytes.write(stream, 640, 'utf16le');
  return bytes;
}

/** Sets two bytes at this offset of a member's directory entry. */
function patchDirectory(zip: Buffer, name: string, at: number, value: number): Buffer {
  const entry = zip.lastIndexOf(name) - 46;
  zip.writeUInt16LE(value, entry + at);
  return zip;
}

/** The archive with these extra fields at each entry of its directory (APPNOTE.TXT 4.3.12). */
function withExtraFields(zip: Buffer, fields: Buffer): Buffer {
  const end = zip.subarray(zip.length - 22);
  const pieces = [zip.subarray(0, end.readUInt32LE(16))];
  for (let at = end.readUInt32LE(16); at < zip.length - 22; ) {
    const entry = zip.subarray(at, at + 46 + zip.readUInt16LE(at + 28));
    at += entry.length;
    pieces.push(Buffer.from(entry), fields);
    pieces.at(-2)?.writeUInt16LE(fields.length, 30);
  }
  return Buffer.concat([...pieces, end]);
}

describe('other files', () => {
  it('are refused with 415, their kind and what to do', async () => {
    const { 'xl/workbook.xml': book = '', ...rest } = workbookParts({ rows: oneCell });
    const cases: [bytes: Buffer, detected: string][] = [
      [compoundFile('Workbook'), 'xls'],
      [compoundFile('EncryptedPackage'), 'encrypted'],
      [await zipOf({ mimetype: 'application/x', 'content.xml': '<a/>' }), 'ods'],
      [await zipOf({ 'a.txt': 'hello' }), 'zip'],
      [
        await zipOf({
          ...rest,
          '_rels/.rels': relationsOf(['rId1', 'officeDocument', 'xl/workbook.bin']),
          'xl/workbook.bin': book,
        }),
        'xlsb',
      ],
      [await zipOf({ ...rest, 'xl/workbook.xml': '<document/>' }), 'office'],
      [Buffer.from('name,email\r\n'), 'unknown'],
      [Buffer.alloc(0), 'unknown'],
    ];
    for (const [bytes, detected] of cases) {
      const error = await refusal(csvOfBytes(bytes));
      expect(error.extensions.detected).toBe(detected);
      expect(error.status).toBe(415);
      expect(error.message).toContain('CSV');
    }
  });

  it('are refused when a member is encrypted', async () => {
    const zip = await zipOf(workbookParts({ rows: oneCell }));
    const patched = patchDirectory(zip, 'xl/worksheets/sheet1.xml', 8, (1 << 3) | 1);
    await expectRefusal(csvOfBytes(patched), 415, 'encrypted');
  });
});

describe('lists that a small file makes long', () => {
  const many = (count: number, xml: string) => xml.repeat(count);

  it('are refused by the number of sheets, hidden ones included', async () => {
    const sheets = '<sheet name="One" r:id="rId1"/>';
    await expectRefusal(csvOf({ sheets: many(1001, sheets) }), 422, 'more than 1000 sheets');
    const hidden = '<sheet state="hidden" r:id="x"/>';
    await expectRefusal(csvOf({ sheets: many(1001, hidden) }), 422, 'more than 1000 sheets');
    expect(await csvOf({ rows: oneCell, sheets: many(1000, sheets) })).toBe('1\r\n');
  });

  it('are refused by the number of relations', async () => {
    const relations = many(10_001, '<Relationship Target="a"/>');
    const parts = { 'xl/_rels/workbook.xml.rels': `<Relationships>${relations}</Relationships>` };
    await expectRefusal(csvOf({ parts }), 422, 'more than 10000 relations');
  });

  it('are refused by the number of styles and of number formats', async () => {
    const stylesOf = (xml: string) => ({ 'xl/styles.xml': `<styleSheet>${xml}</styleSheet>` });
    const styles = stylesOf(`<cellXfs>${many(70_001, '<xf/>')}</cellXfs>`);
    await expectRefusal(csvOf({ parts: styles }), 422, 'more than 70000 styles');
    const formats = Array.from({ length: 300 }, (_, id) => `<numFmt numFmtId="${id}"/>`).join('');
    const codes = stylesOf(`<numFmts>${formats}</numFmts>`);
    await expectRefusal(csvOf({ parts: codes }, { stylesMax: 299 }), 422, '299 number formats');
  });
});

describe('zip bombs', () => {
  it('are refused by ratio before a byte is unzipped', async () => {
    const sheet = sheetOf(oneCell + ' '.repeat(2 * 1024 * 1024));
    await sheetRefusal(sheet, 422, '100 times');
  });

  it('are refused by the sum of the unzipped bytes', async () => {
    const sheet = sheetOf(oneCell);
    await sheetRefusal(sheet, 422, 'more than 1000 bytes', { unzippedBytesMax: 1000 });
  });

  it('are refused when the directory states fewer bytes than the member has', async () => {
    const zip = await zipOf(workbookParts({ rows: oneCell }));
    await expectRefusal(
      csvOfBytes(patchDirectory(zip, 'xl/worksheets/sheet1.xml', 24, 40)),
      422,
      'damaged',
    );
  });

  it('are refused by the number of members and the size of a part', async () => {
    await sheetRefusal(sheetOf(oneCell), 422, 'members', { entriesMax: 3 });
    await sheetRefusal(sheetOf(oneCell), 422, 'larger than', { partBytesMax: 100 });
  });

  it('are refused by the bytes of the directory, before most of it is read', async () => {
    const manyFields = Buffer.alloc(65_532);
    const names = Array.from({ length: 1000 }, (_, index) => `extra/${index}`);
    const members = Object.fromEntries(names.map((name) => [name, '']));
    const usual = await zipOf({ ...workbookParts({ rows: oneCell }), ...members });
    expect(await csvOfBytes(usual)).toBe('1\r\n');

    const bytes = withExtraFields(usual, manyFields);
    let bytesRead = 0;
    const source = sourceOf(bytes);
    const get: typeof source.get = (range) => {
      bytesRead += range.to - range.from;
      return source.get(range);
    };
    await expectRefusal(
      collect(xlsxToCsv({ ...source, get })).then(String),
      422,
      'directory takes more than 4194304 bytes',
    );
    expect(bytes.length).toBeGreaterThan(60 * 1024 * 1024);
    expect(bytesRead).toBeLessThan(6 * 1024 * 1024);
  });

  it('are refused when few cells refer to much text', async () => {
    const strings = `<si><t>${'abcdefghij'.repeat(3000)}</t></si>`;
    const rows = '<row><c t="s"><v>0</v></c></row>'.repeat(2000);
    const limits = { csvBytesMax: 1024 * 1024 };
    await expectRefusal(csvOf({ rows, strings }, limits), 413, 'of text');
  });
});

describe('hostile XML', () => {
  it('defines no entities and opens nothing external', async () => {
    const laughs = '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>';
    await sheetRefusal(laughs + sheetOf(oneCell), 422, 'document type');
    const outside = '<!DOCTYPE w SYSTEM "file:///etc/passwd">';
    await sheetRefusal(outside + sheetOf(oneCell), 422, 'document type');
    await sheetRefusal(sheetOf('<row><c t="str"><v>&b;</v></c></row>'), 422, 'entity');
  });

  it('is refused when it is not well-formed', async () => {
    const broken: [sheet: string, text: string][] = [
      [sheetOf(oneCell).slice(0, -5), 'ends early'],
      ['', 'ends early'],
      ['hello', 'outside'],
      [`${sheetOf(oneCell)}<b/>`, 'two root'],
      [sheetOf('<row></c>'), 'not open'],
      [sheetOf('<row r=1></row>'), 'unquoted'],
      [sheetOf('<row r="1"><c><v>a & b</v></c></row>'), 'stands alone'],
      [sheetOf('<row r="1"><c><v>&#0;</v></c></row>'), 'not a character'],
      [sheetOf('<a>'.repeat(300)), 'nested'],
      [sheetOf(`<row a="${'x'.repeat(200_000)}"/>`), 'too long'],
    ];
    for (const [sheet, text] of broken) await sheetRefusal(sheet, 422, text);
  });

  it('has each character of a long tag read once, in however many pieces it comes', async () => {
    const tag = `<x a="${'>'.repeat(60_000)}"/>`;
    const text = `<a>${tag}</a>`;
    const read = vi.spyOn(String.prototype, 'charCodeAt');
    const scanner = new XmlScanner({ open() {}, text() {}, close() {} });
    for (let at = 0; at < text.length; at += 100) scanner.write(text.slice(at, at + 100));
    scanner.end();
    const reads = read.mock.calls.length;
    read.mockRestore();
    expect(reads).toBeLessThan(3 * text.length);
  });

  it('skips comments and instructions, whatever they contain', async () => {
    const noise = `<!-- <c> ${'-'.repeat(20_000)} & --><?php </c> ?>`;
    const parts = { 'xl/worksheets/sheet1.xml': noise + sheetOf(noise + oneCell) + noise };
    expect(await csvOf({ parts })).toBe('1\r\n');
  });
});

describe('slow sheets', () => {
  it('are refused after their timeout', async () => {
    await sheetRefusal(sheetOf(oneCell), 422, 'more than 0 s', { convertMsMax: 0 });
  });
});

describe('few bytes of cells that refer to long texts', () => {
  const strings = `<si><t>${'x'.repeat(32_767)}</t></si>`;
  const cell = '<c r="A" t="s"><v>0</v></c>';

  it('cost one text for a cell, however often the row names one for it', async () => {
    const reads = vi.spyOn(SharedStrings.prototype, 'at');
    await csvOf({ strings, rows: `<row>${cell.repeat(5000)}</row>` });
    expect(reads.mock.calls).toEqual([[0]]);
    reads.mockRestore();
  });

  it('cost no more texts than a row may take', async () => {
    const reads = vi.spyOn(SharedStrings.prototype, 'at');
    const rows = `<row>${'<c t="s"><v>0</v></c>'.repeat(500)}</row>`;
    const reading = csvOf({ strings, rows }, { rowBytesMax: 100_000 });
    await expectRefusal(reading, 422, 'row 1 takes more than 100000 bytes');
    expect(reads.mock.calls).toHaveLength(4);
    reads.mockRestore();
  });

  it('leave the thread to others after each of a few dozen rows', async () => {
    const rows = `<row>${cell}</row>`.repeat(1000);
    const bytes = await zipOf(workbookParts({ strings, rows }));
    let rounds = 0;
    const count = () => {
      rounds++;
      round = setImmediate(count);
    };
    let round = setImmediate(count);
    let before = 0;
    let blocks = 0;
    for await (const block of xlsxToCsv(sourceOf(bytes))) {
      expect(block.length).toBeLessThan(50 * 32_767);
      if (blocks++ > 0) expect(rounds).toBeGreaterThan(before);
      before = rounds;
    }
    clearImmediate(round);
    expect(blocks).toBeGreaterThan(20);
  });
});

describe('sheets beyond the limits', () => {
  it('are refused with the row', async () => {
    const row = (r: number, cell = '<c><v>1</v></c>') => `<row r="${r}">${cell}</row>`;
    const long = `<c t="inlineStr"><is><t>${'x'.repeat(32_768)}</t></is></c>`;
    const cases: [rows: string, status: number, text: string, limits?: Partial<XlsxLimits>][] = [
      [row(1) + row(4), 413, 'more than 2 rows', { rowsMax: 3 }],
      [row(1, '<c r="C1"><v>1</v></c>'), 422, 'row 1 has more than 2', { columnsMax: 2 }],
      [row(1, long), 422, '32767 characters'],
      [row(1, '<c t="str"><v>abcdef</v></c>'), 422, 'row 1 takes', { rowBytesMax: 5 }],
      [row(2) + row(1), 422, 'out of order'],
      [row(1) + row(1), 422, 'out of order'],
      [row(1_048_577), 422, 'out of order'],
      [row(1, '<c r="1"/>'), 422, 'no column'],
      [row(1, '<c r="ZZZZ1"/>'), 422, 'no column'],
      [row(1, '<c t="s"><v>1</v></c>'), 422, 'missing text'],
      [row(1, '<c t="s"><v>0.5</v></c>'), 422, 'missing text'],
    ];
    for (const [rows, status, text, limits] of cases) {
      await expectRefusal(csvOf({ rows, strings: '<si/>' }, limits), status, text);
    }
  });

  it('are refused when the shared strings exceed their limit', async () => {
    const strings = '<si><t>hello</t></si>'.repeat(100);
    await expectRefusal(csvOf({ strings }, { sharedStringBytesMax: 1000 }), 422, 'texts take');
  });

  it('are refused when no sheet is visible', async () => {
    const sheets = '<sheet name="One" state="veryHidden" r:id="rId1"/>';
    await expectRefusal(csvOf({ sheets }), 422, 'no visible sheet');
  });

  it('are refused when the sheet is outside the archive', async () => {
    const relations = relationsOf(['rId1', 'worksheet', 'https://example.com/sheet.xml']);
    const parts = { 'xl/_rels/workbook.xml.rels': relations };
    await expectRefusal(csvOf({ parts }), 422, 'no visible sheet');
  });
});

describe('broken archives', () => {
  const whole = zipOf(workbookParts({ rows: oneCell, strings: '<si><t>some text</t></si>' }));

  it('end in an AppError or a list, wherever they are truncated or a byte is wrong', async () => {
    const bytes = await whole;
    const place = fc.nat({ max: bytes.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.nat({ max: 255 }), fc.boolean(), async (at, value, isCut) => {
        const broken = Buffer.from(isCut ? bytes.subarray(0, at) : bytes);
        if (!isCut) broken[at] = value;
        await csvOfBytes(broken).catch((error: unknown) => {
          expect(error).toBeInstanceOf(AppError);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('produce no list when a byte of the sheet is wrong', async () => {
    const bytes = Buffer.from(await whole);
    const at = bytes.indexOf('xl/worksheets/sheet1.xml') + 60;
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    expect((await refusal(csvOfBytes(bytes))).status).toBe(422);
  });
});

describe('the storage', () => {
  it('is not reported as a broken workbook when it fails', async () => {
    const bytes = await zipOf(workbookParts({ rows: oneCell }));
    const failure = new Error('the storage is away');
    const failing = [
      { ...sourceOf(bytes), get: () => Promise.reject(failure) },
      {
        ...sourceOf(bytes),
        getStream: () =>
          new Readable({
            read() {
              this.destroy(failure);
            },
          }),
      },
    ];
    for (const source of failing) {
      await expect(collect(xlsxToCsv(source))).rejects.toBe(failure);
    }
  });

  it('has its streams closed when the reader stops halfway', async () => {
    const text = Array.from({ length: 40_000 }, (_, index) => `<row><c><v>${index}</v></c></row>`);
    const bytes = await zipOf(workbookParts({ rows: text.join('') }));
    const streams: Readable[] = [];
    const source = {
      ...sourceOf(bytes),
      getStream: (range: { from: number; to: number }) => {
        const pieces = function* () {
          for (let at = range.from; at < range.to; at += 4096) {
            yield bytes.subarray(at, Math.min(range.to, at + 4096));
          }
        };
        const stream = Readable.from(pieces());
        streams.push(stream);
        return stream;
      },
    };
    for await (const _ of xlsxToCsv(source)) break;
    expect(streams.length).toBeGreaterThan(0);
    for (const stream of streams) expect(stream.destroyed).toBe(true);
  });
});
