import { connect } from '../src/core/db/client.ts';
import { migrate } from '../src/core/db/migrate.ts';

/**
 * Brings the schema of the service and of its queue up to date, and fills the graph of test keys. Returns
 * what was applied.
 */
export async function migrateAll(databaseUrl: string): Promise<string[]> {
  const applied = await migrateSchema(databaseUrl);
  await migrateRest(databaseUrl);
  return applied;
}

/**
 * As `migrateAll`, for a command: where the schema was up to date, `up` or `migrate` has looked after the rest, and to load
 * BullMQ for another look would take longer than most commands.
 */
export async function migrateIfBehind(
  databaseUrl: string,
  options: { restores?: boolean } = {},
): Promise<void> {
  const applied = await migrateSchema(databaseUrl, options);
  if (applied.length > 0) await migrateRest(databaseUrl);
}

async function migrateSchema(
  databaseUrl: string,
  options: { restores?: boolean } = {},
): Promise<string[]> {
  const sql = connect({ url: databaseUrl, connections: 1 });
  try {
    return await migrate(sql, undefined, options);
  } finally {
    await sql.end();
  }
}

async function migrateRest(databaseUrl: string): Promise<void> {
  const { migrateQueue } = await import('../src/jobs/queue/backend-postgres.ts');
  await migrateQueue(databaseUrl);
  const { fillTestGraphAt } = await import('../samples/test-graph/fill-test-graph.ts');
  await fillTestGraphAt(databaseUrl);
}
