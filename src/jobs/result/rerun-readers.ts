/**
 * Reads the reruns of a list beside its rows, in the order of the rows. A list may have a thousand reruns, each of a few rows:
 * one is opened when a row may have its answer, and its parts are in memory only while they are few.
 */
import type { ListBatch } from '../batch/batch.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { type AnsweringRerun, findRerunRows } from '../batch/reruns.sql.ts';
import type { PartsContext } from './read-part.ts';
import { openParts } from './read-parts.ts';
import { openRedactedParts } from './redact-parts.ts';
import type { ResultLayout } from './result-formats.ts';
import { layoutOf } from './result-layout.ts';
import { type ResultRow, readResultRows } from './result-rows.ts';

/** Bytes of the reruns that are open; with more, the one that was used longest ago is closed and read again later. */
const OPEN_BYTES_MAX = 16 * 1024 * 1024;

export interface OpenReruns {
  /**
   * Returns the row of the last rerun that has it and satisfies `isAnswer`, in the columns of the list; null without one.
   * Call with ascending rows. Throws as `openParts`.
   */
  find(row: number, isAnswer: (row: ResultRow) => boolean): Promise<ResultRow | null>;
  close(): Promise<void>;
}

/** A rerun that is being read. */
interface OpenRerun {
  /** Numbers of its rows in the list. */
  numbers: Int32Array;
  rows: AsyncGenerator<ResultRow>;
  /** The row that was read last, with its number in the rerun; null before the first one. */
  head: ResultRow | null;
  /** An upper bound for what it holds. */
  bytes: number;
}

interface Reader {
  id: string;
  /** A row of the list before which it has no further one; infinite after its last one. */
  nextRow: number;
}

/** Opens the reruns of a list with this layout, which are given from the latest to the first. */
export function openRerunReaders(
  context: PartsContext,
  reruns: readonly AnsweringRerun[],
  layout: ResultLayout,
  bytesMax = OPEN_BYTES_MAX,
): OpenReruns {
  const readers = reruns.map(({ id, firstRow }): Reader => ({ id, nextRow: firstRow }));
  /** The one that was used longest ago comes first. */
  const open = new Map<Reader, OpenRerun>();

  const shut = async (reader: Reader) => {
    const rerun = open.get(reader);
    open.delete(reader);
    await rerun?.rows.return(undefined);
  };

  const use = async (reader: Reader, row: number): Promise<OpenRerun | null> => {
    const rerun = open.get(reader) ?? (await openRerun(context, reader.id, layout, row));
    open.delete(reader);
    if (rerun === null) return null;
    let bytes = rerun.bytes;
    for (const other of open.values()) bytes += other.bytes;
    for (const [oldest, { bytes: freed }] of open) {
      if (bytes <= bytesMax) break;
      await shut(oldest);
      bytes -= freed;
    }
    open.set(reader, rerun);
    return rerun;
  };

  const read = async (reader: Reader, row: number): Promise<ResultRow | null> => {
    if (reader.nextRow > row) return null;
    const rerun = await use(reader, row);
    const numbers = rerun?.numbers ?? [];
    const place = indexFrom(numbers, row);
    const isThere = numbers[place] === row;
    reader.nextRow = numbers[isThere ? place + 1 : place] ?? Number.POSITIVE_INFINITY;
    const found = isThere && rerun !== null ? await readRow(rerun, place + 1) : null;
    if (reader.nextRow === Number.POSITIVE_INFINITY) await shut(reader);
    return found === null ? null : { ...found, row };
  };

  return {
    async find(row, isAnswer) {
      for (const reader of readers) {
        const found = await read(reader, row);
        if (found !== null && isAnswer(found)) return found;
      }
      return null;
    },
    async close() {
      for (const reader of [...open.keys()]) await shut(reader);
    },
  };
}

/** Returns the index of the first number that is not below `row`. */
function indexFrom(numbers: ArrayLike<number>, row: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((numbers[middle] ?? 0) < row) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Reads on to the row with this number in the rerun; null when it has no result. */
async function readRow(rerun: OpenRerun, number: number): Promise<ResultRow | null> {
  while ((rerun.head?.row ?? 0) < number) {
    const next = await rerun.rows.next();
    if (next.done === true) return null;
    rerun.head = next.value;
  }
  return rerun.head?.row === number ? rerun.head : null;
}

/** Opens a rerun from the part that has the row, or the first one after it; null when it has none. */
async function openRerun(
  context: PartsContext,
  id: string,
  layout: ResultLayout,
  row: number,
): Promise<OpenRerun | null> {
  const rerun = (await findBatch(context.sql, id)) as ListBatch | undefined;
  const numbers = Int32Array.from((await findRerunRows(context.sql, id)) ?? []);
  const first = indexFrom(numbers, row) + 1;
  if (rerun === undefined || first > numbers.length) return null;
  const { names, width, delimiter } = layoutOf(rerun);
  const parts = (await openRedactedParts(context, rerun)).filter(
    ({ firstRow, rows }) => firstRow + rows > first,
  );
  const read = readResultRows(await openParts(context, rerun.accountId, parts), {
    accountId: rerun.accountId,
    delimiter,
    signal: context.signal,
  });
  // The rerun may have other columns.
  const places = layout.names.map((name, index) =>
    index < layout.width ? index : names.indexOf(name, width),
  );
  const rows = (async function* () {
    for await (const own of read) {
      yield { ...own, cells: places.map((place) => own.cells[place] ?? '') };
    }
  })();
  const partBytes = Math.max(0, ...parts.map(({ bytes }) => bytes));
  return { numbers, rows, head: null, bytes: partBytes + numbers.byteLength };
}
