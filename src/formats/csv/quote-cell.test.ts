import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeCell, looksTyped } from './quote-cell.ts';
import { anyDelimiter, propertyRuns } from './random-csv.test-suite.ts';

const safe = { delimiter: ',', safe: true } as const;
const plain = { delimiter: ',', safe: false } as const;

describe('encodeCell', () => {
  it('is read back by csv-parse unchanged', () => {
    const cells = fc.array(fc.string({ unit: 'binary', maxLength: 8 }), {
      minLength: 2,
      maxLength: 5,
    });
    fc.assert(
      fc.property(cells, anyDelimiter, (row, delimiter) => {
        const line = row.map((cell) => encodeCell(cell, { delimiter, safe: false }));
        const text = line.join(delimiter);
        const record_delimiter = ['\r\n', '\n', '\r'];
        expect(parse(text, { delimiter, record_delimiter })).toEqual([row]);
      }),
      { numRuns: propertyRuns },
    );
  });

  it('quotes the delimiter of the file, quotes and newlines, and nothing else', () => {
    expect(encodeCell('a,b', plain)).toBe('"a,b"');
    expect(encodeCell('a;b|c\td', plain)).toBe('a;b|c\td');
    expect(encodeCell('a|b', { delimiter: '|', safe: false })).toBe('"a|b"');
    expect(encodeCell('a\tb', { delimiter: '\t', safe: false })).toBe('"a\tb"');
    expect(encodeCell('say "hi"', plain)).toBe('"say ""hi"""');
    expect(encodeCell('a\rb', plain)).toBe('"a\rb"');
    expect(encodeCell(' spaces ', plain)).toBe(' spaces ');
    expect(encodeCell('', plain)).toBe('');
  });

  it.each(['=', '+', '-', '@', '\t', '\r', '\n', '\0', '＝', '＋', '－', '＠'])(
    'csv-safe puts an apostrophe before a text that begins with %j, even after spaces',
    (start) => {
      for (const text of [`${start}SUM(1)`, `  ${start}x`, `\u00a0${start}x`, start]) {
        expect(encodeCell(text, safe)).toMatch(/^"?'/);
        expect(encodeCell(text, plain)).not.toContain("'");
        expect(encodeCell(text, safe, true)).toBe(encodeCell(text, plain));
      }
    },
  );

  it.each([
    ['a;=1+1', "a;'=1+1"],
    ['a,=1', `"a,'=1"`],
    ['a|@x', "a|'@x"],
    ['a\t=1', "a\t'=1"],
    ['x\n=1', `"x\n'=1"`],
    ['x\r\n+1\r\n-2', `"x\r\n'+1\r\n'-2"`],
    ['a; "=1"', `"a;' ""=1"""`],
    ['\u200b=1', "'\u200b=1"],
    ['a;\u200b\u00a0\uff1d1', "a;'\u200b\u00a0\uff1d1"],
    ['=1;=2', "'=1;'=2"],
    ['\u0085=1', "'\u0085=1"],
    ['\v=1', "'\v=1"],
    ['a;\f@x', "a;'\f@x"],
    ['\u2028+1', "'\u2028+1"],
    ['\u2029\u001f-1', "'\u2029\u001f-1"],
  ])(
    'csv-safe puts an apostrophe at the start of a cell by another delimiter: %j',
    (text, cell) => {
      expect(encodeCell(text, safe)).toBe(cell);
    },
  );

  it('csv-safe leaves other texts unchanged', () => {
    for (const text of ['a=b', 'a@b.c', "'=x", '12', ' x-y', '', 'a; b-c', 'a;b=c', 'x y - z']) {
      expect(encodeCell(text, safe)).toBe(text);
    }
  });
});

describe('looksTyped', () => {
  it.each(['+447911123456', '-5', '+1.5', '-3,25', '51.5,-0.12', '-33.9, 18.4'])(
    'accepts %s',
    (text) => expect(looksTyped(text)).toBe(true),
  );

  it.each(['-1+1', '+44 79', '=1', '-', '+', '-A1', '-5\n=1', '@x', '', '-2-3', '+1*2'])(
    'rejects %j',
    (text) => expect(looksTyped(text)).toBe(false),
  );
});
