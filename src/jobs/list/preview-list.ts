/** Previews the first rows of a list as read, so that a wrong mapping is found before it costs. */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { readHead } from '../../core/storage/object-sum.ts';
import { readRecord } from '../../formats/csv/cells.ts';
import { detectDialect } from '../../formats/csv/dialect.ts';
import { Transcoder } from '../../formats/csv/encoding.ts';
import type { RecordTable } from '../../formats/csv/record-table.ts';
import { sampleRecords } from '../../formats/csv/sample-records.ts';
import { listScan } from '../../formats/csv/split.ts';
import { type ColumnNumbers, columnNumbers } from '../../mapping/guess-columns.ts';
import { sampleColumns } from '../../mapping/read-columns.ts';
import { readRows } from '../../mapping/read-rows.ts';
import type { ListBatch } from '../batch/batch.ts';
import { viewDialect } from '../batch/batch-view.ts';
import { findRemembered } from '../batch/list-mappings.sql.ts';
import { assertFilesKept } from '../result/files-kept.ts';
import { requestOf } from './read-upload.ts';
import { inReadingTurn, type ListReader } from './reading-turns.ts';

const PREVIEW_ROWS = 20;
const SAMPLE_ROWS = 100;

interface Sample {
  /** From the first data record on, as canonical text. */
  bytes: Buffer;
  records: RecordTable;
  delimiter: ListBatch['dialect']['delimiter'];
}

/** The JSON of a preview; docs/api.md lists its members. */
export const listPreviewSchema = z.record(z.string(), z.unknown());

/**
 * The preview of a batch: its dialect and mapping, and the first rows with their identifiers. Throws `AppError`
 * 410 when its files are no longer kept, and as `inReadingTurn`.
 */
export async function previewList(
  { sql, store, signal }: Pick<Context, 'sql' | 'store'> & Pick<ListReader, 'signal'>,
  batch: ListBatch,
) {
  const head = await headOf(store, batch);
  const remembered = await findRemembered(sql, batch);
  const reader = { accountId: batch.accountId, signal };
  return inReadingTurn(reader, () => previewHead(head, batch, remembered));
}

async function previewHead(head: Buffer, batch: ListBatch, remembered: ColumnNumbers | undefined) {
  const delimiter = batch.dialect.delimiter;
  const sample = sampleOf(head, batch);
  const { bytes, records } = sample;
  const isWhole = head.length === batch.uploadBytes;
  const { firstLines } = detectDialect(head, { ...requestOf(batch.dialect), isWhole });
  const { rows } = await readRows(bytes, records, { ...batch, delimiter });
  return {
    dialect: viewDialect(batch),
    mapping: batch.mapping,
    remembered: otherColumns(remembered, batch),
    columns: sampleColumns({ header: batch.dialect.header, sample: cellsOf(sample) }),
    first_lines: firstLines,
    rows: rows.slice(0, PREVIEW_ROWS).map(({ identifiers, invalid }, index) => ({
      row: index + 1,
      line: records.line[index],
      cells: readRecord(bytes, records.at(index), delimiter),
      identifiers: Object.fromEntries(identifiers.map(({ kind, values }) => [kind, values])),
      invalid,
    })),
  };
}

/** The columns chosen for the last list with this header, when they are other ones than those of this list. */
function otherColumns(found: ColumnNumbers | undefined, batch: ListBatch): ColumnNumbers | null {
  if (found === undefined) return null;
  const sorted = Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(sorted) === JSON.stringify(Object.entries(columnNumbers(batch.mapping)))
    ? null
    : found;
}

/** Calls `read` with the cells of the first records, for guessing the mapping. Throws as `readHead` and `inReadingTurn`. */
export async function readSample<T>(
  { store, signal }: Pick<Context, 'store'> & Pick<ListReader, 'signal'>,
  batch: ListBatch,
  read: (sample: string[][]) => T,
): Promise<T> {
  const head = await headOf(store, batch);
  const reader = { accountId: batch.accountId, signal };
  return inReadingTurn(reader, () => read(cellsOf(sampleOf(head, batch))));
}

function cellsOf({ bytes, records, delimiter }: Sample): string[][] {
  const count = Math.min(records.count, SAMPLE_ROWS);
  return Array.from({ length: count }, (_, index) =>
    readRecord(bytes, records.at(index), delimiter),
  );
}

/** The first bytes of the upload. Throws as `readHead`. */
async function headOf(store: ObjectStore, batch: ListBatch): Promise<Buffer> {
  assertFilesKept(batch);
  const { uploadKey, uploadBytes, uploadHeadCrc32 } = batch;
  return readHead(store, uploadKey, { bytes: uploadBytes, headCrc32: uploadHeadCrc32 });
}

/** The data records in the first bytes of the upload, as canonical bytes. */
function sampleOf(head: Buffer, { dialect, uploadBytes }: ListBatch): Sample {
  const isWhole = head.length === uploadBytes;
  const transcoder = new Transcoder({
    encoding: dialect.encoding,
    isGuess: dialect.encodingIsGuess,
  });
  const text = [
    transcoder.push(head.subarray(dialect.bom)),
    ...(isWhole ? [transcoder.finish()] : []),
  ];
  const bytes = Buffer.concat(text).subarray(dialect.firstByte);
  const records = sampleRecords(bytes, {
    ...listScan(dialect.delimiter, dialect.firstLine),
    isWhole,
  });
  return { bytes, records, delimiter: dialect.delimiter };
}
