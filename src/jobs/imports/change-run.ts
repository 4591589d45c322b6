/** The changes that an operator makes to import runs. */
import type { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import type { Context } from '../../core/context.ts';
import type { Sql } from '../../core/db/client.ts';
import { showImport } from '../../core/graph/sources/undo-import.ts';
import { conflict, invalidParameter, notFound } from '../../core/lib/errors.ts';
import { tooManyOpen } from '../../core/limits/limits.ts';
import { checkMappingName } from '../../sources/kept-mapping.ts';
import { filesPrefix } from './delete-runs.ts';
import {
  type ImportRun,
  optionsOf,
  type RunFile,
  type RunOptions,
  type RunState,
  severalProblem,
} from './import-run.ts';
import {
  addFile,
  changeRun,
  countOpenRuns,
  deleteRuns,
  findOpenUndo,
  findRun,
  insertRun,
  moveRun,
} from './import-runs.sql.ts';

const OPEN_RUNS_MAX = 20;
const FILES_MAX = 100;

/** Returns a run of the account. Throws `AppError` 404. */
export async function requireRun(sql: Sql, accountId: string, id: string): Promise<ImportRun> {
  const run = await findRun(sql, accountId, id);
  if (run === undefined) throw notFound(`Import run ${id}`);
  return run;
}

/**
 * Opens a run that receives its first file. Throws `AppError` 429 `rate_limited` when the account has too many that have
 * not ended.
 */
export async function openRun(sql: Sql, accountId: string): Promise<ImportRun> {
  await assertFewOpen(sql, accountId);
  const state = 'receiving' as const;
  return insertRun(sql, {
    id: uuidv7(),
    accountId,
    kind: 'import',
    state,
    importId: null,
    told: [],
  });
}

async function assertFewOpen(sql: Sql, accountId: string): Promise<void> {
  if ((await countOpenRuns(sql, accountId)) >= OPEN_RUNS_MAX) {
    throw tooManyOpen('import runs', OPEN_RUNS_MAX);
  }
}

/** Streams a file to storage; nothing of it stays when the stream fails. */
export async function storeFile(
  { store }: Pick<Context, 'store'>,
  run: ImportRun,
  name: string,
  source: Readable,
): Promise<RunFile> {
  if (run.files.length >= FILES_MAX) {
    throw conflict('too_many_files', `An import has at most ${FILES_MAX} files.`);
  }
  const key = `${filesPrefix(run.id)}${uuidv7()}`;
  const { bytes, crc32 } = await store.putStream(key, source);
  return { name, key, bytes, crc32 };
}

/** Adds a stored file; all files are examined again. Throws `AppError` 409 `invalid_state`. */
export async function receiveFile(tx: Sql, id: string, file: RunFile): Promise<ImportRun> {
  const run = await addFile(tx, id, file);
  if (run === undefined) throw invalidState('The import takes no more files.');
  return run;
}

/** Forgets a run whose first file did not arrive. */
export async function dropRun(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  id: string,
): Promise<void> {
  await store.deletePrefix(filesPrefix(id));
  await deleteRuns(sql, [id]);
}

/** Changes the options, and examines the files again. Throws `AppError` 400, 409 `invalid_state`. */
export async function changeOptions(
  tx: Sql,
  run: ImportRun,
  change: Partial<RunOptions>,
): Promise<ImportRun> {
  const options = { ...optionsOf(run), ...change };
  if (options.source !== null && options.mapping !== null) {
    throw invalidParameter('source', 'must be null for a file that is read by a mapping');
  }
  if (options.mapping !== null) checkMappingName('mapping.name', options.mapping.name);
  const changed = await changeRun(tx, run.id, options);
  return changed ?? refuse(tx, run);
}

/** Counts what an import would change. Throws `AppError` 409 `invalid_state`. */
export async function countRun(tx: Sql, run: ImportRun): Promise<ImportRun> {
  assertMappingChosen(run);
  return move(tx, run, ['ready'], 'counting');
}

/** Starts the import, with a revision only as the run was at it. Throws `AppError` 409 `invalid_state`. */
export async function startRun(tx: Sql, run: ImportRun, shown?: string): Promise<ImportRun> {
  assertMappingChosen(run);
  return move(tx, run, ['ready', 'counting'], 'importing', shown);
}

function assertMappingChosen({ state, found }: ImportRun): void {
  const problem = state === 'ready' && found !== null ? severalProblem(found) : null;
  if (problem !== null) throw invalidState(problem.detail);
}

/** Ends a run before it has written anything. Throws `AppError` 409 `invalid_state`. */
export async function cancelRun(tx: Sql, run: ImportRun): Promise<ImportRun> {
  return move(tx, run, ['examining', 'ready', 'counting', 'importing'], 'cancelled');
}

/** A repeated call finds the run where the first one has brought it. With a revision, only as the run was at it. */
async function move(
  tx: Sql,
  run: ImportRun,
  from: readonly RunState[],
  to: RunState,
  shown?: string,
): Promise<ImportRun> {
  if (run.state === to && (shown ?? run.revision) === run.revision) return run;
  return (await moveRun(tx, run.id, { from, to, shown })) ?? refuse(tx, run, shown);
}

async function refuse(tx: Sql, run: ImportRun, shown?: string): Promise<never> {
  const { state, problem, importId, revision } = await requireRun(tx, run.accountId, run.id);
  if (state === 'ready' && problem !== null) throw invalidState(problem.detail);
  if (state === 'importing' && importId !== null) {
    throw invalidState(
      'The records are written already. Wait for the end, and undo the import then.',
    );
  }
  if (shown !== undefined && shown !== revision) {
    throw invalidState('The import has changed since it was shown. Check it before you start it.');
  }
  throw invalidState(`The import is ${state}.`);
}

/**
 * Opens a run that undoes an import and the later ones that build on it. Throws `AppError` 404, 409 `import_undone`, 409
 * `import_built_on` when `told` lacks one of the later imports.
 */
export async function openUndo(
  tx: Sql,
  accountId: string,
  { id, told }: { id: number; told: readonly number[] },
): Promise<ImportRun> {
  const { undo } = await showImport(tx, id);
  if (undo === null) throw conflict('import_undone', `Import ${id} has already been undone.`);
  const untold = undo.later.filter((one) => !told.includes(one));
  if (untold.length > 0) {
    throw conflict(
      'import_built_on',
      `Later imports build on import ${id}: ${untold.join(', ')}. Name them in \`with\` to undo them too; nothing was changed.`,
      { extensions: { imports: untold } },
    );
  }
  const open = await findOpenUndo(tx, accountId, id);
  if (open !== undefined) return open;
  await assertFewOpen(tx, accountId);
  return insertRun(tx, {
    id: uuidv7(),
    accountId,
    kind: 'undo',
    state: 'undoing',
    importId: id,
    told: [...undo.later],
  });
}

function invalidState(message: string) {
  return conflict('invalid_state', message);
}
