/** Rows of source files that have a JSON object on each line. */
import { Readable } from 'node:stream';
import { type JsonRecord, readRecords } from '../core/graph/import/read-records.ts';
import { type SourceRow, seenOf } from '../core/graph/sources/source-record.ts';

/**
 * Reads the objects; `readRow` returns null for one that describes the file. A line without an object is rejected.
 * @param keysIn the keys that the text of such a line may name; as `seen` of the row
 */
export async function* readJsonLines(
  bytes: AsyncIterable<Buffer>,
  readRow: (line: number, record: JsonRecord) => SourceRow | null,
  keysIn: (text: string) => readonly string[] = () => [],
): AsyncGenerator<SourceRow[]> {
  for await (const items of readRecords(Readable.from(bytes, { objectMode: false }), 'jsonl')) {
    yield items.flatMap((item): SourceRow | [] => {
      const { line } = item;
      if (!('reason' in item)) return readRow(line, item.record) ?? [];
      const source = Buffer.from(item.source).toString('utf8');
      return { line, reason: item.reason, source, ...seenOf(...keysIn(source)) };
    });
  }
}
