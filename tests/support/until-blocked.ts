import type { Sql } from '../../src/core/db/client.ts';

/** Resolves once this many sessions of the database wait for a lock. */
export async function untilBlocked(sql: Sql, sessions: number): Promise<void> {
  let waiting = 0;
  while (waiting < sessions) {
    const [blocked] = await sql<{ sessions: number }[]>`
      select count(*)::int as sessions from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    waiting = blocked?.sessions ?? 0;
  }
}
