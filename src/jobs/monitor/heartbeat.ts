/** Records that this process is alive, for the counts in `GET /admin/health` and the metrics. */
import { hostname } from 'node:os';
import { uuidv7 } from 'uuidv7';
import { readCallsMatched } from '../../core/calls/calls-matched.ts';
import type { Database, Sql } from '../../core/db/client.ts';
import type { LocalCopy } from '../../core/graph-copy/local-copy.ts';
import { type CopyReport, reportCopy } from '../../core/graph-copy/report-copy.ts';
import { readVersion } from '../../core/lib/package-root.ts';
import type { Log } from '../../core/log.ts';
import { leasesReclaimed, readRowsMatched } from '../chunk/chunk-metrics.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import { deleteProcess, insertBeat, type ProcessKind, readServiceState } from './monitor.sql.ts';

const BEAT_EVERY_MS = 5_000;
/** A process not seen for this long has died or cannot reach the database. */
const SEEN_SECONDS_MAX = 15;

/** Returns true for a process that lives, as far as the database knows. */
export function isSeen({ seen_seconds_ago: seconds }: { seen_seconds_ago: number }): boolean {
  return seconds <= SEEN_SECONDS_MAX;
}

interface BeatContext {
  sql: Database;
  log: Pick<Log, 'warn'>;
  localCopy: LocalCopy;
}

/**
 * Beats until stopped; then removes the process. It looks at its local copy before each beat, and so removes people who
 * were erased.
 */
export function startHeartbeat({ sql, log, localCopy }: BeatContext, kind: ProcessKind): Repeating {
  const process = { id: uuidv7(), kind, host: hostname(), version: readVersion() };
  const startedAt = new Date();
  const beating = startRepeating(
    BEAT_EVERY_MS,
    async () => {
      const { values } = await leasesReclaimed.get();
      const reclaimed = values[0]?.value ?? 0;
      const rows = await (kind === 'worker' ? readRowsMatched() : readCallsMatched());
      const copy = await reportCopy(sql, localCopy, rows);
      await insertBeat(sql, {
        ...process,
        startedAt,
        leasesReclaimed: reclaimed,
        localCopy: copy,
      });
    },
    (error) => log.warn({ err: error }, 'heartbeat failed'),
  );
  return {
    async stop() {
      await beating.stop();
      // A row that stays because the database is unavailable goes stale and is deleted after a day.
      await deleteProcess(sql, process.id).catch(() => {});
    },
  };
}

/** Returns what the processes that are seen report of their local copies. */
export async function listCopyReports(sql: Sql): Promise<CopyReport[]> {
  const state = await readServiceState(sql);
  return (state?.processes ?? []).flatMap((one) => (isSeen(one) ? (one.local_copy ?? []) : []));
}
