/** Takes an import of a source back, with those that build on it. */
import { type Database, inTransaction, type Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { buildQueued } from './build.ts';
import { withImportLock } from './import-source.ts';
import { settleTouched } from './settle.ts';
import { entityCodes, type SourceEntity } from './source-record.ts';
import { sureKeysOf } from './sure-keys.ts';
import * as queries from './undo.sql.ts';

const RECORDS_PER_ROUND = 10_000;

/** Returns the last imports, the latest first. */
export async function listImports(sql: Sql, limit: number): Promise<queries.StoredImport[]> {
  return queries.listImports(sql, limit);
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
  { withLater = false }: { withLater?: boolean } = {},
): Promise<number[]> {
  return withImportLock(sql, async () => {
    await buildQueued(sql);
    const found = await queries.readImport(sql, id);
    if (found === undefined) throw notFound(`import ${id}`);
    if (found.state !== 'done') throw conflict('import_undone', `Import ${id} is undone already.`);
    const later = await queries.listBuiltOn(sql, id);
    if (later.length > 0 && !withLater) {
      throw conflict(
        'import_built_on',
        `Later imports build on import ${id}: ${later.join(', ')}. Undo them first, or all at once with --with-later; nothing was changed.`,
      );
    }
    const undone = [...later, id];
    for (const one of undone) await inTransaction(sql, (tx) => undoOne(tx, one));
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
