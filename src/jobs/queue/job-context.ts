import type { Config } from '../../core/config.ts';
import type { Context } from '../../core/context.ts';
import type { Queues } from './queues.ts';

/** What a job may use: the process's context and a way to wake other jobs. */
export interface JobContext extends Context {
  config: Config;
  queues: Queues;
}
