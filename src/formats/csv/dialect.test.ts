import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../core/lib/errors.ts';
import { parseDelimiter } from './delimiter.ts';
import { type DialectOptions, detectDialect } from './dialect.ts';
import { detectEncoding, parseEncoding, Transcoder } from './encoding.ts';
import { detectFileKind } from './file-kind.ts';
import { propertyRuns } from './random-csv.test-suite.ts';
import { decodeWindows1252 } from './windows-1252.ts';

const detect = (text: string | Buffer, options: Partial<DialectOptions> = {}) =>
  detectDialect(Buffer.from(text), { isWhole: true, ...options });

function refusal(action: () => unknown) {
  try {
    action();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { status: error.status, code: error.code, line: error.errors[0]?.line };
  }
  return null;
}

function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

describe('kind of file', () => {
  it.each([
    ['zip and xlsx', 'PK\x03\x04\x14\x00'],
    ['xls', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
    ['png', '\x89PNG\r\n\x1a\n'],
    ['jpeg', '\xff\xd8\xff\xe0'],
    ['gif', 'GIF89a'],
    ['pdf', '%PDF-1.7'],
  ])('refuses %s and says what to do', (_, bytes) => {
    const sample = Buffer.from(bytes, 'latin1');
    expect(() => detectDialect(sample, { isWhole: false })).toThrow(/CSV/);
    const refused = { status: 415, code: 'unsupported_media_type', line: 1 };
    expect(refusal(() => detectFileKind(sample))).toEqual(refused);
  });

  it('reports gzip, and anything else as text', () => {
    expect(detectFileKind(Buffer.from([0x1f, 0x8b, 8]))).toBe('gzip');
    expect(detectFileKind(Buffer.from('PK,name\n'))).toBe('text');
    expect(detectFileKind(Buffer.alloc(0))).toBe('text');
  });
});

describe('encoding', () => {
  const text = 'name,city\nZoë,Köln\nBob,漢字\n';

  it.each([
    ['utf-8', 0, Buffer.from(text)],
    ['utf-8', 3, Buffer.from(`\ufeff${text}`)],
    ['utf-16le', 2, Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['utf-16le', 0, Buffer.from(text, 'utf16le')],
    ['utf-16be', 2, utf16be(`\ufeff${text}`)],
    ['utf-16be', 0, utf16be(text)],
  ])('detects %s with a mark of %i bytes and reads the cells', (encoding, bom, bytes) => {
    const dialect = detectDialect(bytes, { isWhole: true });
    expect(dialect).toMatchObject({ encoding, bom, header: ['name', 'city'], records: 2 });
    expect(dialect.sample).toEqual([
      ['Zoë', 'Köln'],
      ['Bob', '漢字'],
    ]);
    expect(dialect.firstDataByte).toBe('name,city\n'.length);
  });

  it('detects UTF-16 without a mark in a text with few ASCII characters, but not from a stray NUL', () => {
    const chinese = '姓名,城市\n张伟张伟张伟,上海市浦东新区\n王芳王芳王芳,北京市朝阳区\n'.repeat(
      30,
    );
    expect(detect(Buffer.from(chinese, 'utf16le')).encoding).toBe('utf-16le');
    expect(detect(utf16be(chinese)).encoding).toBe('utf-16be');
    expect(detect('name,email\nB\0ob,b@x.org\n').encoding).toBe('utf-8');
  });

  it.each(['a@b.exampl\0\nc@d.example\n', '\0\n\0\na\n', 'ab\0\n'])(
    'does not take a short list with NULs for UTF-16: %j',
    (rows) => {
      expect(detect(Buffer.from(`email\n${rows}`)).encoding).toBe('utf-8');
    },
  );

  it('refuses bytes that are no text, and takes a text with some control characters', () => {
    let state = 7;
    const random = Buffer.from(
      Array.from({ length: 60_000 }, () => {
        state = (state * 48_271) % 2_147_483_647;
        // Without NULs, of which the header would be refused.
        return (state % 255) + 1;
      }),
    );
    expect(() => detect(random)).toThrow('This file is not text');
    const rows = `a\x01,${'x'.repeat(98)}\n`.repeat(600);
    expect(detect(`name,note\n${rows}`).header).toEqual(['name', 'note']);
  });

  it('takes other bytes for Windows-1252, and marks this as a guess', () => {
    const dialect = detect(Buffer.from('name,price\nRen\xe9,\x80 5\n', 'latin1'));
    expect(dialect).toMatchObject({ encoding: 'windows-1252', encodingIsGuess: true });
    expect(dialect.sample).toEqual([['René', '€ 5']]);
    expect(dialect.doubts).toContain('encoding');
  });

  it('does not turn a UTF-8 file into Windows-1252 for one bad byte', () => {
    const bytes = Buffer.concat([Buffer.from('naïve,b\nZoë,1\nBj'), Buffer.from([0xf6, 10])]);
    expect(detect(bytes).encoding).toBe('utf-8');
    expect(detect(bytes).sample).toEqual([['Zoë', '1'], ['Bjö']]);
  });

  it('tolerates a character cut by the end of the sample, but not by the end of the file', () => {
    const all = Buffer.from('a😀');
    for (const length of [1, 2, 3, 4]) {
      const cut = all.subarray(0, length);
      expect(detectEncoding(cut, false).encoding).toBe('utf-8');
      expect(detectEncoding(cut, true).isGuess).toBe(length > 1);
    }
  });

  it('is overridden by the option, with the labels of the Encoding Standard', () => {
    expect(parseEncoding(' Latin1 ')).toBe('windows-1252');
    expect(refusal(() => parseEncoding('klingon'))).toMatchObject({ status: 400 });
    const dialect = detect(Buffer.from('name\nRen\x8e\n', 'latin1'), { encoding: 'macintosh' });
    expect(dialect.sample).toEqual([['René']]);
    expect(dialect.doubts).not.toContain('encoding');
  });

  it('decodes all of Windows-1252 by the standard', () => {
    expect(decodeWindows1252(Buffer.from([0x80, 0x92, 0x9f, 0x81, 0xff, 0x41]))).toBe(
      '€’Ÿ\u0081ÿA',
    );
  });
});

describe('Transcoder', () => {
  const encoders = {
    'utf-8': (text: string) => Buffer.from(text),
    'utf-16le': (text: string) => Buffer.from(text, 'utf16le'),
    'utf-16be': utf16be,
  };

  it('gives the same text however the file is divided', () => {
    const encodings = fc.constantFrom('utf-8', 'utf-16le', 'utf-16be' as const);
    const texts = fc.string({ unit: 'grapheme', maxLength: 30 });
    fc.assert(
      fc.property(encodings, texts, fc.integer({ min: 1, max: 5 }), (encoding, text, size) => {
        const bytes = encoders[encoding as keyof typeof encoders](text);
        expect(transcode(bytes, size, { encoding, isGuess: false }).toString()).toBe(text);
      }),
      { numRuns: propertyRuns },
    );
  });

  it('keeps lines that are UTF-8 when Windows-1252 was only a guess', () => {
    const bytes = Buffer.concat([Buffer.from('Ren\xe9\r\n', 'latin1'), Buffer.from('Zoë\nx')]);
    for (const size of [1, 2, 3, 100]) {
      const guessed = transcode(bytes, size, { encoding: 'windows-1252', isGuess: true });
      expect(guessed.toString()).toBe('René\r\nZoë\nx');
      const said = transcode(bytes, size, { encoding: 'windows-1252', isGuess: false });
      expect(said.toString()).toBe('René\r\nZoÃ«\nx');
    }
  });
});

function transcode(bytes: Buffer, size: number, source: { encoding: string; isGuess: boolean }) {
  const transcoder = new Transcoder(source);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    parts.push(transcoder.push(bytes.subarray(at, at + size)));
  }
  return Buffer.concat([...parts, transcoder.finish()]);
}

describe('delimiter', () => {
  it.each([
    [',', 'name,email\nBob,b@x.org\n'],
    [';', 'Name;Preis;Ort\nBob;1,5;Köln\nAl;2,75;Bonn\n'],
    [';', 'Bob;51,5;3,2\nAl;50,1;2,2\nCy;1,1;7,7\n'],
    ['\t', 'name\tnote\nBob\ta, b; c\n'],
    ['|', 'name|geo\nBob|51.5,-0.1\nAl|50.2,0.4\n'],
    [',', 'email\na@b.org\nc@d.org\n'],
    [',', 'company\n"Smith, Jones"\nAcme\n'],
    [',', 'domain\nacme.com\nfoo.co.uk\n'],
    [',', 'phone\n+44 20 7946 0000\n'],
    [',', 'name,skills,x\nBob,java;go;c,1\nAl,go;c,2\n'],
    [',', '"a;b","c;d"\n"1;2","3;4"\n'],
    [';', 'Umsatzbericht\n\na;b;c\n1;2;3\n4;5;6\n7;8;9\n'],
    [',', 'name,notes\nBob,"line one\nline; two"\nAl,"x"\n'],
  ])('is %j in %j', (delimiter, text) => {
    expect(detect(text).delimiter).toBe(delimiter);
  });

  it('is marked as doubtful when a one-column file contains loose commas', () => {
    expect(detect('company\nSmith, Jones Ltd\nAcme\n').doubts).toContain('delimiter');
    expect(detect('name,email\nBob,b@x.org\n').doubts).toEqual([]);
  });

  it('does not come from the first cell of a sheet', () => {
    const dialect = detect('sep=^\r\nName,Email\r\nAda,a@b.org\r\n', {
      delimiter: ',',
      isSheet: true,
      knownNames: { columnNames: new Set(), isColumnName: (text) => text === 'Email' },
    });
    expect(dialect).toMatchObject({ titles: ['sep=^'], headerRow: 2, header: ['Name', 'Email'] });
  });

  it('comes from a first line sep=, which is not a header', () => {
    const dialect = detect('sep=;\r\na;b,c\r\n1;2\r\n');
    expect(dialect).toMatchObject({
      delimiter: ';',
      sepLine: true,
      header: ['a', 'b,c'],
      headerByteFrom: 7,
      headerByteEnd: 12,
      firstDataByte: 14,
      firstDataLine: 3,
      newline: '\r\n',
    });
    const refused = { status: 422, code: 'unreadable_csv', line: 1 };
    expect(refusal(() => detect('sep=x\na'))).toEqual(refused);
  });

  it('is overridden by the option', () => {
    expect(detect('a;b\n1;2\n', { delimiter: ',' }).header).toEqual(['a;b']);
    expect([',', ';', '|', '\t', 'tab', '\\t'].map(parseDelimiter).join('')).toBe(',;|\t\t\t');
    expect(refusal(() => parseDelimiter('x'))).toMatchObject({ status: 400 });
  });
});

describe('header', () => {
  it.each([
    'Jane <jane@acme.com>\njohn@acme.com\n',
    '"jane@acme.com, j@b.com",x\njohn@acme.com,y\n',
    'jane [at] acme.com\njohn@acme.com\n',
    'tel:+442079460000\n+442079460001\n',
    '+44 20 7946 0000 x5,Ann\n+44 20 7946 0001,Bob\n',
    'SC048005,x\nNI048006,y\n00445790,z\n',
    'linkedin.com/in/jane\nlinkedin.com/in/john\n',
    'münchen.de,x\nacme.com,y\n',
    '@jane\n@john\n',
  ])('is not a row that holds an identifier: %j', (text) => {
    expect(detect(text, { delimiter: ',' }).header).toBeNull();
  });

  it.each([
    ['a@b.org,Bob\nc@d.org,Al\n'],
    ['Bob,https://x.org/\nAl,\n'],
    ['Bob,+44 20 7946 0000\n'],
    ['Bob,12\nAl,13\n'],
    ['acme.com\nfoo.org\n'],
  ])('is not found in %j', (text) => {
    const dialect = detect(text);
    expect(dialect).toMatchObject({ header: null, firstDataByte: 0, firstDataLine: 1 });
    expect(dialect.records).toBe(text.trim().split('\n').length);
  });

  it('may be named like a domain when there are no domains below it', () => {
    expect(detect('person.name,match.by\nBob,email\n').header).toEqual(['person.name', 'match.by']);
    // A result that is enriched again.
    const columnNames = new Set(['person.domain']);
    const text = 'person.name,person.domain,match.by\nBob,foo.com,email\n';
    const again = detect(text, { knownNames: { columnNames, isColumnName: () => false } }).header;
    expect(again).toEqual(['person.name', 'person.domain', 'match.by']);
  });

  it('is trimmed, cut, and keeps duplicate, empty and odd names', () => {
    const dialect = detect(` a ,a,,__proto__,${'x'.repeat(300)}\n1,2,3,4,5\n`);
    expect(dialect.header).toEqual(['a', 'a', '', '__proto__', 'x'.repeat(256)]);
  });

  it('has the same name twice above a first row without values', () => {
    const text = 'Name,Name,Mail,Mail\nAda,Lark,none,unknown\nBob,Roe,b@b.org,c@c.org\n';
    expect(detect(text).header).toEqual(['Name', 'Name', 'Mail', 'Mail']);
  });

  it('is overridden by the option both ways', () => {
    expect(detect('1,2\n3,4\n', { headerRow: 1 })).toMatchObject({
      header: ['1', '2'],
      records: 1,
    });
    expect(detect('a,b\n3,4\n', { headerRow: 0 })).toMatchObject({ header: null, records: 2 });
  });

  const knownNames = {
    columnNames: new Set<string>(),
    isColumnName: (text: string) => /^(name|e-?mail|company|phone|created.*)$/i.test(text),
  };

  it.each([
    ['a title', 'Lead list Q3 2026\nName,Email,Score\nAda,a@b.org,1\n', 2],
    ['a title with the delimiter', 'Leads, Q3, 2026\nName;Email;Score;Of\nAda;a@b.org;1;2\n', 2],
    ['a title as wide as the table', 'Leads,,\nName,Email,Score\nAda,a@b.org,1\n', 2],
    [
      'a title with a date, and a blank line',
      'Report,2026-01-01\n\nName,Email,Of\nA,a@b.org,1\n',
      3,
    ],
    ['groups of columns', 'Who,,Where,\nName,Email,Town,State\nAda,a@b.org,Bonn,NW\n', 2],
    [
      'groups of columns, named in each',
      'Who,Who,Where,Where\nName,Email,Town,State\nAda,a@b.org,Bonn,NW\n',
      2,
    ],
    [
      'groups of most columns',
      'Ref,Who,,Where\nName,Email,Email,Name\nAda,a@b.org,c@d.org,Bo\n',
      2,
    ],
    ['names in an unknown language', 'Lista\nNimi,Osoite\nAda,a@b.org\nBob,b@b.org\n', 2],
    ['a title of two lines in quotes', '"Leads\nQ3"\nName,Email,Score\nAda,a@b.org,1\n', 2],
    [
      'a title of two cells above three columns',
      'Report\nCreated: 2026-10-01,by me\nName,Email,Score\nAda,a@b.org,1\nBob,b@b.org,2\nGrand Total,2,\n',
      3,
    ],
    ['a title above one column', 'Leads\nEmail\na@b.org\n', 2],
    ['sparse rows', `Leads\nName,Email${',x'.repeat(20)}\nAda,a@b.org${','.repeat(20)}\n`, 2],
  ])('is found below %s, and marked as a guess', (_, text, row) => {
    const dialect = detect(text, { knownNames });
    expect(dialect.headerRow).toBe(row);
    expect(dialect.doubts).toContain('header');
    expect(dialect.titles.length).toBeGreaterThan(0);
    expect(dialect.sample[0]).toContain('a@b.org');
    const canonical = Buffer.from(text);
    const lines = text.slice(0, dialect.firstDataByte).split('\n').length;
    expect(dialect.firstDataLine).toBe(lines);
    expect(canonical.toString('utf8', dialect.headerByteFrom, dialect.headerByteEnd)).toBe(
      dialect.headerText,
    );
  });

  it.each([
    ['a sparse header', 'Email,,\na@b.org,Ada,Bonn\nb@b.org,Bob,Kiel\n'],
    ['a sparse header above words', 'Notes,,\nAda,Lovelace,London\nBob,Builder,Kiel\n'],
    ['company names with commas', 'Company\nAcme\nBeta, Inc.\nGamma\nDelta, LLC\n'],
    ['a usual header', 'Name,Email\nAda,a@b.org\nName,Email\n'],
  ])('is the first record in spite of %s', (_, text) => {
    expect(detect(text, { knownNames })).toMatchObject({ headerRow: 1, titles: [] });
  });

  it('is in the row that the option names, blank rows included', () => {
    const text = 'Leads\n\n1,2\n3,4\n';
    for (const headerRow of [2, 3]) {
      const dialect = detect(text, { headerRow });
      expect(dialect).toMatchObject({ header: ['1', '2'], headerRow: 3, records: 1 });
    }
    expect(() => detect(text, { headerRow: 9 })).toThrow(/^header_row: there is no row 9/);
  });

  it('alone is valid: the file has zero records', () => {
    expect(detect('name,email')).toMatchObject({
      records: 0,
      sample: [],
      header: ['name', 'email'],
    });
  });

  it('that cannot be read is refused with its line', () => {
    const refused = (line: number) => ({ status: 422, code: 'unreadable_csv', line });
    expect(refusal(() => detect('\n\n"name,email\nBob,1\n'))).toEqual(refused(3));
    expect(refusal(() => detect('na\0me,email\nBob,1\n'))).toEqual(refused(1));
    expect(refusal(() => detect(`${'a,'.repeat(512)}b\n`))).toEqual(refused(1));
    expect(detect(`${'a,'.repeat(511)}b\n`).header).toHaveLength(512);
  });
});

describe('sample', () => {
  it('refuses an empty file', () => {
    for (const text of ['', '\n\r\n', '\ufeff', 'sep=;\n']) {
      expect(refusal(() => detect(text))).toMatchObject({ status: 422, code: 'unreadable_csv' });
    }
  });

  it('omits the record that its end may have cut, and then does not count rows', () => {
    const dialect = detect('a,b\n1,2\n3,', { isWhole: false });
    expect(dialect).toMatchObject({ sample: [['1', '2']], records: null });
    expect(refusal(() => detect('a,b', { isWhole: false }))).toMatchObject({ status: 422 });
  });

  it('contains the first 20 records, even after a stray quote', () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => `${index},name ${index}`);
    rows[1] = '1,"stray';
    const dialect = detect(`id,name\n${rows.join('\n')}`, { isWhole: false });
    expect(dialect.sample).toHaveLength(20);
    expect(dialect.sample[1]).toEqual(['1,"stray']);
    expect(dialect.sample[19]).toEqual(['19', 'name 19']);
  });

  it('fails for any bytes only with a known error and a line', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, isWhole) => {
        const refused = refusal(() => detectDialect(Buffer.from(bytes), { isWhole }));
        if (refused !== null) expect(refused.line).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: propertyRuns * 3 },
    );
  });
});
