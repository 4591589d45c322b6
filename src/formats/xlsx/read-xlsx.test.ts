import { describe, expect, it } from 'vitest';
import { isXlsx } from './read-xlsx.ts';
import {
  csvOf,
  csvOfBytes,
  sheetOf,
  strict,
  type TestWorkbook,
  transitional,
  workbookParts,
  zipOf,
} from './xlsx-fixtures.test-suite.ts';

/** The one cell of a workbook. */
async function cellOf(cell: string, book: TestWorkbook = {}): Promise<string> {
  return (await csvOf({ ...book, rows: `<row r="1">${cell}</row>` })).replace(/\r\n$/, '');
}

describe('xlsxToCsv', () => {
  it('keeps every digit of a number and writes no exponent', async () => {
    const cases: [stored: string, text: string][] = [
      ['447911123456', '447911123456'],
      ['4.47911123456E+11', '447911123456'],
      ['12345678901234567890', '12345678901234567890'],
      ['1.2345678901234567E+19', '12345678901234567000'],
      ['0.1', '0.1'],
      ['1.1000000000000001', '1.1'],
      ['-2.4999999999999999E-8', '-0.000000025'],
      ['1E+21', '1000000000000000000000'],
      ['1.5E+2', '150'],
      ['0', '0'],
      ['no number', 'no number'],
    ];
    for (const [stored, text] of cases) {
      expect(await cellOf(`<c r="A1"><v>${stored}</v></c>`)).toBe(text);
    }
  });

  it('writes dates and times by their number format as ISO 8601', async () => {
    const cases: [format: string | number, stored: string, text: string][] = [
      [14, '45292', '2024-01-01'],
      [14, '45292.75', '2024-01-01T18:00:00'],
      [22, '44197.520833333336', '2021-01-01T12:30:00'],
      ['dd/mm/yyyy', '1', '1900-01-01'],
      ['dd/mm/yyyy', '59', '1900-02-28'],
      ['dd/mm/yyyy', '61', '1900-03-01'],
      ['dd/mm/yyyy', '60', '60'],
      ['dd/mm/yyyy', '2958465', '9999-12-31'],
      ['dd/mm/yyyy', '2958466', '2958466'],
      ['dd/mm/yyyy', '-1', '-1'],
      ['mmm', '45292', '2024-01-01'],
      ['h:mm', '0.5', '12:00:00'],
      ['h:mm:ss.000', '0.50000578703703702', '12:00:00.500'],
      ['h:mm', '45292.5', '2024-01-01T12:00:00'],
      ['[$-F800]dddd, mmmm dd, yyyy', '45292', '2024-01-01'],
      ['[h]:mm', '1.5', 'PT36H0M0S'],
      ['[h]:mm', '1E+20', '100000000000000000000'],
      ['[h]:mm', '1E+308', `1${'0'.repeat(308)}`],
      ['yyyy"-"mm\\-dd hh:mm', '45292', '2024-01-01T00:00:00'],
    ];
    for (const [format, stored, text] of cases) {
      expect(await cellOf(`<c s="1"><v>${stored}</v></c>`, { formats: [format] })).toBe(text);
    }
  });

  it('takes no other number as a date', async () => {
    const formats = ['0.00', '#,##0.00\\ "days"', '[Red]0;[Blue]-0', '0.00E+00', '@', '"d"0', '0%'];
    for (const format of formats) {
      expect(await cellOf('<c s="1"><v>45292</v></c>', { formats: [format] })).toBe('45292');
    }
  });

  it('shows the leading zeros that a format of zeros shows', async () => {
    const formats = ['00000000'];
    expect(await cellOf('<c s="1"><v>123456</v></c>', { formats })).toBe('00123456');
    expect(await cellOf('<c s="1"><v>1.5</v></c>', { formats })).toBe('1.5');
  });

  it('counts from 1904 when the workbook sets it', async () => {
    const book = { formats: ['yyyy-mm-dd'], workbookPr: '<workbookPr date1904="1"/>' };
    expect(await cellOf('<c s="1"><v>0</v></c>', book)).toBe('1904-01-01');
    expect(await cellOf('<c s="1"><v>43830</v></c>', book)).toBe('2024-01-01');
  });

  it('reads every type of cell', async () => {
    const strings =
      '<si><t>plain</t></si><si><r><t xml:space="preserve">rich </t></r><r><rPr/><t>text</t></r>' +
      '<rPh sb="0" eb="1"><t>spoken</t></rPh></si><si/>';
    const rows =
      '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="b"><v>1</v></c><c t="b"><v>0</v></c>' +
      '<c t="e"><v>#N/A</v></c><c t="str"><f>A1&amp;"x"</f><v>plainx</v></c><c><f>1+1</f><v>2</v></c>' +
      '<c t="inlineStr"><is><t>in</t><rPh><t>no</t></rPh></is></c><c t="s"><v>2</v></c>' +
      '<c t="d"><v>2024-01-01T10:00:00</v></c></row>';
    expect(await csvOf({ rows, strings })).toBe(
      'plain,rich text,TRUE,FALSE,#N/A,plainx,2,in,,2024-01-01T10:00:00\r\n',
    );
  });

  it('keeps long digits, leading zeros and text formulas unchanged', async () => {
    const rows =
      '<row><c t="inlineStr"><is><t>00123456789012345678</t></is></c>' +
      '<c t="inlineStr"><is><t>=1+1</t></is></c></row>';
    expect(await csvOf({ rows })).toBe('00123456789012345678,=1+1\r\n');
  });

  it('undoes escapes and entities, and quotes by RFC 4180', async () => {
    const strings =
      '<si><t>a&amp;b &#233; &#x1F600;</t></si><si><t>1,"2"</t></si><si><t>x_x000D_\ny</t></si>' +
      '<si><t>_x005F_x000D_</t></si><si><t><![CDATA[<&]]></t></si><si><t> two  spaces </t></si>';
    const cells = [0, 1, 2, 3, 4, 5].map((index) => `<c t="s"><v>${index}</v></c>`);
    expect(await csvOf({ rows: `<row>${cells.join('')}</row>`, strings })).toBe(
      'a&b é 😀,"1,""2""","x\r\ny",_x000D_,<&, two  spaces \r\n',
    );
  });

  it('keeps gaps of rows and columns, fills short rows, and drops the empty end', async () => {
    const rows =
      '<row r="2"><c r="B2"><v>1</v></c><c r="D2"><v>2</v></c><c r="E2" s="1"/></row>' +
      '<row r="4"><c r="A4"/></row><row r="5"><c r="A5"><v>3</v></c></row>' +
      '<row r="6"><c r="F6"><v>4</v></c></row><row r="9"><c r="A9" t="s"/></row><row r="900000"/>';
    expect(await csvOf({ rows })).toBe('\r\n,1,,2\r\n\r\n\r\n3,,,\r\n,,,,,4\r\n');
  });

  it('reads merged cells as their first cell', async () => {
    const sheet = sheetOf(
      '<row r="1"><c r="A1"><v>1</v></c><c r="B1"/><c r="C1"><v>2</v></c></row>',
    ).replace('</worksheet>', '<mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>');
    expect(await csvOf({ parts: { 'xl/worksheets/sheet1.xml': sheet } })).toBe('1,,2\r\n');
  });

  it('reads the first visible sheet of cells', async () => {
    const sheets =
      '<sheet name="Hidden" state="hidden" r:id="rId1"/><sheet name="Chart" r:id="rId5"/>' +
      '<sheet name="Shown" r:id="rId2"/>';
    const parts = { 'xl/worksheets/sheet2.xml': sheetOf('<row><c><v>2</v></c></row>') };
    expect(await csvOf({ sheets, parts })).toBe('2\r\n');
  });

  it('reads the strict namespace, prefixed names, UTF-16 and a byte order mark', async () => {
    const rows = '<row><c t="inlineStr"><is><t>é</t></is></c></row>';
    expect(await csvOf({ rows, namespace: strict })).toBe('é\r\n');
    const prefixed =
      `<x:worksheet xmlns:x="${transitional}" xmlns:o="other"><x:sheetData><x:row><x:c>` +
      '<x:v>1</x:v><o:v>9</o:v></x:c><c><v>8</v></c></x:row></x:sheetData></x:worksheet>';
    for (const bytes of [
      Buffer.from(prefixed),
      Buffer.from(`\ufeff${prefixed}`),
      Buffer.from(`\ufeff${prefixed}`, 'utf16le'),
      Buffer.from(prefixed, 'utf16le'),
      Buffer.from(`\ufeff${prefixed}`, 'utf16le').swap16(),
    ]) {
      expect(await csvOf({ parts: { 'xl/worksheets/sheet1.xml': bytes } })).toBe('1\r\n');
    }
  });

  it('reads nothing from an empty sheet and from one without shared strings and styles', async () => {
    expect(await csvOf({})).toBe('');
    const parts = workbookParts({ rows: '<row><c s="7"><v>1</v></c></row>' });
    delete parts['xl/styles.xml'];
    delete parts['xl/sharedStrings.xml'];
    expect(await csvOfBytes(await zipOf(parts))).toBe('1\r\n');
  });

  it('finds parts by names in another case', async () => {
    const { 'xl/worksheets/sheet1.xml': sheet = '', ...rest } = workbookParts({
      rows: '<row><c><v>1</v></c></row>',
    });
    expect(await csvOfBytes(await zipOf({ ...rest, 'XL/Worksheets/Sheet1.xml': sheet }))).toBe(
      '1\r\n',
    );
  });
});

describe('isXlsx', () => {
  it('recognises a zip archive by its first bytes', async () => {
    expect(isXlsx(await zipOf({ a: 'b' }))).toBe(true);
    expect(isXlsx(Buffer.from('PK,name\r\n'))).toBe(false);
    expect(isXlsx(Buffer.from('PK'))).toBe(false);
  });
});
