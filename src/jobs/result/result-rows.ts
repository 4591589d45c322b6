/**
 * Reads a result back from its recorded parts, cell by cell, one piece of a part in memory at a time. Readers take turns, because
 * the thread that converts results also serves all other calls.
 */
import { fold } from '../../core/lib/fold.ts';
import { type ThreadUser, takeThreadTurn } from '../../core/limits/thread-turns.ts';
import { readRecord } from '../../formats/csv/cells.ts';
import { type RecordBatch, RecordScanner } from '../../formats/csv/record-scanner.ts';
import type { Delimiter } from '../../formats/csv/record-table.ts';
import { partScan } from './part-records.ts';
import type { PartPiece } from './read-parts.ts';
import { matchColumns } from './render-part.ts';

export interface ResultRow {
  /** Number of the row in the list, from 1. */
  row: number;
  /** Decoded when they are asked for: a row that is counted needs none of them. */
  readonly cells: string[];
  /** Its bytes in the part, without the end of the line. */
  text: Buffer;
  /** Number of blank lines before the row. */
  blankLines: number;
}

/** The rows with one of these outcomes, without the blank lines between them. */
export async function* withOutcomes(
  rows: AsyncIterable<ResultRow>,
  outcomes: ReadonlySet<string>,
  { width }: { width: number },
): AsyncGenerator<ResultRow> {
  const status = width + matchColumns.indexOf('match.status');
  for await (const row of rows) {
    if (outcomes.has(row.cells[status] ?? '')) yield { ...row, blankLines: 0 };
  }
}

/** The rows that contain the text, without regard to case and accents, and without the blank lines between them. */
export async function* withText(
  rows: AsyncIterable<ResultRow>,
  text: string,
): AsyncGenerator<ResultRow> {
  const wanted = fold(text);
  for await (const row of rows) {
    if (fold(row.text.toString()).includes(wanted)) yield { ...row, blankLines: 0 };
  }
}

interface Reader {
  accountId: string;
  delimiter: Delimiter;
  /** Aborts when no one waits for the rows any more: a search may read a million of them before it finds one. */
  signal: AbortSignal | undefined;
  /** Minimum bytes that are read in a turn; by default each piece of a part is one. */
  turnBytes?: number;
}

/** The rows of these parts, in order, in the turns of the account. Throws as a share does, and the reason of `signal`. */
export async function* readResultRows(
  parts: AsyncIterable<PartPiece>,
  { accountId, delimiter, signal = new AbortController().signal, turnBytes = 0 }: Reader,
): AsyncGenerator<ResultRow> {
  const user = { accountId, signal };
  let scanner = new RecordScanner(partScan(delimiter));
  let rowsBefore = 0;
  let lineBefore = 1;
  const read = function* ({ buffer, records }: RecordBatch, firstRow: number) {
    for (let index = 0; index < records.count; index++) {
      const blankLines = (records.line[index] ?? 0) - lineBefore;
      lineBefore = records.lineAfter[index] ?? 0;
      const record = records.at(index);
      const text = buffer.subarray(record.start, record.end);
      let read: string[] | undefined;
      yield {
        row: firstRow + rowsBefore++,
        get cells() {
          read ??= readRecord(buffer, record, delimiter);
          return read;
        },
        text,
        blankLines,
      };
    }
  };
  let bytesOfTurn = Number.POSITIVE_INFINITY;
  for await (const { bytes, firstRow, isLast } of parts) {
    if (bytesOfTurn >= turnBytes) {
      await takeThreadTurn(user);
      bytesOfTurn = 0;
    }
    bytesOfTurn += bytes.length;
    const found = scanner.push(bytes);
    if (found !== null) yield* read(found, firstRow);
    if (!isLast) continue;
    yield* read(scanner.finish(), firstRow);
    scanner = new RecordScanner(partScan(delimiter));
    [rowsBefore, lineBefore] = [0, 1];
  }
}

/** Characters of a block of lines. */
export const BLOCK_CHARACTERS = 65_536;

/**
 * Joins lines into blocks: streaming single lines costs more than producing them. Each block is a turn of the account, because
 * the few rows of a piece may be megabytes of JSON: each repeats the names of all columns.
 */
export async function* inBlocks(
  lines: AsyncIterable<string>,
  user: ThreadUser,
): AsyncGenerator<Buffer> {
  let block = '';
  for await (const line of lines) {
    block += line;
    if (block.length < BLOCK_CHARACTERS) continue;
    yield Buffer.from(block);
    block = '';
    await takeThreadTurn(user);
  }
  if (block !== '') yield Buffer.from(block);
}
