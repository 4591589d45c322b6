/** Takes an import of a source back, with those that build on it. */
import { type Database, inReservedTransaction, type Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { entityCodes, type SourceEntity } from '../source-entities.ts';
import { buildQueued } from './build.ts';
import { type SourceImportReport, withImportLock } from './import-source.ts';
import { settleTouched } from './settle.ts';
import { sureKeysOf } from './sure-keys.ts';
import * as queries from './undo.sql.ts';

const RECORDS_PER_ROUND = 10_000;
/** Of so many companies that an undo ends, the records that refer to them are counted: it takes about a second. */
const COMPANIES_COUNTED_MAX = 20_000;

/** Returns the last imports before an id, the latest first. */
export async function listImports(
  sql: Sql,
  limit: number,
  before: number | null = null,
): Promise<queries.StoredImport[]> {
  return queries.listImports(sql, limit, before);
}

/** Returns the counts of a stored import under the names of a report. */
export function countsOfImport(
  one: queries.StoredImport,
): Omit<SourceImportReport, 'import_id' | 'source'> {
  return {
    rows: one.rowCount,
    new: one.newCount,
    changed: one.changedCount,
    same: one.sameCount,
    gone: one.goneCount,
    merged: one.mergedCount,
    rejected: one.rejectedCount,
    suppressed: one.suppressedCount,
  };
}

/** The consequences of undoing an import. */
export interface UndoPlan {
  /** Later imports that are undone with it, the latest first. */
  later: number[];
  /** Records that are as they were before. */
  restored: number;
  /** Records that are gone. */
  ended: number;
  /** Records of other imports that lose their company until it is imported again; null for too many companies to count. */
  without_company: number | null;
}

/** Returns an import with what undoing it would do; null once it is undone. Throws `AppError` 404. */
export async function showImport(
  sql: Sql,
  id: number,
): Promise<{ stored: queries.StoredImport; undo: UndoPlan | null }> {
  const stored = await queries.readImport(sql, id);
  if (stored === undefined) throw notFound(`Import ${id}`);
  if (!['running', 'done'].includes(stored.state)) return { stored, undo: null };
  const later = await queries.listBuiltOn(sql, id);
  const undone = [...later, id];
  const { companies, ...counts } = await queries.countRestored(sql, undone);
  const isCountable = companies <= COMPANIES_COUNTED_MAX;
  const without_company = isCountable ? await queries.countWithoutCompany(sql, undone) : null;
  return { stored, undo: { later, ...counts, without_company } };
}

function assertTold(
  id: number,
  later: readonly number[],
  withLater: boolean | readonly number[],
): void {
  const untold = later.filter((one) =>
    typeof withLater === 'boolean' ? !withLater : !withLater.includes(one),
  );
  if (untold.length === 0) return;
  throw conflict(
    'import_built_on',
    `Later imports build on import ${id}: ${untold.join(', ')}. Undo them first, or all at once with --with-later; nothing was changed.`,
    { extensions: { imports: untold } },
  );
}

/**
 * Undoes an import: records that it changed or ended are again as they were, those that it brought are gone, and
 * people and companies that it joined are apart. Opt-outs stay. Returns the undone imports. Throws `AppError` 404 for
 * an unknown import, 409 `import_undone` for one that is undone already, 409 `import_built_on` when later imports
 * build on it and `withLater` is not set; nothing is changed then.
 */
export async function undoImport(
  sql: Database,
  id: number,
  { withLater = false }: { withLater?: boolean | readonly number[] } = {},
): Promise<number[]> {
  return withImportLock(sql, async (locked) => {
    await buildQueued(sql);
    const found = await queries.readImport(sql, id);
    if (found === undefined) throw notFound(`Import ${id}`);
    if (found.state !== 'done')
      throw conflict('import_undone', `Import ${id} has already been undone.`);
    const later = await queries.listBuiltOn(sql, id);
    assertTold(id, later, withLater);
    const undone = [...later, id];
    for (const one of undone) await inReservedTransaction(locked, (tx) => undoOne(tx, one));
    await buildQueued(sql);
    return undone;
  });
}

async function undoOne(tx: Sql, id: number): Promise<void> {
  await queries.restoreRecords(tx, id);
  let after = 0;
  for (;;) {
    const records = await queries.readRestored(tx, after, RECORDS_PER_ROUND);
    if (records.length === 0) break;
    await queries.insertKeys(tx, records.flatMap(keysOf));
    after = must(records.at(-1), 'record').number;
  }
  await settleTouched(tx, id);
}

function keysOf({ number, source, key, entity, record }: queries.RestoredRecord) {
  const { _company: company = [], _sameAs: sameAs = [], ...values } = JSON.parse(record);
  const name = Object.entries(entityCodes).find(([, code]) => code === entity)?.[0] as SourceEntity;
  const sure = sureKeysOf(source, { entity: name, key, record: values, sameAs });
  return [
    ...sure.map((value) => ({ number, value, isReference: false })),
    ...company.map((value: string) => ({ number, value, isReference: true })),
  ];
}
