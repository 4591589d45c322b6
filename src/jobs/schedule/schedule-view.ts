/** A schedule and its runs as the API and the command line show them. */
import { z } from 'zod';
import { unknownValuesSchema } from '../../core/search/unknown-values.ts';
import { type Schedule, type ScheduleRun, scheduleModes } from './schedules.sql.ts';

const integer = z.number().int();
const text = z.string();
const time = z.iso.datetime();
const amount = integer.nullable();

export const scheduleSchema = z
  .strictObject({
    id: z.uuid(),
    name: text,
    live: z.boolean(),
    cron: text,
    time_zone: text,
    filter: text,
    fields: z.array(text).nullable(),
    format: text,
    mode: z.enum(scheduleModes),
    max_results: amount,
    max_credits: amount,
    enabled: z.boolean(),
    next_run_at: time.nullable(),
    created_at: time,
    links: z.record(text, text),
  })
  .meta({ id: 'Schedule' });

/** A schedule right after it was created or changed, with the values of its filter that no lookup knows. */
export const savedScheduleSchema = scheduleSchema
  .extend({ unknown_values: unknownValuesSchema })
  .meta({ id: 'SavedSchedule' });

export const scheduleRunSchema = z.strictObject({
  slot: time,
  state: text,
  reason: text.nullable(),
  export_id: text.nullable(),
  rows: integer,
  credits: integer,
  started_at: time.nullable(),
  finished_at: time.nullable(),
});

export type ScheduleView = z.output<typeof scheduleSchema>;

/** The JSON of a schedule. */
export function viewSchedule(schedule: Schedule): ScheduleView {
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

/** The JSON of a run. `state` is the state of its export, or `skipped` or `failed` without one. */
export function viewRun(run: ScheduleRun): z.output<typeof scheduleRunSchema> {
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
