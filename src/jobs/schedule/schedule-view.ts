/** A schedule and its runs as the API and the command line show them. */
import type { Schedule, ScheduleRun } from './schedules.sql.ts';

/** The JSON of a schedule. */
export function viewSchedule(schedule: Schedule) {
  const self = `/v1/schedules/${schedule.id}`;
  return {
    id: schedule.id,
    name: schedule.name,
    live: schedule.live,
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    filter: schedule.filter,
    fields: schedule.fields,
    format: schedule.format,
    mode: schedule.mode,
    max_results: schedule.maxResults,
    max_credits: schedule.maxCredits,
    enabled: schedule.enabled,
    next_run_at: schedule.nextRunAt?.toISOString() ?? null,
    created_at: schedule.createdAt.toISOString(),
    links: { self, runs: `${self}/runs` },
  };
}

export type ScheduleView = ReturnType<typeof viewSchedule>;

/** The JSON of a run. `state` is the state of its export, or `skipped` or `failed` without one. */
export function viewRun(run: ScheduleRun) {
  const started = run.state === 'started';
  return {
    slot: run.slot.toISOString(),
    state: run.batchState ?? run.state,
    reason: run.reason ?? run.batchReason,
    export_id: run.batchId,
    rows: run.rows ?? 0,
    credits: run.credits ?? 0,
    started_at: started ? run.createdAt.toISOString() : null,
    finished_at: run.finishedAt?.toISOString() ?? null,
  };
}
