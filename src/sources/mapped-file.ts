/** Files of CSV or JSON lines that no adapter knows, read by a mapping. */
import path from 'node:path';
import { asObject } from '../core/graph/import/coerce.ts';
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { unprocessable } from '../core/lib/errors.ts';
import { detectDialect } from '../formats/csv/dialect.ts';
import { readColumnName } from '../mapping/column-names.ts';
import type { Dataset } from './adapter.ts';
import { numberedNames, readCsvRows, rejectUnnamed } from './csv-rows.ts';
import { readJsonLines } from './json-lines.ts';
import { mappedRow, type NamedRow } from './mapped-rows.ts';
import { HEAD_BYTES, readPartHead, type SourcePart } from './source-files.ts';
import type { FileHead, SourceMapping } from './source-mapping.ts';

/**
 * Reads the columns and the first rows of a file, for guessing its mapping. Throws `AppError` 422 `no_header` for a CSV
 * file without a header.
 */
export async function readFileHead(file: string): Promise<FileHead> {
  const { head } = await readPartHead(file);
  if (isJsonLines(head)) return jsonHead(head);
  const { header, sample } = detectDialect(head, {
    isWhole: head.length < HEAD_BYTES,
    knownNames: {
      columnNames: new Set(),
      isColumnName: (text) => {
        const { role, isExact } = readColumnName(text);
        return role !== null && isExact;
      },
    },
  });
  if (header === null) {
    throw unprocessable(
      'no_header',
      `${path.basename(file)} has no row with the names of its columns; nothing was changed. Add one.`,
    );
  }
  return { header: numberedNames(header), sample };
}

function isJsonLines(head: Buffer): boolean {
  return /^\ufeff?\s*\{/.test(head.subarray(0, 100).toString('utf8'));
}

/** The last line may be cut off. */
function jsonHead(head: Buffer): FileHead {
  const lines = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split('\n');
  const objects = lines.slice(0, SAMPLE_ROWS_MAX).flatMap((line) => {
    try {
      return [flattened(JSON.parse(line))];
    } catch {
      return [];
    }
  });
  const header = [...new Set(objects.flatMap((object) => [...object.keys()]))];
  return { header, sample: objects.map((object) => header.map((name) => object.get(name) ?? '')) };
}

const SAMPLE_ROWS_MAX = 100;

/** Objects inside objects that are read. */
const DEPTH_MAX = 5;

/** The texts of an object by the path to them: `address.city`. Lists of texts are joined by `|`. */
function flattened(value: unknown, prefix = '', depth = 1): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, member] of Object.entries(asObject(value) ?? {})) {
    const at = `${prefix}${name}`;
    if (typeof member === 'object' && member !== null && !Array.isArray(member)) {
      if (depth === DEPTH_MAX) continue;
      for (const [inner, text] of flattened(member, `${at}.`, depth + 1)) texts.set(inner, text);
    } else if (Array.isArray(member)) {
      texts.set(at, member.filter((item) => typeof item !== 'object').join('|'));
    } else {
      texts.set(at, isImprecise(member) ? member.toExponential(DIGITS) : String(member ?? ''));
    }
  }
  return texts;
}

/** As a spreadsheet writes a number of which it has lost digits: two keys would be one. */
const DIGITS = 14;

function isImprecise(member: unknown): member is number {
  return Number.isInteger(member) && !Number.isSafeInteger(member);
}

/** Returns the dataset of a mapping. Files are changes: a record that they lack stays. */
export function mappedDataset(source: string, mapping: SourceMapping): Dataset {
  return { snapshotOf: null, read: (parts) => readParts(source, mapping, parts) };
}

async function* readParts(
  source: string,
  mapping: SourceMapping,
  parts: AsyncIterable<SourcePart>,
): AsyncGenerator<SourceRow[]> {
  const holders = new Map<string, string>();
  const required = [...new Set(Object.values(mapping.columns).flat())];
  const read = (row: NamedRow) => mappedRow(source, mapping, row, holders);
  for await (const { name, bytes } of parts) {
    const [head, whole] = await peeked(bytes);
    if (isJsonLines(head)) {
      yield* readJsonRows({ name, bytes: whole }, required, read);
    } else {
      const form = { required, isOfAnyEncoding: true };
      for await (const rows of readCsvRows({ name, bytes: whole }, form))
        yield rows.map((row) => rejectUnnamed(row) ?? read(row));
    }
  }
}

async function* readJsonRows(
  { name, bytes }: SourcePart,
  required: readonly string[],
  read: (row: NamedRow) => SourceRow,
): AsyncGenerator<SourceRow[]> {
  const missing = new Set(required);
  yield* readJsonLines(bytes, (line, record) => {
    const texts = flattened(record);
    if (missing.size > 0) for (const name of texts.keys()) missing.delete(name);
    return read({ line, get: (name) => texts.get(name) ?? '', source: () => record });
  });
  const [member] = missing;
  if (member !== undefined) {
    throw unprocessable(
      'unknown_columns',
      `No object of ${name} has a member ${member}; nothing was changed. Check that it is the file of this mapping.`,
    );
  }
}

/** Returns the first bytes, and all of them. */
async function peeked(bytes: AsyncIterable<Buffer>): Promise<[Buffer, AsyncIterable<Buffer>]> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first = await iterator.next();
  const head: Buffer = first.done === true ? Buffer.alloc(0) : first.value;
  async function* all(): AsyncGenerator<Buffer> {
    if (first.done === true) return;
    yield head;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      yield next.value;
    }
  }
  return [head, all()];
}
