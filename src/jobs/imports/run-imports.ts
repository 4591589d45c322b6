/**
 * Runs import runs: every worker looks every second for one that waits, claims it by a lease, and examines, counts,
 * imports or undoes. The run of a worker that died is claimed again: an import whose records are written is only built
 * to its end.
 */

import { isUnavailable } from '../../core/db/pg-errors.ts';
import { ImportStopped, reasonOf } from '../../core/graph/sources/build.ts';
import {
  finishImport,
  importSource,
  type SourceImportReport,
} from '../../core/graph/sources/import-source.ts';
import { undoImport } from '../../core/graph/sources/undo-import.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import { keepMapping } from '../../sources/kept-mapping.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import { deleteFiles } from './delete-runs.ts';
import { examine, problemOf } from './examine-run.ts';
import {
  countsOf,
  type ImportRun,
  optionsOf,
  type RunState,
  severalProblem,
} from './import-run.ts';
import {
  beat,
  type Claim,
  claimRun,
  endClaim,
  RETRY_SECONDS_MAX,
  recordImport,
  releaseRun,
} from './import-runs.sql.ts';
import { openInput, sourceMappingOf } from './open-input.ts';
import { openRejectedRows } from './rejected-rows.ts';
import { deleteLeftFiles, withFiles } from './run-files.ts';

const EVERY_MS = 1_000;
const BEAT_MS = 5_000;
const CLEAN_EVERY_MS = 60 * 60 * 1000;
/** Pause while another import has the lock, and after an error of the database or the store. */
const BUSY_SECONDS = 1;
const UNAVAILABLE_SECONDS = 5;
/** An unknown error, or the death of a worker, that repeats this often is attributed to the files. */
const ATTEMPTS_MAX = 5;
/** Time that a worker that stops gives a statement of an import; its transaction is rolled back then. */
const STOP_MS_MAX = 10_000;

type RunContext = Pick<JobContext, 'sql' | 'store' | 'log'>;

/** States of work that does not wait for the import that runs, and of work that does. */
const lanes = { examine: ['examining'], import: ['counting', 'importing', 'undoing'] } as const;

/** Runs everything that waits, one run after the other. */
export async function runImports(
  context: RunContext,
  states: readonly RunState[] = [...lanes.examine, ...lanes.import],
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> {
  while (!stopping.aborted) {
    const run = await claimRun(context.sql, states);
    if (run === undefined) return;
    await runClaimed(context, run, stopping);
  }
}

/** Looks for runs at once, then every second until stopped; deletes what dead workers of this machine left, every hour. */
export function startImporting(context: RunContext): Repeating {
  const stopping = new AbortController();
  const repeatings = Object.entries(lanes).map(([lane, states]) =>
    startRepeating(
      EVERY_MS,
      () => runImports(context, states, stopping.signal),
      (error) => context.log.error({ err: error, lane }, 'running imports failed'),
    ),
  );
  repeatings.push(
    startRepeating(
      CLEAN_EVERY_MS,
      () => deleteLeftFiles(),
      (error) => context.log.warn({ err: error }, 'files of dead workers not deleted'),
    ),
  );
  return {
    async stop() {
      stopping.abort();
      const ended = Promise.all(repeatings.map((repeating) => repeating.stop()));
      const late = new Promise<void>((resolve) => {
        setTimeout(resolve, STOP_MS_MAX).unref();
      });
      await Promise.race([ended, late]);
    },
  };
}

/** Runs one claim to its end; records the outcome. Throws only when that cannot be recorded. */
async function runClaimed(
  context: RunContext,
  run: ImportRun,
  stopping: AbortSignal,
): Promise<void> {
  const { sql, log } = context;
  if (run.attempts > ATTEMPTS_MAX && run.kind === 'import' && run.importId === null) {
    log.error(
      { run: run.id, attempts: run.attempts },
      'import run given up: no worker survives it',
    );
    return endClaim(sql, run, { state: 'failed', problem: deadlyProblem });
  }
  const held = holdClaim(context, run, stopping);
  const again = (afterSeconds: number, counts: boolean, why: Partial<Why> = {}) =>
    releaseRun(sql, run, { afterSeconds, counts, step: null, problem: null, ...why });
  try {
    await work(context, run, held);
    const files = run.files.map(({ name }) => name);
    const { source, as_of: asOf } = run.found ?? {};
    log.info({ run: run.id, state: run.state, source, asOf, files }, 'import run done');
  } catch (error) {
    if (held.signal.aborted || error instanceof ImportStopped) await again(0, false);
    else if (isBusy(error)) await again(BUSY_SECONDS, false, { step: 'waiting' });
    else if (isReason(error)) {
      const state = run.kind === 'undo' ? 'failed' : 'ready';
      const none = run.state === 'examining' ? { found: null } : {};
      await endClaim(sql, run, { state, problem: problemOf(error), ...none });
    } else {
      log.error({ err: error, run: run.id, attempts: run.attempts }, 'import run failed');
      const isOut = isOutage(error);
      if (isOut || run.attempts < ATTEMPTS_MAX || run.importId !== null) {
        const seconds = isOut ? UNAVAILABLE_SECONDS : pauseAfter(run.attempts);
        await again(seconds, !isOut, { problem: repeatedProblem(error, seconds) });
      } else await endClaim(sql, run, { state: 'failed', problem: unknownProblem });
    }
  } finally {
    held.stop();
  }
  await deleteFiles(context).catch((error: unknown) => {
    log.warn({ err: error }, 'files of imports not deleted; housekeeping will delete them');
  });
}

/** Why a claim is given back. */
type Why = Pick<ImportRun, 'problem'> & { step: 'waiting' | null };

/** Seconds until a run that failed for an unknown reason is claimed again. */
function pauseAfter(attempts: number): number {
  return Math.min(RETRY_SECONDS_MAX, UNAVAILABLE_SECONDS * 2 ** (attempts - 1));
}

interface HeldClaim {
  claim: Claim;
  signal: AbortSignal;
  /** Notes the progress. Throws when the work must end. */
  progress(step: ImportRun['step'], count: number): void;
  stop(): void;
}

/** Extends the lease while the work goes on; the signal aborts when the claim is lost or the worker stops. */
function holdClaim({ sql, log }: RunContext, claim: Claim, stopping: AbortSignal): HeldClaim {
  const lost = new AbortController();
  const signal = AbortSignal.any([lost.signal, stopping]);
  let shown: { step: ImportRun['step']; count: number } = { step: null, count: 0 };
  let told = '';
  let beaten = performance.now();
  const timer = setInterval(() => {
    const text = JSON.stringify(shown);
    if (text === told && performance.now() - beaten < BEAT_MS) return;
    [told, beaten] = [text, performance.now()];
    beat(sql, claim, shown).then(
      (isHeld) => isHeld || lost.abort(),
      (error: unknown) =>
        log.warn({ err: error, run: claim.id }, 'lease of an import not extended'),
    );
  }, EVERY_MS);
  return {
    claim,
    signal,
    progress(step, count) {
      shown = { step, count };
      if (signal.aborted) throw new ImportStopped();
    },
    stop: () => clearInterval(timer),
  };
}

async function work(context: RunContext, run: ImportRun, held: HeldClaim): Promise<void> {
  const { sql, store } = context;
  if (run.state === 'undoing') return undo(context, run);
  if (run.state === 'importing' && run.importId !== null) {
    await finishImport(sql, (queued) => held.progress('building', queued));
    return endClaim(sql, run, { state: 'done' });
  }
  await withFiles(store, run, held.signal, async (files) => {
    if (run.state === 'examining') {
      const found = await examine(sql, files, optionsOf(run));
      return endClaim(sql, run, { state: 'ready', found, problem: severalProblem(found) });
    }
    await importFiles(context, run, files, held);
  });
}

/** Counts or imports. The run's record of the import is written in the transaction of the import. */
async function importFiles(
  { sql, store }: RunContext,
  run: ImportRun,
  files: readonly string[],
  { claim, progress }: HeldClaim,
): Promise<void> {
  const options = optionsOf(run);
  const { input, mapping } = await openInput(sql, files, {
    ...options,
    // What was shown is what is imported.
    as_of: run.found?.as_of ?? options.as_of,
    mapping: run.found?.mapping ?? options.mapping,
  });
  await using rejected = await openRejectedRows();
  const { reasons } = rejected;
  const isDryRun = run.state === 'counting';
  const report: SourceImportReport = await importSource(sql, input, {
    isDryRun,
    allowsGone: options.allow_gone,
    rejects: rejected.output,
    onProgress: (step, count) => progress(step === 'read' ? 'reading' : 'building', count),
    async onWritten(tx, written) {
      await rejected.keep(store, run.id);
      const done = {
        importId: must(written.import_id, 'import'),
        counts: countsOf(written),
        reasons,
      };
      if (!(await recordImport(tx, claim, done))) throw new ImportStopped();
      // An error after it leaves an import that is only built to its end.
      run.importId = done.importId;
      if (mapping !== null) await keepMapping(tx, mapping.name, sourceMappingOf(mapping));
    },
  });
  if (isDryRun) {
    await rejected.keep(store, run.id);
    await endClaim(sql, run, { state: 'ready', counts: countsOf(report), reasons });
  } else await endClaim(sql, run, { state: 'done' });
}

async function undo({ sql }: RunContext, run: ImportRun): Promise<void> {
  const id = must(run.importId, 'import to undo');
  try {
    await undoImport(sql, id, { withLater: run.told });
  } catch (error) {
    // By an attempt whose worker died, or lost the database, or by the command line.
    const isDone = error instanceof AppError && error.code === 'import_undone';
    if (!isDone) throw error;
  }
  await endClaim(sql, run, { state: 'done' });
}

/** True for an error of the database, the store or the disk: the same work succeeds once it is back. */
function isOutage(error: unknown): boolean {
  if (error instanceof AppError) return error.status === 503 && !isObjectMissing(error);
  return isUnavailable(error);
}

function isBusy(error: unknown): boolean {
  return error instanceof AppError && error.code === 'import_running';
}

/** True for an error that says what is wrong with the files: a repetition would fail the same way. */
function isReason(error: unknown): error is AppError {
  return error instanceof AppError && error.status < 500;
}

/** The problem that the operator is shown until the attempt is repeated. */
function repeatedProblem(error: unknown, seconds: number) {
  const detail = `The last attempt failed: ${reasonOf(error)}. It is repeated in ${seconds} s; the log of the worker has details.`;
  return { code: 'attempt_failed', status: 503, detail };
}

const unknownProblem = {
  code: 'internal_error',
  status: 500,
  detail: 'The import failed; nothing was changed. The log of the worker has the reason.',
};

const deadlyProblem = {
  code: 'internal_error',
  status: 500,
  detail: `The workers that read the files ended ${ATTEMPTS_MAX} times, perhaps for lack of memory; nothing was changed. Split the files, and unpack archives.`,
};
