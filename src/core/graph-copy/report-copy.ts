/** The local copy of a process, as its heartbeat and its metrics report it. */
import { Gauge } from 'prom-client';
import type { Database } from '../db/client.ts';
import { metrics } from '../metrics.ts';
import { readGraphState } from './copy.sql.ts';
import type { CopyInUse, LocalCopy } from './local-copy.ts';
import { copyBytes, lastLayer } from './manifest.ts';

/** Rows of lists and exports, or single calls, by what answered for their records. */
export interface RowsMatched {
  copy: number;
  postgres: number;
}

/** Names are those of the JSON. */
export interface CopyReport {
  copy: {
    /** The state of the graph that its files hold. */
    number: number;
    built_at: string;
    /** When it was rolled forward; null before. */
    rolled_forward_at: string | null;
    people: number;
    companies: number;
    bytes: number;
    /** Records that changed since: Postgres answers for them. */
    changed: number;
  } | null;
  /** The state of the graph up to which it has no person who withdrew; null without a copy. */
  reached: number | null;
  /** The state of the graph before the process looked: a build that it does not report begins in this state, or a later one. */
  graph_number: number;
  /** It builds, fetches or publishes one. */
  building: boolean;
  /** Since the process started. */
  rows: RowsMatched;
}

/** Looks at the copy, and so removes people who withdrew, and describes it. */
export async function reportCopy(
  sql: Database,
  localCopy: LocalCopy,
  rows: RowsMatched,
): Promise<CopyReport> {
  const { number } = await readGraphState(sql);
  // A build that ends meanwhile may leave a copy that is not opened yet.
  const wasBuilding = localCopy.isBuilding;
  await localCopy.read(sql, async () => null);
  const { copy, changed, reached } = localCopy.describe();
  return {
    copy: copy && {
      number: lastLayer(copy).number,
      built_at: copy.built_at,
      rolled_forward_at: copy.delta?.built_at ?? null,
      people: copy.people.count,
      companies: copy.companies.count,
      bytes: copyBytes(copy),
      changed,
    },
    reached,
    graph_number: number,
    building: wasBuilding || localCopy.isBuilding || localCopy.isPublishing,
    rows,
  };
}

/** Says which share of their rows and calls these processes read from a copy. */
export function sayShare(reports: readonly CopyReport[]): string {
  const copy = reports.reduce((sum, { rows }) => sum + rows.copy, 0);
  const all = reports.reduce((sum, { rows }) => sum + rows.postgres, copy);
  return `${all === 0 ? 0 : Math.floor((100 * copy) / all)} % of ${all} rows from it`;
}

const gauges: { name: string; help: string; of: (used: CopyInUse) => number }[] = [
  {
    name: 'enrich_local_copy_number',
    help: 'The state of the graph that the files of the local copy hold, 0 without one.',
    of: ({ copy }) => (copy === null ? 0 : lastLayer(copy).number),
  },
  {
    name: 'enrich_local_copy_lag_changes',
    help: 'Changes of the graph since then that are known; Postgres answers for the records that they touched.',
    of: ({ copy, reached }) => (copy === null ? 0 : (reached ?? 0) - lastLayer(copy).number),
  },
  {
    name: 'enrich_local_copy_changed_records',
    help: 'People and companies that these changes touched. The copy is rolled forward at 10,000.',
    of: ({ changed }) => changed,
  },
  {
    name: 'enrich_local_copy_bytes',
    help: 'Size of the files of the local copy, 0 without one.',
    of: ({ copy }) => (copy === null ? 0 : copyBytes(copy)),
  },
];

/** Registers the metrics of the copy. Call it once in a process. */
export function watchCopy(localCopy: LocalCopy): void {
  for (const { name, help, of } of gauges) {
    new Gauge({
      name,
      help,
      registers: [metrics],
      collect() {
        this.set(of(localCopy.describe()));
      },
    });
  }
}
