/**
 * Redacts people who opted out after results were made. Every suppression has a number, and every part the
 * number up to which it was checked. A part that is behind is compared through its person index. When it
 * contains a suppressed person, it is rewritten under a new key and recorded in place of the old one. Any
 * number of processes may do so at once: a commit succeeds only if the key that it replaces is still current,
 * and objects written in vain are deleted.
 */

import { uuidv7 } from 'uuidv7';
import { graphOf } from '../../core/graph/graph-of.ts';
import { must } from '../../core/lib/assert.ts';
import { openShare } from '../../core/limits/shares.ts';
import { isObjectMissing, readObject } from '../../core/storage/object-sum.ts';
import {
  lastSuppression,
  redactDirectors,
  type Suppression,
  suppressedSince,
} from '../../core/suppression/opted-out-people.ts';
import type { Batch } from '../batch/batch.ts';
import { assertFilesKept } from './files-kept.ts';
import { partKey, personIndexKey } from './part-keys.ts';
import { listFinishedParts, type Part } from './parts.sql.ts';
import {
  DIRECTORS_COLUMN,
  encodePairs,
  type IndexedRecord,
  type IndexedSubject,
  indexedSubject,
} from './person-index.ts';
import { type PartsContext, readIndexedRecords, resultChanging } from './read-part.ts';
import { changeRows, dropRows, withholdPeople } from './redact-rows.ts';
import {
  deleteDiscarded,
  findPartKey,
  insertDiscarded,
  listPartsDueForRedaction,
  markPartsChecked,
  type PlacedPart,
  replacePart,
} from './redaction.sql.ts';
import { candidatesIndex } from './render-part.ts';
import { layoutOf } from './result-layout.ts';

/** Other processes may replace a part meanwhile, once for each suppression. */
const ROUNDS_MAX = 20;

/**
 * A rewrite has a whole part in memory, twice, and scans it on the thread that serves all other calls; clients decide how many
 * downloads begin after an opt-out. A turn is for one part.
 */
const downloadsInTurn = openShare({
  name: 'downloads that leave out people who opted out',
  inFlightMax: 2,
  accountInFlightMax: 1,
  // Downloads and reruns have limits of their own.
  accountWaitingMax: 1000,
  waitMsMax: 60_000,
});

/** Runs the rewrite of a part, now or in its turn. */
type Rewriting = (rewrite: () => Promise<boolean>) => Promise<boolean>;

/** The suppressions to look for in the parts of a batch. */
interface Check {
  batch: Batch;
  subject: IndexedSubject;
  /** Check parts up to this number. */
  number: number;
  /** The last number of each person suppressed since the part that is furthest behind. */
  numbers: ReadonlyMap<number, number>;
  run: Rewriting;
}

/**
 * The parts that can be read now, in order, without people who had opted out when this was called. Parts are rewritten in the
 * turns of the account. Throws as `redactBatch` and as a share, and the reason of the context's signal once it aborts.
 */
export async function openRedactedParts(context: PartsContext, batch: Batch): Promise<Part[]> {
  const { signal = new AbortController().signal } = context;
  const number = await lastNumber(context, batch);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    await redactUpTo(context, batch, number, (rewrite) =>
      downloadsInTurn(batch.accountId, signal, rewrite),
    );
    const parts = await listFinishedParts(context.sql, batch.id);
    // A worker may have committed one since, which it matched before an opt-out.
    if (parts.every((part) => (part.suppressionNumber ?? number) >= number)) return parts;
  }
  throw resultChanging();
}

/**
 * Brings all parts of a batch up to the last suppression. Returns the number of rewritten parts. Throws `AppError` 410 when the
 * files are not kept.
 */
export async function redactBatch(context: PartsContext, batch: Batch): Promise<number> {
  const number = await lastNumber(context, batch);
  return redactUpTo(context, batch, number, (rewrite) => rewrite());
}

/** The number of the last suppression; 0 for a batch without people, and before the first. */
async function lastNumber(context: PartsContext, batch: Batch): Promise<number> {
  assertFilesKept(batch);
  return indexedSubject(batch) === null ? 0 : lastSuppression(graphOf(context, batch.live));
}

/** Brings all parts of a batch up to a suppression; `run` runs each rewrite. Returns the number of rewritten parts. */
async function redactUpTo(
  context: PartsContext,
  batch: Batch,
  number: number,
  run: Rewriting,
): Promise<number> {
  const subject = indexedSubject(batch);
  if (subject === null || number === 0) return 0;
  const graph = graphOf(context, batch.live);
  let rewritten = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const parts = await listPartsDueForRedaction(context.sql, batch.id, number);
    if (parts.length === 0) return rewritten;
    const since = Math.min(...parts.map((part) => part.suppressionNumber));
    const numbers = numbersOf(await suppressedSince(graph, subject, since));
    rewritten += await redactParts(context, { batch, subject, number, numbers, run }, parts);
  }
  throw resultChanging();
}

function numbersOf(suppressions: readonly Suppression[]): Map<number, number> {
  return new Map(suppressions.map(({ id, number }) => [id, number]));
}

async function redactParts(
  context: PartsContext,
  check: Check,
  parts: readonly PlacedPart[],
): Promise<number> {
  const clean: string[] = [];
  let rewritten = 0;
  for (const part of parts) {
    const shown = check.numbers.size === 0 ? [] : await readPersonIndex(context, part);
    if (shown === null) continue;
    const hidden = shown.filter(({ id }) => (check.numbers.get(id) ?? 0) > part.suppressionNumber);
    if (hidden.length === 0) clean.push(part.objectKey);
    else {
      const rewrite = () => rewritePart(context, check, part, { shown, hidden });
      if (await check.run(rewrite)) rewritten++;
    }
  }
  if (clean.length > 0) {
    await markPartsChecked(context.sql, check.batch.id, clean, check.number);
  }
  return rewritten;
}

/** The person index of a part; null when another object has replaced it. */
async function readPersonIndex(
  context: PartsContext,
  part: PlacedPart,
): Promise<IndexedRecord[] | null> {
  return unlessReplaced(context, part, async () => readIndexedRecords(context.store, part));
}

async function unlessReplaced<T>(
  { sql }: PartsContext,
  part: PlacedPart,
  read: () => Promise<T>,
): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    const now = await findPartKey(sql, part);
    if (now === undefined || now.objectKey === part.objectKey) throw error;
    return null;
  }
}

/** A part's records, and those that must be redacted. */
interface Found {
  shown: readonly IndexedRecord[];
  hidden: readonly IndexedRecord[];
}

/**
 * Rewrites a part without the suppressed rows. The new objects are listed for deletion until the commit, the
 * old ones from then on, so a crash leaves no unknown object. False when another process was first.
 */
async function rewritePart(
  context: PartsContext,
  check: Check,
  part: PlacedPart,
  found: Found,
): Promise<boolean> {
  const { sql, store } = context;
  const bytes = await unlessReplaced(context, part, () => readObject(store, part.objectKey, part));
  if (bytes === null) return false;
  const changed = await redactedPart(context, check, bytes, found);
  const hidden = new Set(found.hidden);
  // A company stays: its other officers may opt out.
  const left = found.shown.filter(
    (pair) => !hidden.has(pair) || (check.subject === 'company' && pair.id > 0),
  );
  const key = partKey(part, uuidv7());
  const newKeys = [key, personIndexKey(key)];
  const oldKeys = [part.objectKey, personIndexKey(part.objectKey)];
  await insertDiscarded(sql, newKeys);
  const pairs = check.batch.kind === 'export' ? renumbered(left) : left;
  const ids = await store.put(personIndexKey(key), [encodePairs(pairs)]);
  const stored = await store.put(key, [changed]);
  const by = { newKeys, oldKeys, part: stored, ids, number: check.number };
  const replaced = await replacePart(sql, part, by);
  await deleteObjects(context, replaced ? oldKeys : newKeys);
  return replaced;
}

/** Every line of an export is a person: the remaining lines move up. */
function renumbered(left: readonly IndexedRecord[]): IndexedRecord[] {
  return left.map(({ id }, row) => ({ row, id }));
}

/** Deletes objects and their entries in the deletion list. */
async function deleteObjects(
  { sql, store }: Pick<PartsContext, 'sql' | 'store'>,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) await store.delete(key);
  await deleteDiscarded(sql, keys);
}

async function redactedPart(
  { sql, testSql }: PartsContext,
  { batch, subject }: Check,
  bytes: Buffer,
  { shown, hidden }: Found,
): Promise<Buffer> {
  const layout = layoutOf(batch);
  const rows = hidden.map(({ row }) => row);
  // An export has no input row to keep: the line is removed.
  if (!layout.matches) return dropRows(bytes, layout, rows);
  if (subject === 'person') {
    const people = new Set(hidden.map(({ id }) => id));
    const candidatesAt = candidatesIndex(layout.further);
    return changeRows(bytes, layout, rows, (added) => withholdPeople(added, people, candidatesAt));
  }
  const at = layout.columns.findIndex(({ header }) => header === DIRECTORS_COLUMN);
  const column = layout.names.length - layout.columns.length - layout.width + at;
  const companyOf = new Map(shown.filter(({ id }) => id > 0).map(({ row, id }) => [row, id]));
  const companies: { row: number; companyId: number; directors: string }[] = [];
  // First only reads the current cells.
  changeRows(bytes, layout, rows, (added, row) => {
    const companyId = must(companyOf.get(row), 'company of a row');
    companies.push({ row, companyId, directors: must(added[column], 'directors') });
    return added;
  });
  const left = await redactDirectors(graphOf({ sql, testSql }, batch.live), companies);
  const directorsOf = new Map(companies.map(({ row }, index) => [row, left[index] ?? '[]']));
  return changeRows(bytes, layout, rows, (added, row) =>
    added.with(column, must(directorsOf.get(row), 'directors of a row')),
  );
}
