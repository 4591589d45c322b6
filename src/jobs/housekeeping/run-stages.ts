/** Runs work of several stages, of which one that always fails must not keep the others from running. */
import type { Log } from '../../core/log.ts';

export type Stage = () => Promise<unknown>;

/**
 * Runs the stages one after the other until `mustStop()` is true, also after a stage that failed. When all have run, throws
 * the first error; the others are logged, because an `AggregateError` in the log would show the values that Postgres quotes.
 */
export async function runStages(
  { log }: { log: Pick<Log, 'error'> },
  stages: readonly Stage[],
  mustStop: () => boolean = () => false,
): Promise<void> {
  const errors: unknown[] = [];
  for (const stage of stages) {
    if (mustStop()) break;
    try {
      await stage();
    } catch (error) {
      errors.push(error);
      if (errors.length > 1) log.error({ err: error }, 'a further stage failed');
    }
  }
  if (errors.length > 0) throw errors[0];
}
