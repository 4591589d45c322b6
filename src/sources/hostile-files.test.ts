/** Files of sources that others wrote: none takes endless time or memory. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRecords } from '../core/graph/import/read-records.ts';
import { zipOf } from '../formats/xlsx/xlsx-fixtures.test-suite.ts';
import { gbAccounts } from './adapters/gb-accounts.ts';
import { readBackslashCsv } from './backslash-csv.ts';
import { readCsvRows } from './csv-rows.ts';
import { readFacts } from './ixbrl.ts';
import { readJsonArray } from './json-array.ts';
import { openParts } from './source-files.ts';
import { readLines, type TextLine } from './text-lines.ts';
import { readCards } from './vcard-reader.ts';

const PIECE_BYTES = 64 * 1024;

async function* inPieces(text: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    yield bytes.subarray(from, from + PIECE_BYTES);
  }
}

describe('inline XBRL', () => {
  const fact = `<html><xbrli:context id="c"><xbrli:period><xbrli:instant>2024-03-31</xbrli:instant>
    </xbrli:period></xbrli:context>
    <ix:nonFraction contextRef="c" name="core:NetAssetsLiabilities">1,234</ix:nonFraction>`;
  const found = [{ name: 'NetAssetsLiabilities', value: 1234 }];

  // An expression for all of them tries every way to divide them, two to the power of their number.
  test('may end with any number of comments', () => {
    const comments = '<!---->\n'.repeat(10_000);
    expect(readFacts(`${fact}</html>${comments}`)).toMatchObject(found);
    expect(readFacts(`${fact}</html>${comments}<p>`)).toBeNull();
    expect(readFacts(`${fact}${comments}-->`)).toBeNull();
  });

  test('may begin any number of comments that do not end', () => {
    expect(readFacts(`${fact}${'<!--'.repeat(500_000)}</html>`)).toMatchObject(found);
  });

  test('may have a tag of any number of attributes', () => {
    const tag = `<p${' a=""'.repeat(10_000_000)}>`;
    expect(readFacts(`${fact}${tag}</html>`)).toMatchObject(found);
  });

  test('may tag one figure twice, and have a comment in it', () => {
    const tag = (name: string, inner: string) =>
      `<ix:nonFraction contextRef="c" name="core:${name}">${inner}</ix:nonFraction>`;
    const twice = tag('NetAssets', `<b>${tag('Equity', '1,<!-- thousand -->234')}</b>`);
    expect(readFacts(`${fact}${twice}</html>`)).toMatchObject([
      ...found,
      { name: 'NetAssets', value: 1234 },
      { name: 'Equity', value: 1234 },
    ]);
  });

  test('may tag figures with names that every object has', async () => {
    const text = `<html>${fact}${fact.replace('NetAssetsLiabilities', 'constructor')}</html>`;
    const part = { name: 'Prod223_1234_00012345_20250331.html', bytes: inPieces(text) };
    async function* parts() {
      yield part;
    }
    const rows = [];
    const dataset = gbAccounts.recognise({ name: part.name, text });
    for await (const batch of dataset?.read(parts()) ?? []) rows.push(...batch);
    expect(rows).toMatchObject([{ records: [{ record: { netAssets: 1234 } }] }]);
    expect(JSON.stringify(rows)).not.toContain('native code');
  });

  test('is read to as many figures as fit into memory', () => {
    const empty = '<ix:nonFraction contextRef="c" name="core:A">1</ix:nonFraction>';
    expect(readFacts(`${fact}${empty.repeat(300_000)}</html>`)?.length).toBeLessThan(101_000);
  });
});

test('a CSV file with backslashes whose line does not end is refused', async () => {
  const read = async () => {
    for await (const _ of readBackslashCsv(inPieces('a'.repeat(5 * PIECE_BYTES))));
  };
  await expect(read()).rejects.toMatchObject({ code: 'line_too_long' });
});

test('the text from a quote of such a file that is never closed is a row that has too few cells', async () => {
  const rows = [];
  for await (const read of readBackslashCsv(inPieces('a,b\n1,2\n3,"x\n4,5\n'))) rows.push(...read);
  expect(rows).toEqual([
    { line: 1, cells: ['a', 'b'] },
    { line: 2, cells: ['1', '2'] },
    { line: 3, cells: ['3,"x\n4,5\n'] },
  ]);
});

test('an array of JSON with an element that does not end is refused', async () => {
  async function* endless(): AsyncGenerator<Buffer> {
    yield Buffer.from('[{"a":1},{"a":[0');
    for (let piece = 0; piece < 300; piece++) yield Buffer.from(',[]'.repeat(PIECE_BYTES / 3));
  }
  const read = async () => {
    for await (const element of readJsonArray(endless())) expect(element).toEqual({ a: 1 });
  };
  await expect(read()).rejects.toMatchObject({
    code: 'line_too_long',
    message: expect.stringContaining('Element 2 '),
  });
});

describe('JSON of many levels', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  test('is a rejected line, and the others are read', async () => {
    const text = `{"a":1}\n${nested(100_000)}\n${nested(60)}\n`;
    const read = [];
    for await (const items of readRecords(Readable.from(inPieces(text)), 'jsonl'))
      read.push(...items.map((item) => ('reason' in item ? item.reason : item.line)));
    expect(read).toEqual([1, 'too_deep', 3]);
  });

  test('is an array that is refused', async () => {
    const read = async () => {
      for await (const element of readJsonArray(inPieces(`[{"a":1},${nested(100_000)}]`)))
        expect(element).toEqual({ a: 1 });
    };
    await expect(read()).rejects.toMatchObject({
      code: 'unreadable_json',
      message: expect.stringContaining('Element 2 '),
    });
  });
});

test('a CSV file whose line does not end is refused', async () => {
  async function* endless(): AsyncGenerator<Buffer> {
    yield Buffer.from('email\n');
    for (let piece = 0; piece < 2_000; piece++) yield Buffer.alloc(PIECE_BYTES, 'a');
  }
  const read = async () => {
    for await (const rows of readCsvRows(
      { name: 'endless.csv', bytes: endless() },
      { required: ['email'] },
    ))
      expect(rows).toEqual([]);
  };
  await expect(read()).rejects.toMatchObject({ code: 'line_too_long' });
});

test('a CSV file of thousands of columns and short rows is read in the memory of its text', async () => {
  const names = Array.from({ length: 5_000 }, (_, n) => `c${n}`);
  const rowCount = 40_000;
  async function* wide() {
    yield Buffer.from(`email,${names.join(',')}\n`);
    yield Buffer.from('a@b.example,x\n'.repeat(rowCount));
  }
  let rows = 0;
  for await (const batch of readCsvRows(
    { name: 'wide.csv', bytes: wide() },
    { required: ['email'] },
  )) {
    rows += batch.length;
    // An array for each column would have two hundred million places.
    expect(process.memoryUsage().heapUsed).toBeLessThan(1_000 * 1024 * 1024);
    expect(batch.at(-1)?.source()).toEqual({ email: 'a@b.example', c0: 'x' });
    expect(batch.at(0)?.get('c4999')).toBe('');
  }
  expect(rows).toBe(rowCount);
});

test('an array of JSON in another encoding is refused, and not read with signs in place of letters', async () => {
  async function* latin1() {
    yield Buffer.from('[{"navn":"BJØRN"}]', 'latin1');
  }
  const read = async () => {
    for await (const element of readJsonArray(latin1())) expect(element).toBeNull();
  };
  await expect(read()).rejects.toMatchObject({
    code: 'unreadable_json',
    message: expect.stringContaining('UTF-8'),
  });
});

describe('a vCard', () => {
  test('whose lines end with CR alone is read', async () => {
    const text = 'BEGIN:VCARD\rVERSION:3.0\rFN:Ilka Quast\rEND:VCARD\r';
    const read = [];
    for await (const { line, properties } of readCards(inPieces(text.repeat(2))))
      read.push([line, properties.at(-1)?.value]);
    expect(read).toEqual([
      [1, 'Ilka Quast'],
      [5, 'Ilka Quast'],
    ]);
  });

  test('with a CR inside a value has no property of what follows it', async () => {
    const note = 'NOTE:Her assistant\rTEL:+442079460000\rEND:VCARD\rBEGIN:VCARD\rUID:other';
    const [card, ...others] = await cardsOf('FN:Ilka Quast', note, 'TITLE:Head\r');
    expect(others).toEqual([]);
    expect(card?.properties.map(({ name }) => name)).toEqual(['VERSION', 'FN', 'NOTE', 'TITLE']);
    expect(card?.properties.at(-1)?.value).toBe('Head');
  });

  const cardsOf = async (...lines: string[]) => {
    const cards = [];
    const text = ['BEGIN:VCARD', 'VERSION:2.1', ...lines, 'END:VCARD', ''].join('\r\n');
    for await (const card of readCards(inPieces(text))) cards.push(card);
    return cards;
  };

  test('with a large photo is read line by line, once', async () => {
    const photo = Array.from({ length: 100_000 }, () => ` ${'A'.repeat(74)}`);
    const [card] = await cardsOf('PHOTO;ENCODING=BASE64:', ...photo, 'FN:Ilka Quast');
    expect(card?.properties).toMatchObject([
      { name: 'VERSION' },
      { name: 'FN', value: 'Ilka Quast' },
    ]);
  });

  test('joins soft breaks and folds, also where nothing stands between them', async () => {
    const [card] = await cardsOf(
      'NOTE;ENCODING=QUOTED-PRINTABLE:one =',
      'two=',
      '',
      'TITLE;ENCODING=',
      ' QUOTED-PRINTABLE:B=',
      '=C3=BCro',
      'ROLE:three=',
      ' four',
    );
    expect(card?.properties.slice(1)).toMatchObject([
      { name: 'NOTE', value: 'one two' },
      { name: 'TITLE', value: 'Büro' },
      { name: 'ROLE', value: 'three=four' },
    ]);
  });
});

describe('a vCard that is too long', () => {
  test('is refused as such, and the others are read', async () => {
    async function* cards() {
      yield Buffer.from('BEGIN:VCARD\n');
      for (let piece = 0; piece < 20; piece++) yield Buffer.from('NOTE:x\n'.repeat(100_000));
      yield Buffer.from('END:VCARD\nBEGIN:VCARD\nFN:Ilka Quast\nEND:VCARD\n');
    }
    const read = [];
    for await (const { unreadable, properties } of readCards(cards()))
      read.push([unreadable, properties.length < 500_000]);
    expect(read).toEqual([
      ['too_long', true],
      [null, true],
    ]);
  });

  test('in one value is read without it', async () => {
    const text = `BEGIN:VCARD\nN:${';'.repeat(1_000_000)}\nFN:Ilka Quast\nEND:VCARD\n`;
    for await (const { unreadable, properties } of readCards(inPieces(text))) {
      expect(unreadable).toBeNull();
      expect(properties).toMatchObject([{ name: 'FN' }]);
    }
  });
});

describe('lines', () => {
  test('are joined from the pieces in which they arrive', async () => {
    const texts = ['a', 'ü'.repeat(PIECE_BYTES), '', 'b'.repeat(5 * PIECE_BYTES + 1), 'c'];
    const read: TextLine[] = [];
    for await (const lines of readLines(inPieces(texts.join('\r\n')), 'utf8')) read.push(...lines);
    expect(read).toEqual(texts.map((text, index) => ({ line: index + 1, text })));
  });

  test('without an end are refused, before they fill the memory', async () => {
    async function* endless() {
      yield Buffer.from('first\n');
      for (;;) yield Buffer.alloc(PIECE_BYTES, 'a');
    }
    const reading = async () => {
      for await (const _ of readLines(endless(), 'latin1'));
    };
    await expect(reading()).rejects.toMatchObject({
      code: 'line_too_long',
      message: expect.stringContaining('Line 2 '),
    });
  });
});

describe('an archive', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'archives-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const partsOf = async (depth: number) => {
    let zip = await zipOf({ 'a.txt': 'text' });
    for (let level = 0; level < depth; level++) zip = await zipOf({ [`${level}.zip`]: zip });
    const file = path.join(folder, `${depth}.zip`);
    await writeFile(file, zip);
    const names: string[] = [];
    for await (const { name, bytes } of openParts(file)) {
      for await (const _ of bytes);
      names.push(name);
    }
    return names;
  };

  test('with millions of files is refused before they are listed', async () => {
    const start = Buffer.from('PK\x03\x04');
    const end64 = Buffer.alloc(56);
    end64.write('PK\x06\x06', 0, 'latin1');
    end64.writeBigUInt64LE(44n, 4);
    end64.writeBigUInt64LE(2_000_000n, 24);
    end64.writeBigUInt64LE(2_000_000n, 32);
    const locator = Buffer.alloc(20);
    locator.write('PK\x06\x07', 0, 'latin1');
    locator.writeBigUInt64LE(BigInt(start.length), 8);
    locator.writeUInt32LE(1, 16);
    const end = Buffer.alloc(22, 0xff);
    end.write('PK\x05\x06\x00\x00\x00\x00', 0, 'latin1');
    end.writeUInt16LE(0, 20);
    const file = path.join(folder, 'many.zip');
    await writeFile(file, Buffer.concat([start, end64, locator, end]));
    await expect(openParts(file).next()).rejects.toMatchObject({
      code: 'unreadable_archive',
      message: expect.stringContaining('more than 1000000 files'),
    });
  });

  test('that unpacks to hundreds of times its size is refused, zip or gzip', async () => {
    const nothing = Buffer.alloc(32 * 1024 * 1024);
    for (const [name, bytes] of [
      ['bomb.zip', await zipOf({ 'a.csv': nothing })],
      ['bomb.csv.gz', gzipSync(nothing)],
    ] as const) {
      const file = path.join(folder, name);
      await writeFile(file, bytes);
      const reading = async () => {
        for await (const part of openParts(file)) for await (const _ of part.bytes);
      };
      await expect(reading()).rejects.toMatchObject({
        code: 'unreadable_archive',
        message: expect.stringContaining('times its size'),
      });
    }
  });

  test('whose files are one place of it is refused as a whole', async () => {
    const zip = await zipOf({ 'a.csv': Buffer.alloc(15 * 1024 * 1024, 'a,b,c\n'.repeat(1000)) });
    const end = zip.length - 22;
    const from = zip.readUInt32LE(end + 16);
    const entry = zip.subarray(from, end);
    const entries = 20;
    const tail = Buffer.from(zip.subarray(end));
    tail.writeUInt16LE(entries, 8);
    tail.writeUInt16LE(entries, 10);
    tail.writeUInt32LE(entry.length * entries, 12);
    const file = path.join(folder, 'overlapping.zip');
    const directory = Array.from({ length: entries }, () => entry);
    await writeFile(file, Buffer.concat([zip.subarray(0, from), ...directory, tail]));
    let bytes = 0;
    const reading = async () => {
      for await (const part of openParts(file))
        for await (const one of part.bytes) bytes += one.length;
    };
    await expect(reading()).rejects.toMatchObject({
      code: 'unreadable_archive',
      message: expect.stringContaining('times its size'),
    });
    expect(bytes).toBeLessThan(40 * 1024 * 1024);
  });

  test('is opened file by file, however long its directory is', async () => {
    const zip = await zipOf({ 'a.txt': 'text', 'b.txt': 'text' });
    const second = zip.lastIndexOf('PK\x01\x02', undefined, 'latin1');
    zip.fill(0, second, second + 4);
    const file = path.join(folder, 'directory.zip');
    await writeFile(file, zip);
    const parts = openParts(file);
    expect(await parts.next()).toMatchObject({ value: { name: 'a.txt' } });
    await expect(parts.next()).rejects.toMatchObject({ code: 'unreadable_archive' });
  });

  // One that contains itself would be opened for ever.
  test('is opened in an archive, not endlessly', async () => {
    expect(await partsOf(3)).toEqual(['2.zip!1.zip!0.zip!a.txt']);
    await expect(partsOf(4)).rejects.toMatchObject({ code: 'unreadable_archive' });
  });
});
