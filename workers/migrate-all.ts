import { fillTestGraphAt } from '../samples/test-graph/fill-test-graph.ts';
import { connect } from '../src/core/db/client.ts';
import { migrate } from '../src/core/db/migrate.ts';
import { migrateQueue } from '../src/jobs/queue/backend-postgres.ts';

/**
 * Brings the schema of the service and of its queue up to date, and fills the graph of test keys. Returns
 * what was applied.
 */
export async function migrateAll(databaseUrl: string): Promise<string[]> {
  const sql = connect({ url: databaseUrl, connections: 1 });
  try {
    const applied = await migrate(sql);
    await migrateQueue(databaseUrl);
    await fillTestGraphAt(databaseUrl);
    return applied;
  } finally {
    await sql.end();
  }
}
