/** Statements of the attacks beyond the service's interfaces. */
import type { Sql } from '../../src/core/db/client.ts';

/**
 * Counts the previews that the server is running. It shows no more than the first 1,023 bytes of a statement.
 */
export async function countActivePreviews(sql: Sql): Promise<number> {
  const [row] = await sql<{ active: number }[]>`
    select count(*)::int as active from pg_stat_activity
    where state = 'active' and pid <> pg_backend_pid()
      and query like '%count(*) filter (where s.present%'`;
  return row?.active ?? 0;
}

/** Deletes every wake-up of the queue in Postgres. */
export async function loseQueue(sql: Sql): Promise<void> {
  await sql`delete from bullmq.job`;
}

/** Makes every enabled schedule due in `seconds`. */
export async function makeSchedulesDue(sql: Sql, seconds: number): Promise<void> {
  await sql`
    update schedules set next_run_at = clock_timestamp() + make_interval(secs => ${seconds})
    where enabled`;
}

/** Seconds from the time of a schedule's slot to the start of its run; null before it started. */
export async function readSlotDelay(sql: Sql, scheduleId: string): Promise<number | null> {
  const [row] = await sql<{ late: number }[]>`
    select extract(epoch from b.created_at - r.slot)::float8 as late
    from schedule_runs r join batches b on b.id = r.batch_id
    where r.schedule_id = ${scheduleId}`;
  return row?.late ?? null;
}
