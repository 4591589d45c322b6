/**
 * Imports the files of a source: all rows are staged and checked, then compared with what the source said before
 * and written in one transaction, and the people and companies that they concern are built in further ones. A
 * refused file changes nothing but that its opt-outs hold; an import that dies goes on where it was.
 */
import { hash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { type Database, inReservedTransaction, type Sql } from '../../db/client.ts';
import { assert } from '../../lib/assert.ts';
import { conflict, unprocessable } from '../../lib/errors.ts';
import { toStorableJson } from '../../lib/storable-json.ts';
import { suppressOnce, suppressPeople } from '../../suppression/suppress.ts';
import { companyIdentifierCodes } from '../identifier-kinds.ts';
import { writeReject } from '../import/write-reject.ts';
import { entityCodes } from '../source-entities.ts';
import { buildQueued } from './build.ts';
import { buildableRow } from './buildable-row.ts';
import * as identify from './identify.sql.ts';
import * as stage from './import-rows.sql.ts';
import { countMerged } from './settle.sql.ts';
import { settleTouched } from './settle.ts';
import { HOLDER_MARK, rowStates, type SourceRecord, type SourceRow } from './source-record.ts';
import { sureKeysOf } from './sure-keys.ts';

/** The files of one import, as an adapter reads them. */
export interface SourceInput {
  source: string;
  files: readonly string[];
  /** Day of the data, `2026-10-01`. */
  asOf: string;
  /**
   * Prefixes of the keys of which the files hold everything: a record that they do not name is gone. Null for
   * files of changes.
   */
  snapshotOf: readonly string[] | null;
  /** Reads all rows. Throws `AppError` for files that must not be imported, before or after the last row. */
  rows(): AsyncIterable<readonly SourceRow[]>;
  /** SHA-256 of the files; known after the last row. */
  sha256(): Buffer;
}

export interface SourceImportOptions {
  /** Counts what would change, and changes nothing. */
  isDryRun?: boolean;
  /** Takes a snapshot though it lacks many records. */
  allowsGone?: boolean;
  /** Receives a JSON line `{line, reason, field, record}` for each rejected row; is not ended. */
  rejects: Writable;
  /**
   * Told of the rows that are read, and of the people and companies that are left to build. An error that it throws ends the
   * import.
   */
  onProgress?: (step: 'read' | 'build', count: number) => void;
  /** Called at the end of the transaction that writes the records, which an error rolls back; not for a dry run. */
  onWritten?: (tx: Sql, report: SourceImportReport) => Promise<void>;
}

export interface SourceImportReport extends identify.ImportCounts {
  /** Null for a dry run. */
  import_id: number | null;
  source: string;
}

const STAGED_PER_COPY = 10_000;
/** A snapshot that lacks more than this share of the records is refused as cut off, unless they are few. */
const GONE_SHARE_MAX = 0.05;
const GONE_FEW = 20;
const GONE_SHARE_OF_FEW_MAX = 0.5;
/** Reasons of a row that is not whole: as the last one of a file, it was cut off. */
const brokenReasons: ReadonlySet<string> = new Set([
  'fewer_cells_than_header',
  'open_quote',
  'not_json',
  'not_utf8',
]);

/**
 * Imports a source. Throws `AppError` 422 for a refused file, 409 `import_running` while another import of a source
 * runs; nothing is changed then, but the opt-outs of a refused file are recorded when it was read to its end.
 */
export async function importSource(
  sql: Database,
  input: SourceInput,
  options: SourceImportOptions,
): Promise<SourceImportReport> {
  const { isDryRun = false } = options;
  return withImportLock(sql, async (locked) => {
    // What an interrupted import left is finished first: the comparison below reads it.
    if (!isDryRun) await buildQueued(sql);
    try {
      await stage.clearImportRows(locked);
      const staged = await stageAll(locked, input, options);
      staged.erased = await stage.nameErased(locked, input.source, { isDryRun });
      if (staged.haveHolders) await stage.resolveHeldKeys(locked, input.source);
      if (!isDryRun) {
        await suppressOnce(sql, staged.optedOut);
        const people = await stage.listOptedOutPeople(locked, input);
        if (people.length > 0) await suppressPeople(sql, people, []);
      }
      const report = await identifyStaged(locked, input, options, staged);
      if (!isDryRun) {
        if (report.new + report.changed + report.gone + report.suppressed > 0) {
          await stage.clearImportRows(locked);
        }
        await buildQueued(sql, (queued) => options.onProgress?.('build', queued));
      }
      return report;
    } finally {
      await stage.clearImportRows(locked);
    }
  });
}

/**
 * Builds what an import that was interrupted has left. Throws `AppError` 409 `import_running` while another import of a
 * source runs.
 */
export async function finishImport(
  sql: Database,
  onProgress: (queued: number) => void,
): Promise<void> {
  await withImportLock(sql, () => buildQueued(sql, onProgress));
}

/**
 * Runs work while no other import of a source runs on this graph; imports that share the lock run beside each other. The lock
 * ends with the connection that the work is given: what must not run beside another import, and the stage, which a crash of the
 * server empties, are used on it alone. `sql` has two connections at least. Throws `AppError` 409 `import_running`.
 */
export async function withImportLock<T>(
  sql: Database,
  work: (locked: Sql) => Promise<T>,
  { shared = false } = {},
): Promise<T> {
  assert(sql.options.max > 1, 'a connection beside that of the lock');
  const connection = await sql.reserve();
  const locked = connection as unknown as Sql;
  try {
    if (!(await identify.tryLockImports(locked, shared))) {
      throw conflict('import_running', 'Another import is running. Wait for its end.');
    }
    try {
      return await work(locked);
    } finally {
      await identify.unlockImports(locked, shared);
    }
  } finally {
    connection.release();
  }
}

interface Staged {
  rows: number;
  rejected: number;
  /** A file ended in the middle of a row. */
  isCutOff: boolean;
  /** Some keys are of `heldKey`. */
  haveHolders: boolean;
  /** Number of kept keys of the source when the stage was compared with them. */
  erased: number;
  /** Identifiers of people who opted out, as the source has them. */
  optedOut: string[];
}

async function stageAll(
  locked: Sql,
  input: SourceInput,
  options: SourceImportOptions,
): Promise<Staged> {
  const counts: Staged = {
    rows: 0,
    rejected: 0,
    isCutOff: false,
    haveHolders: false,
    erased: 0,
    optedOut: [],
  };
  const last = { line: 0, isBroken: false };
  const endFile = () => {
    counts.isCutOff ||= last.isBroken;
  };
  const placeOf = stage.openPlaces();
  let pending: stage.StagedRow[] = [];
  let copying = Promise.resolve();
  const flush = async () => {
    await copying;
    const rows = pending;
    pending = [];
    copying = inReservedTransaction(locked, (tx) => stage.stageRows(tx, rows));
    // An early failure is thrown at the next await; until then it must not count as unhandled.
    copying.catch(() => {});
  };
  try {
    for await (const rows of input.rows()) {
      for (const given of rows) {
        const row = buildableRow(given);
        if (row.line <= last.line) endFile();
        [last.line, last.isBroken] = [row.line, 'reason' in row && brokenReasons.has(row.reason)];
        counts.rows += 1;
        if ('reason' in row) {
          counts.rejected += 1;
          const { line, reason, field = null, source: record } = row;
          await writeReject(options.rejects, { line, reason, field, record });
        }
        if ('optedOut' in row) counts.optedOut.push(...row.optedOut);
        const staged = stagedRows(input.source, row, placeOf(row.line));
        counts.haveHolders ||= staged.some(({ key }) => key.includes(HOLDER_MARK));
        pending.push(...staged);
      }
      if (pending.length >= STAGED_PER_COPY) await flush();
      options.onProgress?.('read', counts.rows);
    }
  } finally {
    await copying;
  }
  endFile();
  await flush();
  await copying;
  return counts;
}

/** `line` is the row's place among those of all files. */
function stagedRows(source: string, row: SourceRow, line: number): stage.StagedRow[] {
  const empty = { line, place: 0, hash: '', record: null, keys: [], refs: [] };
  const ended = ([entity, key]: readonly [SourceRecord['entity'], string], place: number) => ({
    ...empty,
    place,
    isCounted: place === 0,
    entity: entityCodes[entity],
    key,
  });
  if ('records' in row) {
    const ends = (row.ends ?? []).map((key, index) => ({
      ...ended(key, row.records.length + index),
      state: rowStates.ended,
    }));
    return [
      ...row.records.map((record, place) => stagedRecord(source, record, line, place)),
      ...ends,
    ];
  }
  if ('ended' in row) return [{ ...ended(row.ended, 0), state: rowStates.ended }];
  if ('optedOut' in row) {
    return row.keys.map((key, place) => ({ ...ended(key, place), state: rowStates.optedOut }));
  }
  return (row.seen ?? []).map((key, place) => {
    return { ...empty, place, isCounted: false, state: rowStates.seen, entity: 1, key };
  });
}

function stagedRecord(
  source: string,
  given: SourceRecord,
  line: number,
  place: number,
): stage.StagedRow {
  const { entity, key, company = [], person, sameAs = [] } = given;
  const linked = {
    ...(company.length === 0 ? {} : { _company: company }),
    ...(person === undefined ? {} : { _person: person }),
    ...(sameAs.length === 0 ? {} : { _sameAs: sameAs }),
  };
  const record = toStorableJson({ ...given.record, ...linked });
  return {
    line,
    place,
    isCounted: place === 0,
    state: rowStates.record,
    entity: entityCodes[entity],
    key,
    hash: hash('md5', record, 'hex'),
    record,
    keys: sureKeysOf(source, given),
    refs: company,
  };
}

async function identifyStaged(
  locked: Sql,
  input: SourceInput,
  options: SourceImportOptions,
  staged: Staged,
): Promise<SourceImportReport> {
  let report: SourceImportReport | undefined;
  const run = inReservedTransaction(locked, async (tx) => {
    report = await identifyIn(tx, input, options, staged);
    if (options.isDryRun === true) throw new DryRunEnd();
  });
  await run.catch((error: unknown) => {
    if (!(error instanceof DryRunEnd)) throw error;
  });
  const counted = report as unknown as SourceImportReport;
  return options.isDryRun === true ? { ...counted, import_id: null } : counted;
}

/** Rolls the transaction of a dry run back. */
class DryRunEnd extends Error {}

async function identifyIn(
  tx: Sql,
  input: SourceInput,
  options: SourceImportOptions,
  staged: Staged,
): Promise<SourceImportReport> {
  const { source, asOf, snapshotOf } = input;
  await identify.growMemory(tx);
  const codes = { registryNumber: companyIdentifierCodes.registry_number };
  const withoutCompany = await stage.takeRowsWithoutCompany(tx, codes);
  for (const { line, record } of withoutCompany) {
    const reason = 'no_such_company';
    await writeReject(options.rejects, { line, reason, field: null, record: JSON.parse(record) });
  }
  // A snapshot of everything says also what changes from before it came to.
  const last = await identify.readLastSnapshot(tx, source, snapshotOf ?? ['']);
  const id = await identify.insertImport(tx, { ...input, sha256: input.sha256() });
  const row = { id, source, asOf };
  const { optedOut } = await stage.countStaged(tx);
  await compareWithStored(tx, row, staged);
  if (last !== null && last > asOf) await identify.ignoreChanges(tx);
  else if (snapshotOf !== null) {
    checkGone(
      await identify.addGone(tx, row, snapshotOf, {
        few: GONE_FEW,
        shareMax: GONE_SHARE_OF_FEW_MAX,
      }),
      { rows: staged.rows, isCutOff: staged.isCutOff, optedOut },
      options,
    );
  }
  await identify.writeChanges(tx, row);
  await settleTouched(tx, id);
  const changes = await identify.countChanges(tx);
  const rejected = staged.rejected + withoutCompany.length;
  const counts = {
    rows: staged.rows,
    new: changes.new,
    changed: changes.changed,
    same: staged.rows - changes.new - changes.changed - rejected - optedOut,
    gone: changes.gone,
    merged: await countMerged(tx),
    rejected,
    suppressed: optedOut,
  };
  await identify.writeCounts(tx, id, counts);
  const report = { import_id: id, source, ...counts };
  if (options.isDryRun !== true) await options.onWritten?.(tx, report);
  return report;
}

/** Compares the staged rows with what the source said before. */
async function compareWithStored(
  tx: Sql,
  row: identify.ImportRow,
  { erased, haveHolders }: Staged,
): Promise<void> {
  let known = erased;
  while (true) {
    await identify.compareRows(tx, row);
    // A person who was erased since then looked like a new one. One who is erased from here on was found.
    const now = await stage.nameErased(tx, row.source, { known, areResolved: haveHolders });
    if (now === known) return;
    await identify.forgetComparison(tx);
    known = now;
  }
}

/**
 * Refuses a snapshot that is empty, lacks many records, or most of a part of the register, or lacks any and ends in the middle
 * of a row: it is a download that was cut off, or one without all of its files.
 */
function checkGone(
  { gone, before, letters }: identify.Gone,
  { rows, isCutOff, optedOut }: { rows: number; isCutOff: boolean; optedOut: number },
  { allowsGone = false, isDryRun = false }: SourceImportOptions,
): void {
  if (rows === 0) {
    throw unprocessable(
      'empty_snapshot',
      'The file has no rows; nothing was changed. Download it again.',
    );
  }
  const isMany = gone > GONE_FEW ? GONE_SHARE_MAX : GONE_SHARE_OF_FEW_MAX;
  const isBroken = isCutOff && gone > 0;
  if (allowsGone || (gone <= before * isMany && !isBroken && letters === null)) return;
  // They are recorded before, in transactions of their own: a person who opted out does not wait for a whole file.
  const changed =
    optedOut > 0 && !isDryRun ? 'its opt-outs are recorded, nothing else was' : 'nothing was';
  throw unprocessable(
    'too_many_gone',
    `The file ${isBroken ? 'ends in the middle of a row and ' : ''}lacks ${gone} of ${before} records that the source had before, ` +
      `${letters === null ? '' : `most of those that begin with ${letters} among them, `}as if it were cut off; ${changed} ` +
      'changed. Download it again, or repeat the import with --allow-gone if these records are gone.',
  );
}
