/**
 * What the database itself must refuse or do, whatever a bug in the code may ask of it: each is tried, in a
 * transaction that is never committed.
 */
import type { Database } from '../../src/core/db/client.ts';
import { claimAgain, forbiddenWrites } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';

/** Carries what a transaction found out of it, and undoes it. */
class Undone<Found> extends Error {
  readonly found: Found;

  constructor(found: Found) {
    super('undone');
    this.found = found;
  }
}

export async function tryForbiddenWrites(stack: ChaosStack, history: History): Promise<void> {
  for (const [name, write] of Object.entries(forbiddenWrites)) {
    const accepted = await tryAndUndo(stack, async (sql) => (await write(sql)).count);
    if (accepted !== null) {
      history.violate('the database refuses what must not be', { write: name, rows: accepted });
    }
  }
  const claimed = await tryAndUndo(stack, claimAgain);
  if (claimed !== null && claimed.after <= claimed.before) {
    history.violate('a claim of a chunk gives a token that none had before', claimed);
  }
}

/** What the work says of a transaction that is undone; null when Postgres refused it. */
async function tryAndUndo<Found>(
  stack: ChaosStack,
  work: (sql: Database) => Promise<Found>,
): Promise<Found | null> {
  return stack.ask(async (sql) => {
    try {
      await sql.begin(async (tx) => {
        throw new Undone(await work(tx as unknown as Database));
      });
    } catch (error) {
      if (error instanceof Undone) return error.found as Found;
      // Only Postgres' own refusal counts; a connection that is lost is tried again.
      if ((error as { name?: string }).name !== 'PostgresError') throw error;
    }
    return null;
  });
}
