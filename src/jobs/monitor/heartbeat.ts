/** Records that this process is alive, for the counts in `GET /admin/health` and the metrics. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { uuidv7 } from 'uuidv7';
import type { Sql } from '../../core/db/client.ts';
import { packageRoot } from '../../core/lib/package-root.ts';
import type { Log } from '../../core/log.ts';
import { leasesReclaimed } from '../chunk/chunk-metrics.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import { deleteProcess, insertBeat, type ProcessKind } from './monitor.sql.ts';

const BEAT_EVERY_MS = 5_000;
/** A process not seen for this long has died or cannot reach the database. */
export const SEEN_SECONDS_MAX = 15;

/** Beats until stopped; then removes the process. */
export function startHeartbeat(
  { sql, log }: { sql: Sql; log: Pick<Log, 'warn'> },
  kind: ProcessKind,
): Repeating {
  const process = { id: uuidv7(), kind, host: hostname(), version: readVersion() };
  const startedAt = new Date();
  const beating = startRepeating(
    BEAT_EVERY_MS,
    async () => {
      const { values } = await leasesReclaimed.get();
      const reclaimed = values[0]?.value ?? 0;
      await insertBeat(sql, { ...process, startedAt, leasesReclaimed: reclaimed });
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

function readVersion(): string {
  const text = readFileSync(path.join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
