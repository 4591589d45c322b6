/** Examines the files of a run: their source or mapping, their columns, and the first records as they would be imported. */
import type { Sql } from '../../core/db/client.ts';
import type { JsonRecord } from '../../core/graph/import/read-records.ts';
import type { SourceInput } from '../../core/graph/sources/import-source.ts';
import { HOLDER_MARK, type SourceRow } from '../../core/graph/sources/source-record.ts';
import { type AppError, unprocessable } from '../../core/lib/errors.ts';
import { readFileHead } from '../../sources/mapped-file.ts';
import type { FileHead } from '../../sources/source-mapping.ts';
import type { Found, PreviewRow, RunOptions } from './import-run.ts';
import { listFitting, openInput } from './open-input.ts';

const PREVIEW_ROWS = 10;
const SAMPLES = 3;
const COLUMNS_MAX = 200;
const TEXT_MAX = 200;
const LIST_MAX = 10;

/** Returns what the files are. Throws `AppError` for files that cannot be imported. */
export async function examine(
  sql: Sql,
  files: readonly string[],
  options: RunOptions,
): Promise<Found> {
  const { input, mapping, origin } = await openInput(sql, files, options);
  const head = mapping === null ? null : await readFileHead(files[0] ?? '');
  const fitting = head === null ? [] : await listFitting(sql, head);
  return {
    source: input.source,
    as_of: input.asOf,
    snapshot: input.snapshotOf !== null,
    mapping,
    mapping_origin: origin,
    ...(fitting.length > 1 ? { fitting } : {}),
    columns: head === null ? [] : columnsOf(head),
    preview: await readPreview(input),
  };
}

function columnsOf({ header, sample }: FileHead): Found['columns'] {
  return header.slice(0, COLUMNS_MAX).map((name, column) => {
    const cells = sample.map((row) => row[column]?.trim() ?? '').filter((cell) => cell !== '');
    return { name, samples: [...new Set(cells)].slice(0, SAMPLES).map(shortText) };
  });
}

/**
 * Returns the first rows. A file without one is refused here, also one of changes, which an import by the command line
 * takes: a day may have none. So is a file that cannot be read to its first rows; one that breaks later, by the import.
 */
async function readPreview(input: SourceInput): Promise<PreviewRow[]> {
  const preview: PreviewRow[] = [];
  for await (const rows of input.rows()) {
    for (const row of rows.slice(0, PREVIEW_ROWS - preview.length)) preview.push(previewOf(row));
    if (preview.length >= PREVIEW_ROWS) break;
  }
  if (preview.length === 0) {
    throw unprocessable(
      'no_rows',
      `No rows in ${input.files.join(', ')}; nothing was changed. Import a file with at least one row below its header.`,
    );
  }
  return preview;
}

function previewOf(row: SourceRow): PreviewRow {
  const { line } = row;
  const none = { line, entity: null, key: null, record: null, reason: null };
  if ('records' in row) {
    const [{ entity, key, record, company = [] }] = row.records;
    const of = company.map(companyInWords).find((text) => text !== '');
    const shown = of === undefined ? record : { company: of, ...record };
    return { ...none, entity, key: shownKey(key), record: shortRecord(shown) };
  }
  if ('reason' in row) return { ...none, reason: row.reason };
  if ('ended' in row)
    return { ...none, entity: row.ended[0], key: shownKey(row.ended[1]), reason: 'ended' };
  return { ...none, reason: 'opted_out' };
}

function shownKey(key: string): string {
  return shortText(key.split(HOLDER_MARK)[0] ?? '');
}

/** The number or domain by which the record finds its company; '' for a key of the source, which says nothing to people. */
function companyInWords(reference: string): string {
  return /^(?:registry|domain):(.+)$/.exec(reference)?.[1] ?? '';
}

function shortRecord(record: JsonRecord): Record<string, unknown> {
  const values = Object.entries(record).filter(([, value]) => value !== null && value !== '');
  return Object.fromEntries(values.map(([name, value]) => [name, shortValue(value)]));
}

function shortValue(value: unknown): unknown {
  if (typeof value === 'string') return shortText(value);
  if (Array.isArray(value)) return value.slice(0, LIST_MAX).map(shortValue);
  if (typeof value === 'object' && value !== null) return shortText(JSON.stringify(value));
  return value;
}

function shortText(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

/** The problem that an operator is shown. */
export function problemOf(error: AppError) {
  return { code: error.code, status: error.status, detail: error.message };
}
