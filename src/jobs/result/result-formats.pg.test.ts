/** One result in all formats, and how spreadsheets open them. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

const run = promisify(execFile);

/** Prefixes that some spreadsheet takes for a formula (OWASP, ASVS 1.2.10). */
const starts = ['=', '+', '-', '@', '\t', '\r', '\n', '\0', '＝', '＋', '－', '＠'];
const triggers = starts.flatMap((start) => [
  `${start}1+1`,
  `${start}SUM(1;2)`,
  `${start}HYPERLINK("http://x.example";"x")`,
  ` ${start}2+2`,
  `\u00a0${start}cmd|' /C calc'!A0`,
  start,
]);
/** Values of a known form: a prefix would break them for programs. */
const typed = ['+442079460000', '-5', '+1.5', '51.5,-0.12'];
/** The same, in the matched record. */
const ourTyped = ['+441632960001', '-33.9,18.4'];

let pipeline: Pipeline;
let caller: Caller;
let id: string;
/** The cells of the list. Rows with a NUL are unreadable, but still in the result. */
let cells: string[][];
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '20' });
  const person = {
    id: 1,
    email: 'ada@home.example',
    name: '=1+1',
    surname: '@SUM(1)',
    title: '-2+3',
    skills: '＝1+1',
    summary: '+cmd|x\n=1',
    street: "=HYPERLINK('x')",
    phone: '+441632960001',
    locationGeo: '-33.9,18.4',
    inferredYearsExperience: 7,
  };
  await importGraph(pipeline.sql, { persons: [person, ...crowd(2)] });
  caller = await pipeline.account(100);
  const texts = [...triggers, ...typed, 'plain', "'=kept"];
  cells = [
    ['email', '=1+1', '@x', '+note\n=1', '－5'],
    ['ada@home.example', ...texts.slice(0, 4)],
    ...texts.map((text, index) => [`p${index + 1}@list.example`, text, 'x', text, `a${text}`]),
  ];
  const quoted = cells.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','));
  const query = { operation: 'people.enrich', mapping: '{"email":1}', header: 'true' };
  id = await pipeline.enrich(caller, `${quoted.join('\n\n')}\n`, query);
});
afterAll(() => pipeline.close());

async function result(query: string): Promise<Buffer> {
  const response = await pipeline.call(caller, `/v1/batches/${id}/results?${query}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-result-complete')).toBe('true');
  return Buffer.from(await response.arrayBuffer());
}

const parsed = (csv: Buffer | string): string[][] =>
  parse(csv, { bom: true, record_delimiter: ['\r\n', '\n'], skip_empty_lines: true });

describe('a result as csv', () => {
  test('holds the cells of the list unchanged', async () => {
    expect(parsed(await result('format=csv')).map((row) => row.slice(0, 5))).toEqual(cells);
    expect(await result('')).toEqual(await result('format=csv'));
  });
});

describe('rows with certain outcomes', () => {
  const list = 'email,note\r\np1@list.example,"a ""b"""\r\n\r\nnone@list.example,c\r\nbad,"d"\r\n';
  async function chosen(query: string): Promise<Response> {
    const marked = await pipeline.enrich(caller, list, {
      operation: 'people.enrich',
      fields: 'id',
    });
    return pipeline.call(caller, `/v1/batches/${marked}/results?${query}`);
  }

  test('come as a file of their own, unchanged, in every format', async () => {
    const csv = await chosen('outcomes=no_match,invalid');
    expect(csv.headers.get('content-disposition')).toMatch(
      / enriched \d{4}-\d\d-\d\d \(no_match, invalid, raw\)\.csv/,
    );
    expect((await csv.text()).split('\r\n').slice(1)).toEqual([
      'none@list.example,c,no_match,email,not_found,,0,',
      'bad,"d",invalid,,not_an_email,,0,',
      '',
    ]);
    const lines = (await (await chosen('outcomes=invalid&format=jsonl')).text()).trimEnd();
    expect(JSON.parse(lines)).toMatchObject({ row: 3, match: { status: 'invalid' } });
    const safe = await (await chosen('outcomes=invalid&format=csv-safe')).text();
    expect(safe.trimEnd().split('\r\n')).toHaveLength(2);
    for (const form of ['format=xlsx', 'format=csv&gzip=true']) {
      expect((await chosen(`outcomes=ambiguous&${form}`)).status).toBe(200);
    }
  });

  test('are named by outcomes that exist', async () => {
    const response = await chosen('outcomes=nothing');
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/outcomes/);
  });
});

describe('a byte order mark', () => {
  const mark = Buffer.from([0xef, 0xbb, 0xbf]);
  test('begins csv-safe, and csv when the upload had one', async () => {
    expect((await result('format=csv')).subarray(0, 3)).not.toEqual(mark);
    expect((await result('format=csv-safe')).subarray(0, 3)).toEqual(mark);
    const text = Buffer.from('email\nnone\n');
    for (const upload of [
      Buffer.concat([mark, text]),
      Buffer.from('\ufeffemail\nnone\n', 'utf16le'),
    ]) {
      const marked = await pipeline.enrich(caller, upload, { operation: 'people.enrich' });
      const response = await pipeline.call(caller, `/v1/batches/${marked}/results`);
      const body = Buffer.from(await response.arrayBuffer());
      expect(body.subarray(0, 8)).toEqual(Buffer.concat([mark, Buffer.from('email')]));
      expect(response.headers.get('content-length')).toBe(String(body.length));
    }
  });
});

describe('a result as csv-safe', () => {
  test('differs from csv only by an apostrophe before each text that might run as a formula', async () => {
    const plain = parsed(await result('format=csv'));
    const safe = parsed(await result('format=csv-safe'));
    const mightRun = /^[\p{Zs}\p{Cf}"]*[=+\-@\0＝＋－＠]/u;
    const beginsBlank = /^[\p{Zs}\p{Cf}"]*[\t\r\n]/u;
    /** Each piece between characters that a spreadsheet may take for a delimiter is a cell. */
    const guard = (cell: string) => {
      const pieces = cell.split(/(?<=[,;\t|\r\n])/);
      const guarded = pieces.map((piece) => (mightRun.test(piece) ? `'${piece}` : piece)).join('');
      return beginsBlank.test(cell) ? `'${guarded}` : guarded;
    };
    const isTyped = (cell: string) => typed.includes(cell) || ourTyped.includes(cell);
    let prefixed = 0;
    for (const [row, line] of plain.entries()) {
      expect(safe[row]).toHaveLength(line.length);
      for (const [column, cell] of line.entries()) {
        const expected = isTyped(cell) ? cell : guard(cell);
        expect(safe[row]?.[column]).toBe(expected);
        if (expected !== cell) prefixed++;
      }
    }
    expect(safe).toHaveLength(plain.length);
    expect(prefixed).toBeGreaterThan(triggers.length * 2);
  });
});

test('a result as jsonl holds one object for each row, with the types of the record', async () => {
  const lines = (await result('format=jsonl')).toString().trimEnd().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>);
  expect(rows).toHaveLength(cells.length - 1);
  expect(rows.map(({ row }) => row)).toEqual(rows.map((_, index) => index + 1));
  for (const [index, { input }] of rows.entries()) {
    expect(Object.values(input ?? {})).toEqual(cells[index + 1]);
    expect(Object.keys(input ?? {})).toEqual(cells[0]?.map((name) => name.trim()));
  }
  expect(rows[0]).toMatchObject({
    match: { status: 'matched', by: 'email', reason: null, conflict: false, credits: 1 },
    person: { id: 1, name: '=1+1', birthDate: null, birthYear: 0, phone: '+441632960001' },
  });
  const missed = rows.find(({ match }) => match?.status === 'no_match');
  expect(missed).toMatchObject({
    match: { by: 'email', reason: 'not_found', credits: 0 },
    person: null,
  });
});

test.each(['csv', 'csv-safe', 'jsonl', 'xlsx'])(
  '%s as gzip is the same, compressed',
  async (format) => {
    const whole = await result(`format=${format}`);
    const response = await pipeline.call(
      caller,
      `/v1/batches/${id}/results?format=${format}&gzip=true`,
    );
    expect(response.headers.get('content-type')).toBe('application/gzip');
    const extension = format === 'csv-safe' ? 'csv' : format;
    expect(response.headers.get('content-disposition')).toMatch(
      new RegExp(` enriched .*\\.${extension}\\.gz`),
    );
    expect(gunzipSync(Buffer.from(await response.arrayBuffer()))).toEqual(whole);
  },
);

test('a report says how the list was read and how well it was filled', async () => {
  const response = await pipeline.call(caller, `/v1/batches/${id}/report`);
  const report = (await response.json()) as { fill_rate: Record<string, number>; rows: number };
  const { rows } = await pipeline.batch(caller, id);
  expect(rows.matched).toBe(3);
  expect(report).toMatchObject({
    dialect: { encoding: 'utf-8', delimiter: ',', newline: '\n', header: expect.any(Array) },
    mapping: { email: [{ column: 1 }] },
    rows: cells.length - 1,
    blank_lines: cells.length - 1,
    padded_rows: 0,
    matched_by: { email: rows.matched },
    unusable: { nul_byte: { rows: rows.invalid } },
  });
  expect(report.fill_rate).toMatchObject({
    'person.id': 1,
    'person.email': 1,
    'person.name': 0.3333,
    'person.mobile': 0,
    'person.birthYear': 0,
    'person.inferredYearsExperience': 0.3333,
    'person.cities': 0,
  });
});

test('an unknown number is an empty cell', async () => {
  const [names = [], first = [], second = []] = parsed(await result('format=csv'));
  const cellsOf = (name: string) => [first, second].map((row) => row[names.indexOf(name)]);
  expect(cellsOf('person.birthYear')).toEqual(['', '']);
  expect(cellsOf('person.inferredYearsExperience')).toEqual(['7', '']);
  expect(cellsOf('person.countryId')).toEqual(['', '']);
});

const soffice = await run('soffice', ['--version']).then(
  () => true,
  () => false,
);
if (!soffice) process.stderr.write('skipped: results in LibreOffice: soffice not found\n');

describe.skipIf(!soffice)('in LibreOffice', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soffice-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The file as opened by LibreOffice, saved in another format. */
  async function convert(name: string, bytes: Buffer, to: string): Promise<string> {
    await writeFile(path.join(folder, name), bytes);
    await run(
      'soffice',
      [
        '--headless',
        `-env:UserInstallation=file://${folder}/profile`,
        // Comma, double quote, UTF-8, from line 1; formulas are evaluated.
        ...(name.endsWith('.csv')
          ? ['--infilter=CSV:44,34,76,1,,0,false,true,false,false,false,0,true']
          : []),
        ...['--convert-to', to, '--outdir', path.join(folder, 'out'), path.join(folder, name)],
      ],
      { timeout: 100_000 },
    );
    const extension = to.split(':')[0] ?? '';
    return readFile(path.join(folder, 'out', name.replace(/\w+$/, extension)), 'utf8');
  }
  const formulas = (fods: string) => fods.match(/table:formula="[^"]*"/g) ?? [];

  test('csv-safe has no formula cell, where csv has some', async () => {
    const plain = formulas(await convert('plain.csv', await result('format=csv'), 'fods'));
    expect(plain.length).toBeGreaterThan(3);
    const safe = await convert('safe.csv', await result('format=csv-safe'), 'fods');
    expect(formulas(safe)).toEqual([]);
    expect(safe).toContain('&apos;=1+1');
  }, 120_000);

  test('xlsx opens, has no formula cell, and has every cell of csv', async () => {
    const workbook = await result('format=xlsx');
    expect(formulas(await convert('book.xlsx', workbook, 'fods'))).toEqual([]);
    // Comma, double quote, UTF-8; cell values, not their display.
    const filter = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1';
    const csv = await convert('sheet.xlsx', workbook, filter).catch(async () =>
      readFile(path.join(folder, 'out', 'sheet-Sheet1.csv'), 'utf8'),
    );
    const expected = parsed(await result('format=csv'));
    // Except for characters that XML cannot hold, and line ends, of which a sheet has one kind.
    const shown = (text: string) => text.replace(/\r\n?/g, '\n').replaceAll('\0', '\ufffd');
    // Blank lines of the list are rows of empty cells in a sheet.
    const rows = parsed(csv).filter((row) => row.some((cell) => cell !== ''));
    expect(rows.map((row) => row.map(shown))).toEqual(expected.map((row) => row.map(shown)));
  }, 120_000);
});
