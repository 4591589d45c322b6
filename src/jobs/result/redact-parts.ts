/**
 * Keeps results free of people who opted out after they were made. Every suppression has a number, every
 * part the number up to which it was checked; a part that is behind is compared with the ids beside it, and
 * when it shows somebody who may not be shown, it is written anew under another key and recorded in the
 * place of the old one. Any number of processes may do so at once: what a commit records is decided by
 * the key that it replaces, and what was written in vain is deleted.
 */

import { uuidv7 } from 'uuidv7';
import { graphOf } from '../../core/graph/graph-of.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import { isObjectMissing, readObject } from '../../core/storage/object-sum.ts';
import {
  lastSuppression,
  redactDirectors,
  type Suppression,
  suppressedSince,
} from '../../core/suppression/opted-out-people.ts';
import type { Batch } from '../batch/batch.ts';
import { assertFilesKept } from './files-kept.ts';
import { listFinishedParts, type Part } from './parts.sql.ts';
import {
  directorsColumn,
  encodePairs,
  type IndexedRecord,
  type IndexedSubject,
  indexedSubject,
  personIndexKey,
} from './person-index.ts';
import { type PartsContext, readIndexedRecords } from './read-part.ts';
import { changeRows, dropRows, withholdPerson } from './redact-rows.ts';
import {
  deleteDiscarded,
  findPartKey,
  insertDiscarded,
  listPartsDueForRedaction,
  markPartsChecked,
  type PlacedPart,
  replacePart,
} from './redaction.sql.ts';
import { layoutOf } from './result-layout.ts';

/** Others may replace a part in between, which they do for each suppression once. */
const ROUNDS_MAX = 20;

/** What is looked for in the parts of a batch. */
interface Check {
  batch: Batch;
  subject: IndexedSubject;
  /** Parts are checked up to this number. */
  number: number;
  /** The last number of everybody who was suppressed since the part that is furthest behind. */
  numbers: ReadonlyMap<number, number>;
}

/**
 * The parts that a reader may be given now, in order. Nobody is in them who had opted out when this was
 * called. Throws as `checkBatch`.
 */
export async function openCheckedParts(context: PartsContext, batch: Batch): Promise<Part[]> {
  await checkBatch(context, batch);
  return listFinishedParts(context.sql, batch.id);
}

/**
 * Brings all parts of a batch up to the last suppression. Returns how many were written anew. Throws
 * `AppError` 410 when the files are not kept, or when a part does not say whom it shows.
 */
export async function checkBatch(context: PartsContext, batch: Batch): Promise<number> {
  assertFilesKept(batch);
  const subject = indexedSubject(batch);
  if (subject === null) return 0;
  const graph = graphOf(context, batch.live);
  const number = await lastSuppression(graph);
  if (number === 0) return 0;
  let rewritten = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const parts = await listPartsDueForRedaction(context.sql, batch.id, number);
    if (parts.length === 0) return rewritten;
    const since = Math.min(...parts.map((part) => part.suppressionNumber));
    if (since < 0) throw unknownPeople(batch);
    const numbers = numbersOf(await suppressedSince(graph, subject, since));
    rewritten += await checkParts(context, { batch, subject, number, numbers }, parts);
  }
  throw resultChanging();
}

/** 503 for a result that changes while it is read. */
export function resultChanging(): AppError {
  return new AppError({
    code: 'result_changing',
    status: 503,
    message: 'People in this result opt out faster than it can be changed. Try again.',
  });
}

function numbersOf(suppressions: readonly Suppression[]): Map<number, number> {
  return new Map(suppressions.map(({ id, number }) => [id, number]));
}

async function checkParts(
  context: PartsContext,
  check: Check,
  parts: readonly PlacedPart[],
): Promise<number> {
  const clean: string[] = [];
  let rewritten = 0;
  for (const part of parts) {
    const shown = check.numbers.size === 0 ? [] : await readShown(context, part);
    if (shown === null) continue;
    const hidden = shown.filter(({ id }) => (check.numbers.get(id) ?? 0) > part.suppressionNumber);
    if (hidden.length === 0) clean.push(part.objectKey);
    else if (await rewritePart(context, check, part, { shown, hidden })) rewritten++;
  }
  if (clean.length > 0) {
    await markPartsChecked(context.sql, check.batch.id, clean, check.number);
  }
  return rewritten;
}

/** Whom a part shows; null when another object has taken its place. */
async function readShown(context: PartsContext, part: PlacedPart): Promise<IndexedRecord[] | null> {
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

/** What a part shows, and what of it may not be shown. */
interface Found {
  shown: readonly IndexedRecord[];
  hidden: readonly IndexedRecord[];
}

/**
 * Writes a part anew without the rows that may not be shown. The new objects are on the list of what is to
 * be deleted until the commit, the old ones from then on: a crash leaves nothing that nobody knows. False
 * when another was first.
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
  const changed = await hideFrom(context, check, bytes, found);
  const hidden = new Set(found.hidden);
  // A company stays: other officers of it may opt out.
  const left = found.shown.filter(
    (pair) => !hidden.has(pair) || (check.subject === 'company' && pair.id > 0),
  );
  const key = `batches/${part.batchId}/parts/${part.chunkNumber}-${part.k}-${uuidv7()}.csv`;
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

/** Every line of an export shows somebody: those that are left move up. */
function renumbered(left: readonly IndexedRecord[]): IndexedRecord[] {
  return left.map(({ id }, row) => ({ row, id }));
}

/** Deletes objects, and what remembers that they are to be deleted. */
export async function deleteObjects(
  { sql, store }: Pick<PartsContext, 'sql' | 'store'>,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) await store.delete(key);
  await deleteDiscarded(sql, keys);
}

async function hideFrom(
  { sql, testSql }: PartsContext,
  { batch, subject }: Check,
  bytes: Buffer,
  { shown, hidden }: Found,
): Promise<Buffer> {
  const layout = layoutOf(batch);
  const rows = hidden.map(({ row }) => row);
  // An export owes nobody a line for a person who is not in it.
  if (!layout.matches) return dropRows(bytes, layout, rows);
  if (subject === 'person') return changeRows(bytes, layout, rows, withholdPerson);

  const at = layout.columns.findIndex(({ header }) => header === directorsColumn);
  const column = layout.names.length - layout.columns.length - layout.width + at;
  const companyOf = new Map(shown.filter(({ id }) => id > 0).map(({ row, id }) => [row, id]));
  const companies: { row: number; companyId: number; directors: string }[] = [];
  // Only reads what stands there now.
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

/** A part of a version that kept no ids beside it, and somebody opted out since. */
function unknownPeople({ id }: Batch): AppError {
  return new AppError({
    code: 'files_expired',
    status: 410,
    message: `The result of batch ${id} was made by an older version, which did not keep whom it shows, and people have opted out since. Upload the list again for a new result.`,
  });
}
