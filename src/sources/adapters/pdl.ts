/**
 * People Data Labs, free company dataset: JSON lines, or CSV whose quotes are escaped by a backslash, which is not RFC
 * 4180. A backslash elsewhere is itself.
 */
import { type SourceRow, seenOf } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { readBackslashCsv } from '../backslash-csv.ts';
import { unevenReason } from '../csv-rows.ts';
import { readJsonLines } from '../json-lines.ts';
import { type JsonObject, stringOf } from '../json-values.ts';
import type { SourcePart } from '../source-files.ts';
import { compact, domainOf, joined } from '../values.ts';

const ID = /^[A-Za-z0-9]{28}$/;
const FIRST_YEAR = 1000;
const header = [
  'country',
  'founded',
  'id',
  'industry',
  'linkedin_url',
  'locality',
  'name',
  'region',
  'size',
  'website',
];

export const pdl: Adapter = {
  name: 'pdl',
  recognise: ({ text }) => {
    if (/^\s*\{"id":"[A-Za-z0-9]{28}",/.test(text)) return { snapshotOf: [''], read: readJson };
    return text.startsWith(header.join(',')) ? { snapshotOf: [''], read: readCsv } : null;
  },
};

async function* readJson(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const { bytes } of parts) {
    yield* readJsonLines(bytes, readRow, idsIn);
  }
}

async function* readCsv(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const { bytes } of parts) {
    for await (const rows of readBackslashCsv(bytes)) {
      yield rows
        .filter(({ line }) => line > 1)
        .map(({ line, cells }): SourceRow => {
          const reason = unevenReason({ width: cells.length, headerWidth: header.length });
          if (reason !== null) {
            return { line, reason, source: cells, ...seenOf(...idsIn(cells.join(' '))) };
          }
          return readRow(
            line,
            Object.fromEntries(header.map((name, index) => [name, cells[index]])),
          );
        });
    }
  }
}

/** Returns the texts in the form of an id of a row that cannot be read. */
function idsIn(text: string): readonly string[] {
  return text.match(/\b[A-Za-z0-9]{28}\b/g) ?? [];
}

function readRow(line: number, row: JsonObject): SourceRow {
  const cell = (name: string) => stringOf(row[name]);
  const id = cell('id');
  if (id === undefined || !ID.test(id))
    return { line, reason: 'not_an_id', field: 'id', source: row };
  const name = cell('name');
  if (name === undefined)
    return { line, reason: 'missing', field: 'name', seen: [id], source: row };
  const founded = Number(cell('founded')?.replace(/\.0$/, ''));
  const record = compact({
    name,
    website: cell('website'),
    domain: domainOf(cell('website')),
    professional_network: cell('linkedin_url'),
    headCount: cell('size'),
    founded: founded > FIRST_YEAR ? String(founded) : undefined,
    locality: joined(cell('locality'), cell('region'), cell('country')),
    industry: cell('industry'),
    _city: cell('locality'),
    _country: cell('country'),
  });
  return { line, records: [{ entity: 'company', key: id, record }] };
}
