/**
 * People Data Labs, free company dataset: JSON lines, or CSV whose quotes are escaped by a backslash, which is not RFC
 * 4180. A backslash elsewhere is itself.
 */
import { Readable } from 'node:stream';
import { readRecords } from '../../core/graph/import/read-records.ts';
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { readBackslashCsv } from '../backslash-csv.ts';
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
    for await (const items of readRecords(Readable.from(bytes, { objectMode: false }), 'jsonl')) {
      yield items.map((item): SourceRow => {
        const { line } = item;
        return 'reason' in item
          ? { line, reason: item.reason, source: Buffer.from(item.source).toString('utf8') }
          : readRow(line, item.record);
      });
    }
  }
}

async function* readCsv(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const { bytes } of parts) {
    for await (const rows of readBackslashCsv(bytes)) {
      yield rows
        .filter(({ line }) => line > 1)
        .map(({ line, cells }): SourceRow => {
          if (cells.length !== header.length) {
            const isMore = cells.length > header.length;
            return {
              line,
              reason: isMore ? 'more_cells_than_header' : 'fewer_cells_than_header',
              source: cells,
            };
          }
          return readRow(
            line,
            Object.fromEntries(header.map((name, index) => [name, cells[index]])),
          );
        });
    }
  }
}

function readRow(line: number, row: JsonObject): SourceRow {
  const cell = (name: string) => stringOf(row[name]);
  const id = cell('id');
  if (id === undefined || !ID.test(id))
    return { line, reason: 'not_an_id', field: 'id', source: row };
  const name = cell('name');
  if (name === undefined) return { line, reason: 'missing', field: 'name', seen: id, source: row };
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
