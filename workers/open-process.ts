/** Opens the resources that API and worker need first: tracing, if it is configured, before all others. */
import { closeDataFolder } from '../infra/embedded/private-folder.ts';
import type { Config } from '../src/core/config.ts';
import { type Context, openContext } from '../src/core/context.ts';
import { assertSchemaCurrent } from '../src/core/db/migrate.ts';
import { createLog } from '../src/core/log.ts';
import { checkRedis } from '../src/core/redis/check-redis.ts';
import { startTracing } from '../src/core/tracing.ts';

/**
 * Opens the context of a process. Throws `AppError` when Redis is not as it must be, and when the database
 * was migrated by another version; nothing stays open then.
 */
export async function openProcess(
  config: Config,
  databaseUrl: string,
  name: 'api' | 'worker',
): Promise<Context> {
  await startTracing(config, name);
  const log = createLog(config.logLevel, name);
  await closeDataFolder(config.dataDir, (line) => log.warn(line));
  await checkRedis(config.redisUrl, log);
  const context = await openContext(config, databaseUrl, name);
  try {
    await assertSchemaCurrent(context.sql);
    return context;
  } catch (error) {
    await context[Symbol.asyncDispose]();
    throw error;
  }
}
