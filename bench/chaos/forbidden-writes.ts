/**
 * Guarantees that the database itself must enforce against any bug in the code: each is tried in a transaction
 * that is never committed.
 */
import type { Database } from '../../src/core/db/client.ts';
import { claimAgain, forbiddenWrites } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';

/** Carries a result out of a transaction and rolls it back. */
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

/** The result of the work, in a transaction that is rolled back; null when Postgres refused it. */
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
      // Only an error of Postgres itself counts; a lost connection is retried.
      if ((error as { name?: string }).name !== 'PostgresError') throw error;
    }
    return null;
  });
}
