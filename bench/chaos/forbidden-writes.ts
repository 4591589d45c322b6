/**
 * What the database itself must refuse, whatever a bug in the code may ask of it: each is tried, in a
 * transaction that is never committed.
 */
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';
import { forbiddenWrites } from './queries.ts';

class Undone extends Error {}

export async function tryForbiddenWrites(stack: ChaosStack, history: History): Promise<void> {
  for (const [name, write] of Object.entries(forbiddenWrites)) {
    const accepted = await stack.ask(async (sql) => {
      try {
        await sql.begin(async (tx) => {
          const written = await write(tx as unknown as typeof sql);
          throw new Undone(String(written.count));
        });
      } catch (error) {
        if (error instanceof Undone) return error.message;
        // Only Postgres' own refusal counts; a connection that is lost is tried again.
        if ((error as { name?: string }).name !== 'PostgresError') throw error;
      }
      return null;
    });
    if (accepted !== null) {
      history.violate('the database refuses what must not be', { write: name, rows: accepted });
    }
  }
}
