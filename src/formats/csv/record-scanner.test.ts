import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyDelimiter,
  junkBytes,
  listRecords,
  propertyRuns,
  recordTexts,
  scanTexts,
  wellFormedFile,
} from './random-csv.test-suite.ts';
import { RECORD_BYTES_MAX } from './record-reader.ts';
import { RecordScanner, scanPrefix, scanRecords } from './record-scanner.ts';
import { type CsvRecord, recordFlag, unreadableReason } from './record-table.ts';

const reasons = (bytes: Buffer) =>
  listRecords(scanRecords(bytes, { delimiter: ',' })).map(({ flags }) => unreadableReason(flags));

describe('records of one Buffer', () => {
  it('ends a record at CRLF, LF or CR in any mixture, and at the end of the file', () => {
    expect(scanTexts(Buffer.from('a,b\r\nc\nd\re'))).toEqual(['a,b', 'c', 'd', 'e']);
  });

  it('counts fields, physical lines, terminators and blank lines', () => {
    const bytes = Buffer.from('\na,b\r\n\r\n"x\r\ny",,"1,2"\nlast');
    const records = scanRecords(bytes, { delimiter: ',', firstLine: 10 });
    expect(
      listRecords(records).map(({ line, fields, terminator }) => [line, fields, terminator]),
    ).toEqual([
      [11, 2, 2],
      [13, 3, 1],
      [15, 1, 0],
    ]);
    expect([...records.lineAfter.subarray(0, records.count)]).toEqual([12, 15, 15]);
    expect(records.blankLines).toBe(2);
    expect(records.decidedTo).toBe(bytes.length);
  });

  it('takes a quote inside a field, and text after a closing quote, as text', () => {
    const bytes = Buffer.from('5" pipe,x\n"a"b,"c" ,d\n"",""\n');
    expect(scanTexts(bytes)).toEqual(['5" pipe,x', '"a"b,"c" ,d', '"",""']);
    expect(listRecords(scanRecords(bytes, { delimiter: ',' })).map((r) => r.fields)).toEqual([
      2, 3, 2,
    ]);
  });

  it('loses only the line of a quote that is never closed', () => {
    const bytes = Buffer.from('a,b\n1,"open\n2,x\n3,y');
    expect(scanTexts(bytes)).toEqual(['a,b', '1,"open', '2,x', '3,y']);
    expect(reasons(bytes)).toEqual([null, 'open_quote', null, null]);
  });

  it('recognises a stray quote by the next quoted field and does not swallow the lines between', () => {
    const bytes = Buffer.from('1,"open\n2,x\n3,"y",z\n4,"u\nv"\n');
    expect(scanTexts(bytes)).toEqual(['1,"open', '2,x', '3,"y",z', '4,"u\nv"']);
    expect(reasons(bytes)).toEqual(['open_quote', null, null, null]);
  });

  it('recognises it also by a later quote inside an unquoted field', () => {
    const bytes = Buffer.from('1,"open\n2,x\n3,",y",z\n4,w\n');
    expect(scanTexts(bytes)).toEqual(['1,"open', '2,x', '3,",y",z', '4,w']);
    expect(scanTexts(Buffer.from('"open\n",y"z"\n2\n'))).toEqual(['"open', '",y"z"', '2']);
  });

  it('counts each newline inside quotes once, whatever follows it', () => {
    const table = scanRecords(Buffer.from('"a\n\nb\r\rc\r\n\rd\r",x\n2\n'), { delimiter: ',' });
    expect(listRecords(table)).toMatchObject([
      { line: 1, fields: 2, flags: recordFlag.quoted },
      { line: 9, fields: 1 },
    ]);
  });

  it('loses only the first line of a quoted record longer than the limit', () => {
    const long = `"${'x\n'.repeat(RECORD_BYTES_MAX / 2)}"`;
    const texts = scanTexts(Buffer.from(`${long}\nafter`));
    expect(texts[0]).toBe('"x');
    expect(texts).toHaveLength(RECORD_BYTES_MAX / 2 + 2);
    expect(texts.at(-1)).toBe('after');
    expect(
      scanTexts(Buffer.from(`"${'x\n'.repeat(RECORD_BYTES_MAX / 2 - 1)}"\nafter`)),
    ).toHaveLength(2);
  });

  it('marks a line longer than the limit, quoted or not, to the byte', () => {
    const fits = Buffer.alloc(RECORD_BYTES_MAX, 'x');
    const tooLong = Buffer.alloc(RECORD_BYTES_MAX + 1, 'x');
    const quoted = Buffer.concat([Buffer.from('"'), fits]);
    const lines = [fits, tooLong, quoted, Buffer.from('end')];
    const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
    expect(reasons(bytes)).toEqual([null, 'record_too_long', 'record_too_long', null]);
    expect(reasons(tooLong)).toEqual(['record_too_long']);
  });

  it('flags NUL bytes as unreadable and invalid UTF-8 as readable', () => {
    const bytes = Buffer.concat([Buffer.from('a\0b,c\nok\n'), Buffer.from([0xe9, 10])]);
    const flags = listRecords(scanRecords(bytes, { delimiter: ',' })).map((r) => r.flags);
    expect(flags).toEqual([recordFlag.nulByte, 0, recordFlag.invalidUtf8]);
    expect(unreadableReason(recordFlag.invalidUtf8)).toBeNull();
    expect(unreadableReason(recordFlag.nulByte)).toBe('nul_byte');
  });
});

describe('a stream', () => {
  it('is scanned in steps of a minimum size, and decided bytes are not held', () => {
    const scanner = new RecordScanner({ delimiter: ',', stepBytesMin: 4 });
    expect(scanner.push(Buffer.from('a\nb'))).toBeNull();
    expect(scanner.push(Buffer.from('\n'))?.records.count).toBe(2);
    expect(scanner.undecidedBytes).toBe(0);
    const large = new RecordScanner({ delimiter: ',' });
    expect(large.push(Buffer.alloc(65_535, 'x'))).toBeNull();
    expect(large.push(Buffer.from('x'))).not.toBeNull();
    expect(large.undecidedBytes).toBe(65_536);
  });

  it('whose line does not end is rescanned after it has grown by half', () => {
    const scanner = new RecordScanner({ delimiter: ',', stepBytesMin: 2 });
    expect(scanner.push(Buffer.alloc(10, 'x'))?.records.count).toBe(0);
    expect(scanner.push(Buffer.alloc(4, 'x'))).toBeNull();
    expect(scanner.push(Buffer.from('x'))).not.toBeNull();
    expect(scanner.undecidedBytes).toBe(15);
  });

  it('is not delayed by blank lines, except for a CR that may become a CRLF', () => {
    const decided = (text: string) => scanPrefix(Buffer.from(text), { delimiter: ',' }).decidedTo;
    for (const text of ['a\n\n', '\n\n\n', 'a\r\n\r\n', '\r\rb\n', 'a\n\rb\n\n']) {
      expect(decided(text), JSON.stringify(text)).toBe(text.length);
      expect(decided(`${text}\r`)).toBe(text.length);
    }
  });

  it('is not delayed by a line that is too long, nor by a stray quote', () => {
    const options = { delimiter: ',', recordBytesMax: 8 } as const;
    const sure = (text: string) => scanPrefix(Buffer.from(text), options).count;
    expect(sure('xxxxxxxxxxxx\ny\n')).toBe(2);
    expect(sure('"a\nb"c\nd\n')).toBe(3);
    expect(sure('"a\nbbbbbbbbb\nd\n')).toBe(3);
    expect(sure('long\n"a\nb"\nd\n')).toBe(3);
    expect(sure('longer\n"a\nb"\nd\n')).toBe(3);
    // This one may still be closed.
    expect(sure('"a\nb')).toBe(0);
  });
});

describe('any bytes', () => {
  const limit = fc.integer({ min: 1, max: 24 });

  it('gives the same records as a naive implementation of the rules', () => {
    fc.assert(
      fc.property(junkBytes, limit, anyDelimiter, (commas, bytesMax, delimiter) => {
        const bytes = commas.map((byte) => (byte === 44 ? delimiter.charCodeAt(0) : byte));
        const records = scanRecords(Buffer.from(bytes), { delimiter, recordBytesMax: bytesMax });
        const expected = naiveRecords(Buffer.from(bytes), delimiter, bytesMax);
        expect(listRecords(records)).toEqual(expected);
      }),
      { numRuns: propertyRuns * 10 },
    );
  });

  it('covers every byte with a record, its terminator or a blank line', () => {
    fc.assert(
      fc.property(junkBytes, limit, (bytes, bytesMax) => {
        const records = scanRecords(bytes, { delimiter: ',', recordBytesMax: bytesMax });
        let at = 0;
        for (const { start, end, terminator } of listRecords(records)) {
          expect(bytes.toString('latin1', at, start)).toMatch(/^[\r\n]*$/);
          expect(bytes.toString('latin1', end, end + terminator)).toMatch(/^(\r\n|\r|\n|)$/);
          at = end + terminator;
        }
        expect(bytes.toString('latin1', at)).toMatch(/^[\r\n]*$/);
      }),
      { numRuns: propertyRuns },
    );
  });

  it('gives the same records for every piece from a record to a record', () => {
    fc.assert(
      fc.property(junkBytes, limit, fc.nat(), fc.nat(), (bytes, recordBytesMax, one, other) => {
        const options = { delimiter: ',', recordBytesMax } as const;
        const all = listRecords(scanRecords(bytes, options));
        if (all.length === 0) return;
        const [first, last] = [one % all.length, other % all.length].sort((a, b) => a - b);
        const part = all.slice(first, (last ?? 0) + 1);
        const from = part[0]?.start ?? 0;
        const to = (part.at(-1)?.end ?? 0) + (part.at(-1)?.terminator ?? 0);
        const firstLine = part[0]?.line ?? 1;
        const again = scanRecords(bytes.subarray(from, to), { ...options, firstLine });
        expect(listRecords(again)).toEqual(
          part.map((r) => ({ ...r, start: r.start - from, end: r.end - from })),
        );
      }),
      { numRuns: propertyRuns * 10 },
    );
  });

  it('gives the same records however a stream is divided', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(junkBytes, limit, cuts, (bytes, recordBytesMax, sizes) => {
        const options = { delimiter: ',', recordBytesMax, stepBytesMin: 1 } as const;
        expect(streamed(bytes, sizes, options)).toEqual(listRecords(scanRecords(bytes, options)));
      }),
      { numRuns: propertyRuns * 10 },
    );
  });

  it('gives only records of a prefix that no further byte changes', () => {
    fc.assert(
      fc.property(junkBytes, junkBytes, limit, (prefix, rest, recordBytesMax) => {
        const options = { delimiter: ',', recordBytesMax } as const;
        const sure = scanPrefix(prefix, options);
        const all = scanRecords(Buffer.concat([prefix, rest]), options);
        expect(listRecords(sure)).toEqual(listRecords(all).slice(0, sure.count));
      }),
      { numRuns: propertyRuns * 3 },
    );
  });
});

describe('damage stays in its record', () => {
  const damaged = (insert: Buffer) =>
    fc.property(wellFormedFile, fc.nat(), ({ bytes, delimiter }, place) => {
      const at = place % (bytes.length + 1);
      const after = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at)]);
      const records = listRecords(scanRecords(bytes, { delimiter }));
      const texts = recordTexts(bytes, scanRecords(bytes, { delimiter }));
      const now = scanTexts(after, delimiter);
      const before = texts.filter((_, index) => (records[index]?.end ?? 0) < at);
      const behind = texts.filter((_, index) => (records[index]?.start ?? 0) > at);
      expect(now.slice(0, before.length)).toEqual(before);
      expect(behind.length === 0 ? [] : now.slice(-behind.length)).toEqual(behind);
      expect(now.length).toBeGreaterThanOrEqual(records.length);
      expect(now.length - before.length - behind.length).toBeGreaterThanOrEqual(1);
    });

  it('for a stray quote at any place', () => {
    fc.assert(damaged(Buffer.from('"')), { numRuns: propertyRuns * 10 });
  });

  it('for a NUL at any place', () => {
    fc.assert(damaged(Buffer.from([0])), { numRuns: propertyRuns * 3 });
  });

  it('for a torn multi-byte character', () => {
    fc.assert(
      fc.property(wellFormedFile, fc.nat(), ({ bytes, delimiter }, place) => {
        const high = [...bytes.keys()].filter((at) => (bytes[at] ?? 0) >= 0x80);
        const torn = high[place % Math.max(1, high.length)];
        if (torn === undefined) return;
        const after = Buffer.concat([bytes.subarray(0, torn), bytes.subarray(torn + 1)]);
        const texts = scanTexts(bytes, delimiter);
        const records = scanRecords(after, { delimiter });
        const now = recordTexts(after, records);
        expect(now).toHaveLength(texts.length);
        const changed = texts.flatMap((text, index) => (text === now[index] ? [] : [index]));
        expect(changed).toHaveLength(1);
        const flagged = listRecords(records).flatMap(({ flags }, index) =>
          flags & recordFlag.invalidUtf8 ? [index] : [],
        );
        expect(flagged).toEqual(changed);
      }),
      { numRuns: propertyRuns },
    );
  });
});

function streamed(
  bytes: Buffer,
  sizes: number[],
  options: ConstructorParameters<typeof RecordScanner>[0],
): CsvRecord[] {
  const scanner = new RecordScanner(options);
  const batches = [];
  let at = 0;
  for (const size of sizes) {
    batches.push(scanner.push(bytes.subarray(at, at + size)));
    at = Math.min(bytes.length, at + size);
  }
  batches.push(scanner.push(bytes.subarray(at)), scanner.finish());
  return batches.flatMap((batch) =>
    batch === null
      ? []
      : listRecords(batch.records).map((record) => ({
          ...record,
          start: record.start + batch.firstByte,
          end: record.end + batch.firstByte,
        })),
  );
}

/** The rules of record-reader.ts field by field on text, without a stored look-ahead. */
function naiveRecords(bytes: Buffer, delimiter: string, bytesMax: number): CsvRecord[] {
  const text = bytes.toString('latin1');
  const records: CsvRecord[] = [];
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const start = at;
    const found = newlineAt(text, at) > 0 ? null : naiveRecord(text, at, delimiter);
    if (newlineAt(text, at) > 0) {
      at += newlineAt(text, at);
      line++;
      continue;
    }
    const isWhole = found !== null && found.end - start <= bytesMax;
    const lineEnd = start + (/^[^\r\n]*/.exec(text.slice(start))?.[0].length ?? 0);
    const end = isWhole ? found.end : lineEnd;
    const terminator = newlineAt(text, end);
    const record = text.slice(start, end);
    let flags = isUtf8(bytes.subarray(start, end)) ? 0 : recordFlag.invalidUtf8;
    if (isWhole) flags |= found.isQuoted ? recordFlag.quoted : 0;
    if (isWhole) flags |= record.includes('\0') ? recordFlag.nulByte : 0;
    const reason = lineEnd - start > bytesMax ? recordFlag.recordTooLong : recordFlag.openQuote;
    if (!isWhole) flags |= reason;
    records.push({ start, end, terminator, fields: isWhole ? found.fields : 1, flags, line });
    line += (record.match(/\r\n|\n|\r/g)?.length ?? 0) + (terminator > 0 ? 1 : 0);
    at = end + terminator;
  }
  return records;
}

function newlineAt(text: string, at: number): number {
  return /^(?:\r\n|\n|\r)/.exec(text.slice(at, at + 2))?.[0].length ?? 0;
}

/** One record without a limit of length; null when it is not closed or broken. */
function naiveRecord(text: string, start: number, delimiter: string) {
  let at = start;
  let isQuoted = false;
  for (let fields = 1; ; fields++) {
    const wasMultiLine = /[\r\n]/.test(text.slice(start, at));
    let textFrom = at;
    if (text[at] === '"') {
      isQuoted = true;
      const quotedPart = /^"(?:[^"]|"")*"(?!")/.exec(text.slice(at))?.[0];
      if (quotedPart === undefined) return null;
      textFrom = at + quotedPart.length;
    }
    at = textFrom;
    while (at < text.length && text[at] !== delimiter && newlineAt(text, at) === 0) at++;
    const loose = text.slice(textFrom, at);
    const isMultiLine = /[\r\n]/.test(text.slice(start, textFrom));
    const isAfterQuotes = textFrom > start && text[textFrom - 1] === '"';
    if (isMultiLine && isAfterQuotes && loose !== '') return null;
    if (wasMultiLine && loose.includes('"')) return null;
    if (text[at] !== delimiter) return { end: at, fields, isQuoted };
    at++;
  }
}
