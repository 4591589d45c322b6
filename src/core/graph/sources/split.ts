/**
 * Splits records of sources, by hand, out of a person or company that they were wrongly merged into. They are then a
 * person or company of their own, and are never joined with the others again, whatever is imported, until the split
 * is undone.
 */
import { type Database, inTransaction, type Sql } from '../../db/client.ts';
import { conflict, invalidParameter, notFound } from '../../lib/errors.ts';
import { isAnySuppressed } from '../../suppression/suppress.ts';
import { entityCodes } from '../source-entities.ts';
import { buildQueued } from './build.ts';
import { assertStillLocked } from './identify.sql.ts';
import { withImportLock } from './import-source.ts';
import { createTouched } from './settle.sql.ts';
import { settleTouched } from './settle.ts';
import { resolveMergedId } from './show-sources.sql.ts';
import * as queries from './split.sql.ts';
import { haveOptedOut } from './stated-identifiers.ts';

export interface Split {
  id: number;
  of: 'company' | 'person';
  /** The person or company that the records were a part of. */
  from: number;
  /** Their numbers, as `showSources` returns them. */
  records: number[];
  madeAt: Date;
  undoneAt: Date | null;
}

/** Returns splits before an id, the latest first. */
export async function listSplits(
  sql: Sql,
  limit: number,
  before: number | null = null,
): Promise<Split[]> {
  return (await queries.listSplits(sql, limit, before)).map(splitOf);
}

function splitOf({ id, entity, fromId, numbers, madeAt, undoneAt }: queries.StoredSplit): Split {
  const of = entity === entityCodes.company ? 'company' : 'person';
  return { id, of, from: fromId, records: numbers, madeAt, undoneAt };
}

/**
 * Splits records, by their numbers, out of a person or company; an id that was merged leads to the one that stayed.
 * Returns the split and the ids that the records have now. Throws `AppError` 404, 400 for records that are not a part of
 * it or that are all of it, 409 `import_running` while sources are imported.
 */
export async function splitRecords(
  sql: Database,
  of: 'company' | 'person',
  asked: number,
  records: readonly number[],
): Promise<{ split: number; ids: number[] }> {
  return changeSplits(sql, async (tx) => {
    const entity = entityCodes[of];
    const id = await resolveMergedId(tx, entity, asked);
    const all = await queries.listRecordsOf(tx, entity, id);
    if (all.length === 0) throw notFound(`${of === 'company' ? 'Company' : 'Person'} ${asked}`);
    const numbers = [...new Set(records)].sort((a, b) => a - b);
    const foreign = numbers.filter((number) => !all.includes(number));
    if (foreign.length > 0) {
      throw invalidParameter(
        'records',
        `has ${foreign.join(', ')}, which ${of} ${id} does not have`,
      );
    }
    if (numbers.length === 0 || numbers.length === all.length) {
      throw invalidParameter(
        'records',
        `must name some of the ${all.length} records of ${of} ${id}, and leave at least one`,
      );
    }
    const split = await queries.insertSplit(tx, { entity, fromId: id, numbers });
    const rest = all.filter((number) => !numbers.includes(number));
    const isHidden = of === 'person' && (await isAnySuppressed(tx, [id]));
    return { split, numbers, innocent: isHidden ? await innocentOf(tx, numbers, rest) : [] };
  });
}

/**
 * Undoes a split: its records are joined again where they are surely the same. Returns the ids that they have now. Throws
 * `AppError` 404, 409 `split_undone`, 409 `import_running`.
 */
export async function undoSplit(
  sql: Database,
  id: number,
): Promise<{ split: number; ids: number[] }> {
  return changeSplits(sql, async (tx) => {
    const found = await queries.findSplit(tx, id);
    if (found === undefined) throw notFound(`Split ${id}`);
    if (found.undoneAt !== null)
      throw conflict('split_undone', `Split ${id} has already been undone.`);
    await queries.markUndone(tx, id);
    return { split: id, numbers: found.numbers, innocent: [] };
  });
}

/**
 * Returns the records of the one of two people who is surely not the one who opted out: only the other's have, or had, an
 * identifier that opted out. Returns none when it is not known which of them did, because neither may come back.
 */
async function innocentOf(
  tx: Sql,
  one: readonly number[],
  other: readonly number[],
): Promise<readonly number[]> {
  const isOne = await haveOptedOut(tx, one);
  if (isOne === (await haveOptedOut(tx, other))) return [];
  const [innocent, hidden] = isOne ? [other, one] : [one, other];
  const first = await queries.readFirstOptOut(tx, innocent);
  const theirs = await queries.readFirstOptOut(tx, hidden);
  // Who did before the other one, by id, was not joined with them then.
  return first !== null && theirs !== null && first < theirs ? [] : innocent;
}

/** Records a change of splits, settles who is who, and builds the people and companies that it concerns. */
async function changeSplits(
  sql: Database,
  change: (tx: Sql) => Promise<{ split: number; numbers: number[]; innocent: readonly number[] }>,
): Promise<{ split: number; ids: number[] }> {
  return withImportLock(sql, async (locked) => {
    // What an interrupted import left is many records, or their counts.
    await buildQueued(sql);
    const { split, numbers } = await inTransaction(sql, async (tx) => {
      const changed = await change(tx);
      await createTouched(tx);
      await queries.applySplits(tx, changed.numbers);
      await settleTouched(tx, 0, changed.innocent);
      // The transaction of a call is one of its pool, which checks its key.
      await assertStillLocked(locked);
      return changed;
    });
    await buildQueued(sql, undefined, { counts: false });
    return { split, ids: await queries.listIdsOf(sql, numbers) };
  });
}
