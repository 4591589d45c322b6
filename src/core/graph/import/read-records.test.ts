import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openRecords } from './open-records.ts';
import { readRecords, type SourceItem } from './read-records.ts';

async function read(bytes: Buffer | string, chunkBytes = 7): Promise<SourceItem[]> {
  const { input, format } = await openRecords(
    Readable.from(pieces(Buffer.from(bytes), chunkBytes)),
  );
  const items: SourceItem[] = [];
  for await (const list of readRecords(input, format)) items.push(...list);
  return items;
}

function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** Line and record, or line and reason, by line: malformed CSV is reported early. */
function outline(items: SourceItem[]): unknown[] {
  return items
    .toSorted((a, b) => a.line - b.line)
    .map((item) => [item.line, 'record' in item ? item.record : item.reason]);
}

it('reads JSON lines across chunks, with blank lines, CRLF and no final newline', async () => {
  expect(outline(await read('{"id":1}\r\n\n{"id":"\u2028é"}'))).toEqual([
    [1, { id: 1 }],
    [3, { id: '\u2028é' }],
  ]);
});

it('detects gzip by its magic bytes and CSV by its first byte, after a byte order mark', async () => {
  expect(outline(await read(gzipSync('{"id":1}\n')))).toEqual([[1, { id: 1 }]]);
  expect(outline(await read('\ufeff{"id":1}\n'))).toEqual([[1, { id: 1 }]]);
  expect(outline(await read('\ufeffid,name\n1,x\n'))).toEqual([[2, { id: '1', name: 'x' }]]);
});

it('continues after lines that are not records', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"id":1\n[]\n{"a":"'),
    Buffer.from([0xff]),
    Buffer.from('"}\n{"id":2}\n'),
  ]);
  expect(outline(await read(bytes))).toEqual([
    [1, 'not_json'],
    [2, 'not_an_object'],
    [3, 'not_utf8'],
    [4, { id: 2 }],
  ]);
});

it('skips a line that is too long, not the file', async () => {
  const long = `{"id":1,"summary":"${'x'.repeat(17 * 1024 * 1024)}"}`;
  expect(outline(await read(`${long}\n{"id":2}\n`, 65_536))).toEqual([
    [1, 'too_long'],
    [2, { id: 2 }],
  ]);
});

it('reads CSV with quoted newlines, and omits empty cells', async () => {
  expect(outline(await read('id,summary,name\n1,"a\nb",\n2,,x\n'))).toEqual([
    [2, { id: '1', summary: 'a\nb' }],
    [4, { id: '2', name: 'x' }],
  ]);
});

it('continues after malformed CSV records', async () => {
  expect(outline(await read('id,name\n1,a"b\n2,x,y\n3,z\n'))).toEqual([
    [2, 'malformed_csv'],
    [3, 'more_cells_than_header'],
    [4, { id: '3', name: 'z' }],
  ]);
});

it('reports the physical line on which a record begins, even with CRLF inside quotes', async () => {
  expect(
    outline(await read('id,summary\r\n1,"a\r\nb"\r\n\r\n2,x"y\r\n3,"c\r\n\r\nd"\r\n4,e')),
  ).toEqual([
    [2, { id: '1', summary: 'a\r\nb' }],
    [5, 'malformed_csv'],
    [6, { id: '3', summary: 'c\r\n\r\nd' }],
    [9, { id: '4', summary: 'e' }],
  ]);
});

it('refuses a header that names a field twice', async () => {
  await expect(read('id,id\n1,2\n')).rejects.toMatchObject({ code: 'unreadable_csv' });
});

it('refuses a CSV file with an unclosed quote before it fills the memory', async () => {
  const open = `id,name\n1,"${'x'.repeat(17 * 1024 * 1024)}`;
  await expect(read(open, 65_536)).rejects.toMatchObject({ code: 'unreadable_csv' });
});

it('passes the error of a broken gzip file on', async () => {
  const broken = gzipSync('{"id":1}\n'.repeat(1000)).subarray(0, 40);
  await expect(read(broken)).rejects.toThrow();
});

it('rejects a row of CSV that is not UTF-8, as a line of JSON', async () => {
  const whole = Buffer.from('id,name\n1,José\n2,\ufffd\n3,Zoë');
  const rows = [
    [2, { id: '1', name: 'José' }],
    [3, { id: '2', name: '\ufffd' }],
  ];
  expect(outline(await read(whole))).toEqual([...rows, [4, { id: '3', name: 'Zoë' }]]);
  expect(outline(await read(whole.subarray(0, -1)))).toEqual([...rows, [4, 'not_utf8']]);
  const latin = Buffer.from('id,name\n1,José\n2,Ada\n', 'latin1');
  expect(outline(await read(latin))).toEqual([
    [2, 'not_utf8'],
    [3, { id: '2', name: 'Ada' }],
  ]);
});
