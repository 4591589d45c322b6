/**
 * A job: a name, the shape of its payload (ids only, never data) and what it does. Postgres is the
 * truth and a job only the wake-up: every job may run twice, or never.
 */
import type { z } from 'zod';
import type { JobContext } from './job-context.ts';
import type { JobName, JobPayloads } from './job-names.ts';

export interface JobDefinition<Name extends JobName> {
  name: Name;
  payload: z.ZodType<JobPayloads[Name]>;
  run(context: JobContext, payload: JobPayloads[Name]): Promise<void>;
}

/** Types a job by its name. */
export function defineJob<Name extends JobName>(
  definition: JobDefinition<Name>,
): JobDefinition<Name> {
  return definition;
}
