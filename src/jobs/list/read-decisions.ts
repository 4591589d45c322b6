/** Reads a file of decisions: a CSV with the columns `row` and `id`, and others, which are ignored. */
import { type AppError, invalidParameter } from '../../core/lib/errors.ts';
import { type ThreadUser, takeThreadTurn } from '../../core/limits/thread-turns.ts';
import { readColumns, readRecord } from '../../formats/csv/cells.ts';
import { unreadableCsv } from '../../formats/csv/csv-errors.ts';
import { type RecordBatch, RecordScanner } from '../../formats/csv/record-scanner.ts';
import { type Delimiter, recordFlag, unreadableReason } from '../../formats/csv/record-table.ts';
import type { RowDecision } from './decide-rows.ts';

/** Maximum decisions of one file. */
const DECISIONS_MAX = 100_000;
/** Bytes of a turn of the account. */
const BLOCK_BYTES = 64 * 1024;
/** Characters of the first line in which the columns are found. */
const HEADER_CHARACTERS_MAX = 16 * 1024;
const ROW = /^\d{1,9}$/;
const ID = /^\d{1,15}$/;
/** The id of a row that none of its candidates fits. */
const NONE = 'none';

/**
 * Returns the decisions of a file; a row without an id is left undecided. Throws `AppError` 422 `unreadable_csv`, and 400 that
 * names the line and the column, and as `takeThreadTurn`. `keeping` is called with the number of decisions of each block, before
 * the next one is read; what it throws ends the reading.
 */
export async function readDecisions(
  text: string,
  user: ThreadUser,
  keeping: (decisions: number) => void,
): Promise<RowDecision[]> {
  const content = text.replace(/^\ufeff/, '');
  const { delimiter, columns } = findColumns(content);
  const decisions: RowDecision[] = [];
  let isHeader = true;
  for await (const { buffer, records } of scanBlocks(Buffer.from(content), delimiter, user)) {
    const [rows = [], ids = []] = readColumns(buffer, records, columns, delimiter);
    const before = decisions.length;
    for (let index = 0; index < records.count; index++) {
      const line = records.line[index] ?? 0;
      const isReadable = unreadableReason(records.flags[index] ?? 0) === null;
      if (!isReadable) throw unreadable(line);
      const id = (ids[index] ?? '').trim();
      const decision = isHeader || id === '' ? null : parseDecision(rows[index] ?? '', id, line);
      isHeader = false;
      if (decision === null) continue;
      if (decisions.length === DECISIONS_MAX) throw tooMany();
      decisions.push(decision);
    }
    keeping(decisions.length - before);
  }
  if (decisions.length === 0) {
    throw invalidParameter('id', 'no line has an id. Write the id of a candidate, or `none`');
  }
  return decisions;
}

function parseDecision(row: string, id: string, line: number): RowDecision {
  const at = (field: string, message: string) => invalidParameter(field, message, { line });
  if (!ROW.test(row.trim())) {
    throw at('row', `line ${line}: must be the number of a row, such as 7`);
  }
  if (id.toLowerCase() !== NONE && !ID.test(id)) {
    throw at('id', `line ${line}: must be the id of a candidate, or \`${NONE}\``);
  }
  const chosen = ID.test(id) ? Number(id) : null;
  return { row: Number(row), id: chosen, at: line };
}

/** Finds the delimiter with which the first line has the columns `row` and `id`, and their places. */
function findColumns(content: string): { delimiter: Delimiter; columns: [number, number] } {
  const start = Math.max(0, content.search(/[^\r\n]/));
  const [line = ''] = content.slice(start, start + HEADER_CHARACTERS_MAX).split(/[\r\n]/, 1);
  const bytes = Buffer.from(line);
  const record = { start: 0, end: bytes.length, flags: recordFlag.quoted };
  const headers = ([',', ';', '\t'] as const).map((delimiter) => {
    const names = readRecord(bytes, record, delimiter).map((name) => name.trim().toLowerCase());
    return { delimiter, names };
  });
  const found = headers.find(({ names }) => names.includes('row') && names.includes('id'));
  if (found === undefined) {
    const missing = headers.some(({ names }) => names.includes('row')) ? 'id' : 'row';
    throw invalidParameter(missing, 'is missing: the first line names the columns `row` and `id`');
  }
  const { delimiter, names } = found;
  return { delimiter, columns: [names.lastIndexOf('row'), names.lastIndexOf('id')] };
}

function unreadable(line: number): AppError {
  return unreadableCsv(
    line,
    'This row is not CSV: a quote is not closed, it is longer than 128 KiB, or it has a NUL character.',
  );
}

function tooMany(): AppError {
  return invalidParameter(
    'body',
    `must have at most ${DECISIONS_MAX} decisions. Send several files`,
  );
}

async function* scanBlocks(
  bytes: Buffer,
  delimiter: Delimiter,
  user: ThreadUser,
): AsyncGenerator<RecordBatch> {
  const scanner = new RecordScanner({ delimiter });
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
    const batch = scanner.push(bytes.subarray(from, from + BLOCK_BYTES));
    if (batch !== null) yield batch;
    await takeThreadTurn(user);
  }
  yield scanner.finish();
}
