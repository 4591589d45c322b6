import type { Config } from '../../core/config.ts';
import type { Context } from '../../core/context.ts';
import type { Queues } from './queues.ts';

/** The dependencies of a job: the process's context and a way to wake other jobs. */
export interface JobContext extends Context {
  config: Config;
  queues: Queues;
}
