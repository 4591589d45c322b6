/** Extracts what the service wrote into a part, without the list's own text. */
import { buffer } from 'node:stream/consumers';
import { readRecord } from '../../formats/csv/cells.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { scanPart } from './part-records.ts';
import type { PartsContext } from './read-part.ts';
import { layoutOf } from './result-layout.ts';

/** The added cells of all rows of a part, recorded or not, one row per line. */
export async function addedTexts(
  { sql, store }: PartsContext,
  batchId: string,
  objectKey: string,
): Promise<string> {
  const batch = await findBatch(sql, batchId);
  const bytes = await buffer(store.getStream(objectKey));
  if (batch === undefined) return bytes.toString();
  const { delimiter, width } = layoutOf(batch);
  const records = scanPart(bytes, delimiter);
  return Array.from({ length: records.count }, (_, index) =>
    readRecord(bytes, records.at(index), delimiter).slice(width).join('\t'),
  ).join('\n');
}
