/** Runs work of several stages, of which one that always fails must not keep the others from running. */
import type { Log } from '../../core/log.ts';

export type Stage = () => Promise<unknown>;

/**
 * Runs the stages one after the other, each also after one that failed, until `mustStop()` is true. Throws the first error when all have
 * run, and logs the others: an `AggregateError` in the log would show the values that Postgres quotes.
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
