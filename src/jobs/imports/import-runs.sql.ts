/** Statements of import runs. A change by the operator raises the epoch, so that work on the state before has no effect. */
import type { Sql } from '../../core/db/client.ts';
import { isHeld, leaseEnd, pauseOf } from '../../core/db/lease.ts';
import { must } from '../../core/lib/assert.ts';
import { toStorableJson } from '../../core/lib/storable-json.ts';
import { DELETED_PAGE } from '../batch/delete-stored.ts';
import type { ImportRun, RunFile, RunState } from './import-run.ts';

/** Longer than a worker takes between two beats, however busy. */
const LEASE_SECONDS = 30;

/** Maximum pause before a run is claimed again: it is doubled with each attempt. */
export const RETRY_SECONDS_MAX = 300;
const retryPause = pauseOf(RETRY_SECONDS_MAX);

/** Another one whenever the operator would see another source, mapping, day or file. */
const revision = (sql: Sql) => sql`md5(concat_ws(' ', files, options, found))`;

const columns = (sql: Sql) => sql`
  id, account_id, kind, state, files, options, found, counts, reasons, import_id, told, step, step_count, problem,
  ${revision(sql)} as revision, epoch, attempts, created_at, finished_at`;

const json = (value: unknown) => (value === null ? null : toStorableJson(value));

/** Runs of an account that have not ended. */
export async function countOpenRuns(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql<{ runs: number }[]>`
    select count(*)::int as runs from import_runs where account_id = ${accountId} and finished_at is null`;
  return must(row, 'count').runs;
}

export async function insertRun(
  sql: Sql,
  given: Pick<ImportRun, 'id' | 'accountId' | 'kind' | 'state' | 'importId' | 'told'>,
): Promise<ImportRun> {
  const { id, accountId, kind, state, importId, told } = given;
  const [run] = await sql<ImportRun[]>`
    insert into import_runs (id, account_id, kind, state, import_id, told)
    values (${id}, ${accountId}, ${kind}, ${state}, ${importId}, ${told}::bigint[])
    returning ${columns(sql)}`;
  return must(run, 'run');
}

/** Returns a run of an account. While it receives its first file it is not found: it is deleted when that does not arrive. */
export async function findRun(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<ImportRun | undefined> {
  const [run] = await sql<ImportRun[]>`
    select ${columns(sql)} from import_runs
    where id = ${id} and account_id = ${accountId} and state <> 'receiving'`;
  return run;
}

/** Returns the run of an account that undoes an import and has not ended. */
export async function findOpenUndo(
  sql: Sql,
  accountId: string,
  importId: number,
): Promise<ImportRun | undefined> {
  const [run] = await sql<ImportRun[]>`
    select ${columns(sql)} from import_runs
    where account_id = ${accountId} and kind = 'undo' and import_id = ${importId} and finished_at is null`;
  return run;
}

/** Returns the runs of an account that made these imports, by import; those whose time is over are left out. */
export async function findRunsOfImports(
  sql: Sql,
  accountId: string,
  importIds: readonly number[],
): Promise<Map<number, string>> {
  const runs = await sql<{ id: string; importId: number }[]>`
    select id, import_id from import_runs
    where account_id = ${accountId} and kind = 'import' and import_id = any(${[...importIds]}::bigint[])`;
  return new Map(runs.map(({ id, importId }) => [importId, id]));
}

/** The runs of an account before an id, newest first. A run that still receives its first file is left out. */
export async function listRuns(
  sql: Sql,
  accountId: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<ImportRun[]> {
  return sql<ImportRun[]>`
    select ${columns(sql)} from import_runs
    where account_id = ${accountId} and state <> 'receiving' ${before === null ? sql`` : sql`and id < ${before}`}
    order by id desc limit ${limit}`;
}

/** Adds a received file, which is examined then. False when the run takes no more files. */
export async function addFile(sql: Sql, id: string, file: RunFile): Promise<ImportRun | undefined> {
  const [run] = await sql<ImportRun[]>`
    update import_runs set files = files || ${JSON.stringify([file])}::text::jsonb, state = 'examining',
      found = null, counts = null, reasons = null, problem = null, step = null, epoch = epoch + 1, attempts = 0,
      lease_until = null, claim_after = null, updated_at = now()
    where id = ${id} and state in ('receiving', 'examining', 'ready')
    returning ${columns(sql)}`;
  return run;
}

/** Changes the options; the files are examined again. Undefined in a state that does not allow it. */
export async function changeRun(
  sql: Sql,
  id: string,
  options: ImportRun['options'],
): Promise<ImportRun | undefined> {
  const [run] = await sql<ImportRun[]>`
    update import_runs set options = ${JSON.stringify(options)}::text::jsonb, state = 'examining',
      counts = null, reasons = null, problem = null, step = null, epoch = epoch + 1, attempts = 0, lease_until = null,
      claim_after = null, updated_at = now()
    where id = ${id} and state in ('examining', 'ready', 'counting')
    returning ${columns(sql)}`;
  return run;
}

/** Moves a run from one of these states to another one. Undefined when it is in none of them, or has another revision. */
export async function moveRun(
  sql: Sql,
  id: string,
  { from, to, shown }: { from: readonly RunState[]; to: RunState; shown: string | undefined },
): Promise<ImportRun | undefined> {
  const [run] = await sql<ImportRun[]>`
    update import_runs set state = ${to}, problem = null, step = null, epoch = epoch + 1, attempts = 0,
      lease_until = null, claim_after = null, updated_at = now(),
      finished_at = case when ${to} = 'cancelled' then now() end,
      found = case when ${to} = 'cancelled' then null else found end
    where id = ${id} and state = any(${[...from]}) and (${to} <> 'importing' or found is not null)
      and (${to} <> 'cancelled' or import_id is null)
      and ${shown === undefined ? sql`true` : sql`${revision(sql)} = ${shown}`}
    returning ${columns(sql)}`;
  return run;
}

/** Claims the oldest run that waits in one of these states; undefined without one. */
export async function claimRun(
  sql: Sql,
  states: readonly RunState[],
): Promise<ImportRun | undefined> {
  const [run] = await sql<ImportRun[]>`
    update import_runs set epoch = epoch + 1, attempts = attempts + 1,
      lease_until = ${leaseEnd(sql, LEASE_SECONDS)}
    where id = (
      select id from import_runs
      where state = any(${[...states]}) and ${isHeld(sql, sql`lease_until`, LEASE_SECONDS)} is not true
        and ${retryPause.lasts(sql, sql`claim_after`)} is not true and finished_at is null
      order by created_at, id limit 1 for update skip locked)
    returning ${columns(sql)}`;
  return run;
}

/** The claim by which a worker writes. */
export type Claim = Pick<ImportRun, 'id' | 'epoch'>;

/** Extends the lease and records the progress. False when the claim is lost: the run was changed, or is another worker's. */
export async function beat(
  sql: Sql,
  { id, epoch }: Claim,
  { step, count }: { step: ImportRun['step']; count: number },
): Promise<boolean> {
  const rows = await sql`
    update import_runs set lease_until = ${leaseEnd(sql, LEASE_SECONDS)},
      step = ${step}, step_count = ${count}
    where id = ${id} and epoch = ${epoch} returning id`;
  return rows.length > 0;
}

/** Gives a claim back; the run is claimed again after some seconds. An attempt counts unless nothing was wrong with it. */
export async function releaseRun(
  sql: Sql,
  { id, epoch }: Claim,
  {
    afterSeconds,
    counts,
    step,
    problem,
  }: {
    afterSeconds: number;
    counts: boolean;
    step: 'waiting' | null;
    problem: ImportRun['problem'];
  },
): Promise<void> {
  await sql`
    update import_runs set lease_until = null, attempts = attempts - ${counts ? 0 : 1}, step = ${step},
      step_count = 0, problem = ${json(problem)}::text::jsonb, claim_after = ${retryPause.end(sql, afterSeconds)}
    where id = ${id} and epoch = ${epoch}`;
}

/** Records in the transaction of an import that it belongs to the run. False when the claim is lost. */
export async function recordImport(
  tx: Sql,
  { id, epoch }: Claim,
  done: { importId: number; counts: ImportRun['counts']; reasons: ImportRun['reasons'] },
): Promise<boolean> {
  const rows = await tx`
    update import_runs set import_id = ${done.importId}, counts = ${json(done.counts)}::text::jsonb,
      reasons = ${json(done.reasons)}::text::jsonb
    where id = ${id} and epoch = ${epoch} returning id`;
  return rows.length > 0;
}

export interface RunEnd {
  state: 'ready' | 'done' | 'failed';
  found?: ImportRun['found'];
  counts?: ImportRun['counts'];
  reasons?: ImportRun['reasons'];
  problem?: ImportRun['problem'];
}

/** Ends a claim, in the state that comes next. What the end does not name stays. */
export async function endClaim(sql: Sql, { id, epoch }: Claim, end: RunEnd): Promise<void> {
  const { state, found, counts, reasons, problem = null } = end;
  const isOver = state !== 'ready';
  await sql`
    update import_runs set state = ${state}, step = null, lease_until = null, claim_after = null, attempts = 0,
      problem = ${json(problem)}::text::jsonb, updated_at = now(),
      found = ${isOver ? null : found === undefined ? sql`found` : sql`${json(found)}::text::jsonb`},
      counts = ${counts === undefined ? sql`counts` : sql`${json(counts)}::text::jsonb`},
      reasons = ${reasons === undefined ? sql`reasons` : sql`${json(reasons)}::text::jsonb`},
      finished_at = ${isOver ? sql`now()` : null}
    where id = ${id} and epoch = ${epoch}`;
}

/** Cancels runs that were left for a day: their files are people. */
export async function expireRuns(sql: Sql): Promise<void> {
  await sql`
    update import_runs set state = 'cancelled', finished_at = now(), found = null, epoch = epoch + 1
    where state in ('receiving', 'examining', 'ready', 'counting') and updated_at < now() - interval '1 day'`;
}

/** A page of the ended runs whose files are still stored, after an id. */
export function listEndedRuns(sql: Sql, after: string | null): Promise<string[]> {
  return listPage(sql, sql`finished_at is not null and files_deleted_at is null`, after);
}

async function listPage(
  sql: Sql,
  condition: ReturnType<Sql>,
  after: string | null,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from import_runs where ${condition} and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${DELETED_PAGE}`;
  return rows.map((row) => row.id);
}

/** The ids among these without a run. */
export async function listUnknownRuns(sql: Sql, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${ids}::uuid[]) given (id)
    where not exists (select from import_runs where import_runs.id = given.id)`;
  return rows.map((row) => row.id);
}

export async function markFilesDeleted(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`update import_runs set files_deleted_at = now() where id = any(${[...ids]}::uuid[])`;
}

/** A page of the runs that ended so many days ago, after an id. */
export function listOldRuns(sql: Sql, days: number, after: string | null): Promise<string[]> {
  const isOld = sql`finished_at < now() - make_interval(days => ${days})`;
  return listPage(sql, sql`files_deleted_at is not null and ${isOld}`, after);
}

export async function deleteRuns(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from import_runs where id = any(${[...ids]}::uuid[])`;
}
