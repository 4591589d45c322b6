/**
 * A job: a name, the shape of its payload (ids only, never data) and what it does. Postgres is the
 * truth and a job only the wake-up: every job may run twice, or never.
 */
import type { z } from 'zod';
import type { JobContext } from './job-context.ts';
import type { JobName, JobPayloads } from './job-names.ts';

/** Where a worker runs one job at a time. */
export interface JobSlot {
  /** True while the worker may do more of the same kind without asking the queue: it is not to end. */
  mayGoOn(): boolean;
}

export interface JobDefinition<Name extends JobName> {
  name: Name;
  payload: z.ZodType<JobPayloads[Name]>;
  run(context: JobContext, payload: JobPayloads[Name], slot: JobSlot): Promise<void>;
}

/** Types a job by its name. */
export function defineJob<Name extends JobName>(
  definition: JobDefinition<Name>,
): JobDefinition<Name> {
  return definition;
}

/** Every job by its name. */
export type Jobs = { readonly [Name in JobName]: JobDefinition<Name> };
