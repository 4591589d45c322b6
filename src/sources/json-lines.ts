/** Rows of source files that have a JSON object on each line. */
import { Readable } from 'node:stream';
import { type JsonRecord, readRecords } from '../core/graph/import/read-records.ts';
import type { SourceRow } from '../core/graph/sources/source-record.ts';

/** Reads the objects; `readRow` returns null for one that describes the file. A line without an object is rejected. */
export async function* readJsonLines(
  bytes: AsyncIterable<Buffer>,
  readRow: (line: number, record: JsonRecord) => SourceRow | null,
): AsyncGenerator<SourceRow[]> {
  for await (const items of readRecords(Readable.from(bytes, { objectMode: false }), 'jsonl')) {
    yield items.flatMap((item): SourceRow | [] => {
      const { line } = item;
      return 'reason' in item
        ? { line, reason: item.reason, source: Buffer.from(item.source).toString('utf8') }
        : (readRow(line, item.record) ?? []);
    });
  }
}
