/**
 * A job: a name, the shape of its payload (ids only, never data) and its handler. Postgres is the source of
 * truth and a job only a wake-up: every job may run twice, or never.
 */
import type { z } from 'zod';
import type { JobContext } from './job-context.ts';
import type { JobName, JobPayloads } from './job-names.ts';

/** A slot of a worker, which runs one job at a time. */
export interface JobSlot {
  /** True once the worker shuts down: it claims no more work than the job's own. */
  mustStop(): boolean;
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
