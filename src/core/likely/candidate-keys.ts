/**
 * Bounds the look-ups of likely matches, whatever names rows have: keys and records that are read at once, candidates of a
 * row, and comparisons in one turn of the thread.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { must } from '../lib/assert.ts';
import { KEY_RECORDS_MAX } from './likely.sql.ts';

const KEYS_AT_ONCE = 50_000;
const CARDS_AT_ONCE = 10_000;
/** Records compared with one row: six words, each with the full names that it stands for, find many thousands. */
const COMPARED_MAX = 500;
/** Comparisons between which the thread serves others: some milliseconds. */
const COMPARISONS_AT_ONCE = 500;

/** The records that a row may mean. */
export interface RowIds {
  /** Ascending. */
  ids: readonly number[];
}

/** Divides rows, in their order, into groups of not many more records, with ascending ids, than are read at once. */
export function* groupsByIds<Row extends RowIds>(
  rows: readonly Row[],
): Generator<{ group: Row[]; ids: number[] }> {
  let group: Row[] = [];
  let wanted = new Set<number>();
  for (const row of rows) {
    group.push(row);
    for (const id of row.ids) wanted.add(id);
    if (wanted.size < CARDS_AT_ONCE) continue;
    yield { group, ids: inOrder(wanted) };
    group = [];
    wanted = new Set();
  }
  if (group.length > 0) yield { group, ids: inOrder(wanted) };
}

/** Returns ids in ascending order, in which the database reads neighbours together. */
export function inOrder(ids: ReadonlySet<number>): number[] {
  return Array.from(Float64Array.from(ids).sort());
}

/** Returns a function that counts comparisons to come, and now and then waits until others had the thread. */
export function pauses(): (comparisons: number) => Promise<void> | undefined {
  let since = 0;
  return (comparisons) => {
    since += comparisons;
    if (since <= COMPARISONS_AT_ONCE) return undefined;
    since = 0;
    return nextRound();
  };
}

interface KeysOfRows {
  keysOf: (index: number) => ReadonlySet<number>;
  /** Tells the keys of a whole name. */
  isWhole: (key: number, index: number) => boolean;
}

/** The same, found by keys. */
export interface Found extends RowIds {
  isCut: boolean;
}

/** Looks up the keys of rows, those of many at once. */
export async function findByKeys(
  rows: number,
  { keysOf, isWhole }: KeysOfRows,
  find: (keys: readonly number[]) => Promise<string>,
): Promise<Found[]> {
  const found: Found[] = [];
  while (found.length < rows) {
    const from = found.length;
    const keysOfRows: ReadonlySet<number>[] = [];
    let keys = 0;
    while (keys < KEYS_AT_ONCE && from + keysOfRows.length < rows) {
      const own = keysOf(from + keysOfRows.length);
      keysOfRows.push(own);
      keys += own.size;
    }
    const idsOf = await findIds(keysOfRows, find);
    for (const [at, own] of keysOfRows.entries()) {
      found.push(idsOfRow(own, idsOf, (key) => isWhole(key, from + at)));
    }
  }
  return found;
}

/** Returns the records of each key; each key is looked up once. */
async function findIds(
  keysOfRows: readonly ReadonlySet<number>[],
  find: (keys: readonly number[]) => Promise<string>,
): Promise<Map<number, number[]>> {
  const keys = new Set<number>();
  for (const own of keysOfRows) for (const key of own) keys.add(key);
  const wanted = [...keys];
  const idsOf = new Map<number, number[]>();
  const text = wanted.length === 0 ? '' : await find(wanted);
  for (const line of text === '' ? [] : text.split('\n')) {
    const space = line.indexOf(' ');
    const ids = line.slice(space + 1).split(',');
    idsOf.set(must(wanted[Number(line.slice(0, space)) - 1], 'key of a line'), ids.map(Number));
  }
  return idsOf;
}

function idsOfRow(
  keys: ReadonlySet<number>,
  idsOf: ReadonlyMap<number, number[]>,
  isWhole: (key: number) => boolean,
): Found {
  const lists: number[][] = [];
  let isCut = false;
  let length = 0;
  for (const key of keys) {
    const found = idsOf.get(key);
    if (found === undefined) continue;
    if (found.length > KEY_RECORDS_MAX) isCut ||= isWhole(key);
    else {
      lists.push(found);
      length += found.length;
    }
  }
  if (length <= COMPARED_MAX) return { ids: ascending(lists.flat()), isCut };
  // What few records have tells most.
  const ids = new Set<number>();
  for (const list of lists.sort((a, b) => a.length - b.length)) {
    if (ids.size + list.length > COMPARED_MAX) return { ids: ascending([...ids]), isCut: true };
    for (const id of list) ids.add(id);
  }
  return { ids: ascending([...ids]), isCut };
}

/** Sorts ids, each once. */
export function ascending(ids: number[]): number[] {
  return ids.sort((a, b) => a - b).filter((id, place) => id !== ids[place - 1]);
}
