/**
 * Every supported encoding of one list, through the whole pipeline: each comes back with its own text, row for
 * row, as UTF-8.
 */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { rowsToXlsx } from '../../formats/xlsx/write-xlsx.ts';
import { audit } from '../audit/audit.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  await importGraph(pipeline.sql, { persons: crowd(9) });
});
afterAll(() => pipeline.close());

const options = { operation: 'people.enrich', fields: 'id' };
const added = ['match.status', 'match.by', 'match.reason', 'match.conflict', 'match.credits'];

/** Rows with the delimiter as `¦`, and their added cells in the result. */
const rows: [text: string, outcome: string, isAnsi?: boolean][] = [
  ['Zoë Müller¦p1@list.example¦Café “Odéon” 5 €¦', '¦¦matched¦email¦¦false¦1¦1001'],
  ['"Sørensen¦ Åse"¦p2@list.example¦"two\nlines"¦x', '¦¦matched¦email¦¦false¦1¦1002'],
  ['Peña¦P3@List.Example¦Ñandú¦', '¦¦matched¦email¦¦false¦1¦1003', true],
  ['short¦p4@list.example', '¦¦¦¦matched¦email¦¦false¦1¦1004'],
  ['"say ""né"""¦nobody@list.example¦x¦y', '¦¦no_match¦email¦not_found¦¦0¦'],
  ['wide¦p5@list.example¦¦¦é', '¦matched¦email¦¦false¦1¦1005'],
  ['Ünal¦no address¦ ¦', '¦¦invalid¦¦not_an_email¦¦0¦'],
  ['¦¦¦', '¦¦invalid¦¦no_identifier¦¦0¦'],
  ['"quoted for nothing"¦"p6@list.example"¦"ß"¦""', '¦¦matched¦email¦¦false¦1¦1006', true],
  ['naïve', '¦¦¦¦¦invalid¦¦no_identifier¦¦0¦'],
];
const header = 'Référence¦Work Email¦"Größe"¦';

type Newlines = 'CRLF' | 'LF' | 'CR' | 'mixed';
const newlineOf: Record<Newlines, string[]> = {
  CRLF: ['\r\n'],
  LF: ['\n'],
  CR: ['\r'],
  mixed: ['\r\n', '\n', '\r\n', '\r', '\r\n'],
};

/** The list and its expected result. `encode` turns one line into bytes. */
function write(
  delimiter: string,
  newlines: Newlines,
  encode: (line: string, isAnsi: boolean) => Buffer,
): { list: Buffer; result: string } {
  const ends = newlineOf[newlines];
  const [newline = ''] = ends;
  const fold = (text: string) => text.replaceAll('¦', delimiter);
  const lines: Buffer[] = [];
  for (const [index, [text, , isAnsi]] of [[header, ''] as const, ...rows].entries()) {
    lines.push(encode(fold(text) + (ends[index % ends.length] ?? ''), isAnsi === true));
    // Blank lines keep their place.
    if (index === 4) lines.push(encode(newline + newline, false));
  }
  const names = [header, '', ...added, 'person.id'].join('¦');
  const expected = [names, ...rows.map(([text, outcome]) => text + outcome)].map(
    (line, index) => fold(line) + newline + (index === 4 ? newline + newline : ''),
  );
  return { list: Buffer.concat(lines), result: expected.join('') };
}

const utf8 = (text: string) => Buffer.from(text);
const utf16le = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
/** The few characters of the list with other codes in Windows-1252 than in Latin-1. */
const windows1252 = (text: string) =>
  Buffer.from(text.replace('€', '\x80').replace('“', '\x93').replace('”', '\x94'), 'latin1');

const encodings: [name: string, mark: string, encode: Parameters<typeof write>[2]][] = [
  ['utf-8', '', utf8],
  ['utf-8', '\uFEFF', utf8],
  ['utf-16le', '', utf16le],
  ['utf-16le', '\uFEFF', utf16le],
  ['utf-16be', '', utf16be],
  ['utf-16be', '\uFEFF', utf16be],
  ['windows-1252', '', windows1252],
  ['utf-8 with rows in windows-1252', '', (text, ansi) => (ansi ? windows1252 : utf8)(text)],
  ['utf-8 with rows in windows-1252', '\uFEFF', (text, ansi) => (ansi ? windows1252 : utf8)(text)],
];
const delimiters = [',', ';', '\t', '|'];
const newlines = ['CRLF', 'LF', 'CR', 'mixed'] as const;

async function expectResult(caller: Caller, list: Buffer, result: string, more = {}) {
  const id = await pipeline.enrich(caller, list, { ...options, ...more });
  expect(await pipeline.results(caller, id)).toEqual({ text: result, complete: 'true' });
  return pipeline.batch(caller, id);
}

describe.each(encodings)('a list in %s after the mark "%s"', (name, mark, encode) => {
  test.each(delimiters.flatMap((delimiter) => newlines.map((newline) => ({ delimiter, newline }))))(
    'with $delimiter and $newline comes back row for row',
    async ({ delimiter, newline }) => {
      // Each account has a limit of calls per minute.
      const caller = await pipeline.account(6);
      const { list, result } = write(delimiter, newline, encode);
      const marked = mark === '' ? list : Buffer.concat([encode(mark, false), list]);
      const batch = await expectResult(caller, marked, result);
      expect(batch).toMatchObject({
        dialect: { encoding: name.split(' ')[0], delimiter, newline: newlineOf[newline][0] },
        rows: { total: 10, processed: 10, matched: 6, no_match: 1, invalid: 3 },
        credits: { charged: 6, reserved: 0 },
      });
      expect(await pipeline.wallet(caller)).toEqual({ balance: 0, reserved: 0 });
    },
  );
});

describe('a list', () => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await pipeline.account(1000);
  });
  afterAll(async () => {
    expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  });

  const body = write(';', 'CRLF', utf8);

  test('that begins with sep=; uses that delimiter, and the line is not a row', async () => {
    const text = 'a,b;p1@list.example\r\nc,d;p2@list.example\r\n';
    const result = `Ref,first;Email;${added.join(';')};person.id\r\n${text
      .replaceAll('\r\n', ';matched;email;;false;1;100N\r\n')
      .replace('N', '1')
      .replace('N', '2')}`;
    await expectResult(caller, Buffer.from(`sep=;\r\nRef,first;Email\r\n${text}`), result);
  });

  test('as gzip, of one member or two, is read as the unzipped list', async () => {
    await expectResult(caller, gzipSync(body.list), body.result);
    const halves = [body.list.subarray(0, 50), body.list.subarray(50)];
    await expectResult(caller, Buffer.concat(halves.map((half) => gzipSync(half))), body.result);
  });

  test('without a header gets one, and its first line is a row', async () => {
    const list = 'Ann,p1@list.example\nnobody@list.example,Bob,\n';
    const result = [
      `column_1,column_2,column_3,${added.join(',')},person.id`,
      'Ann,p1@list.example,,matched,email,,false,1,1001',
      'nobody@list.example,Bob,,invalid,,not_an_email,,0,',
      '',
    ].join('\n');
    const more = { header: 'false', mapping: '{"email":2}' };
    await expectResult(caller, Buffer.from(list), result, more);
    // The line is visibly not a header, so the request need not say so.
    await expectResult(caller, Buffer.from(list), result, { mapping: '{"email":2}' });
  });

  test('with repeated or empty column names keeps them', async () => {
    const list = 'email,email,, note ,__proto__\nx,p2@list.example,a,b,c\n';
    const result = [
      `email,email,, note ,__proto__,${added.join(',')},person.id`,
      'x,p2@list.example,a,b,c,matched,email,,false,1,1002',
      '',
    ].join('\n');
    await expectResult(caller, Buffer.from(list), result, { mapping: '{"email":2}' });
  });

  test('with several columns for one identifier tries them in turn', async () => {
    const list = 'a,b\nno address,p1@list.example\np2@list.example,p3@list.example\n,\n';
    const result = [
      `a,b,${added.join(',')},person.id`,
      'no address,p1@list.example,matched,email,,false,1,1001',
      'p2@list.example,p3@list.example,matched,email,,true,1,1002',
      ',,invalid,,no_identifier,,0,',
      '',
    ].join('\n');
    await expectResult(caller, Buffer.from(list), result, { mapping: '{"email":["a","b"]}' });
  });

  test('as a workbook comes back as the CSV of its first sheet', async () => {
    const cells = [
      ['Réf', 'E-Mail', 'Note'],
      ['Zoë, the first', 'p1@list.example', 'two\nlines'],
      [],
      ['', 'nobody@list.example', ''],
    ].map((row) => row.map((text) => ({ text, typed: false })));
    const chunks: Buffer[] = [];
    for await (const chunk of rowsToXlsx(cells)) chunks.push(chunk);
    const result = [
      `Réf,E-Mail,Note,${added.join(',')},person.id`,
      '"Zoë, the first",p1@list.example,"two\nlines",matched,email,,false,1,1001',
      '',
      ',nobody@list.example,,no_match,email,not_found,,0,',
      '',
    ].join('\r\n');
    await expectResult(caller, Buffer.concat(chunks), result);
  });
});

describe('a list with rows that cannot be read', () => {
  test('keeps them in place as invalid rows, with reasons and line numbers', async () => {
    const caller = await pipeline.account(100);
    const list = Buffer.from(
      [
        'email,note',
        'p1@list.example,"stray',
        'p2@list.example,nul\0byte',
        `${'x'.repeat(1_000_000)},p3@list.example`,
        'p4@list.example,a"b',
        '"p5@list.example"tail,x',
        `p6@list.example${',"x\ny"'.repeat(512)}`,
        'p7@list.example,z',
        'p6@list.example,"open at the end',
      ].join('\n'),
    );
    const id = await pipeline.enrich(caller, list, options);
    const lines = (await pipeline.results(caller, id)).text.split('\n').slice(1);
    expect(lines).toEqual([
      '"p1@list.example,""stray",,invalid,,open_quote,,0,',
      'p2@list.example,nul\0byte,invalid,,nul_byte,,0,',
      `"${'x'.repeat(1_000_000)},p3@list.example",,invalid,,record_too_long,,0,`,
      'p4@list.example,a"b,matched,email,,false,1,1004',
      '"p5@list.example"tail,x,matched,email,,false,1,1005',
      ...`"p6@list.example${',""x\ny""'.repeat(512)}",,invalid,,too_many_columns,,0,`.split('\n'),
      'p7@list.example,z,matched,email,,false,1,1007',
      '"p6@list.example,""open at the end",,invalid,,open_quote,,0,',
      '',
    ]);
    const report = await (await pipeline.call(caller, `/v1/batches/${id}/report`)).json();
    expect(report).toMatchObject({
      unusable: {
        open_quote: { rows: 2, lines: [2, 521] },
        too_many_columns: { rows: 1, lines: [7] },
        nul_byte: { rows: 1, lines: [3] },
        record_too_long: { rows: 1, lines: [4] },
      },
    });
  });
});
