/** The JSON of a schedule that callers send. */
import { z } from 'zod';
import { omitUndefined } from '../core/lib/omit-undefined.ts';
import { scheduleModes } from '../jobs/schedule/schedules.sql.ts';
import type { ScheduleRequest } from '../jobs/schedule/schedules.ts';
import { batchName } from './batch-options.ts';
import { exportOptions } from './export-options.ts';

const cron = z.string().max(200);
const timeZone = z.string().max(100);
const mode = z.enum(scheduleModes);

/** A new schedule: the options of its exports, and its times. */
export const scheduleOptions = exportOptions.extend({
  name: batchName.default('schedule'),
  cron,
  time_zone: timeZone.default('UTC'),
  mode: mode.default('all'),
  enabled: z.boolean().default(true),
});

const { name, fields, format, max_results, max_credits, filter } = exportOptions.shape;

/** A change of a schedule: absent members stay unchanged. */
export const scheduleChange = z.strictObject({
  filter: filter.optional(),
  name: name.unwrap().optional(),
  fields: fields.unwrap().optional(),
  format: format.unwrap().optional(),
  max_results: max_results.unwrap().optional(),
  max_credits: max_credits.unwrap().optional(),
  cron: cron.optional(),
  time_zone: timeZone.optional(),
  mode: mode.optional(),
  enabled: z.boolean().optional(),
});

/** Returns the members of the body under the service's names. */
export function toScheduleRequest(body: z.output<typeof scheduleOptions>): ScheduleRequest;
export function toScheduleRequest(body: z.output<typeof scheduleChange>): Partial<ScheduleRequest>;
export function toScheduleRequest(body: z.output<typeof scheduleChange>): Partial<ScheduleRequest> {
  const { time_zone, max_results, max_credits, ...same } = body;
  const renamed = { timeZone: time_zone, maxResults: max_results, maxCredits: max_credits };
  return omitUndefined({ ...same, ...renamed });
}
