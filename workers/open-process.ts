/** Opens the resources that API and worker need first: tracing, if it is configured, before all others. */
import { closeDataFolder } from '../infra/embedded/private-folder.ts';
import type { Config } from '../src/core/config.ts';
import { type Context, openContext } from '../src/core/context.ts';
import { assertClocksAgree } from '../src/core/db/clock.ts';
import { assertSchemaCurrent } from '../src/core/db/migrate.ts';
import { AppError } from '../src/core/lib/errors.ts';
import { createLog, logWarnings } from '../src/core/log.ts';
import { checkRedis } from '../src/core/redis/check-redis.ts';
import { describeStorage } from '../src/core/storage-config.ts';
import { startTracing } from '../src/core/tracing.ts';
import { assertOwnStore } from '../src/jobs/batch/own-store.ts';
import { explainStoreCertificate, refusedDatabase } from './refused-certificates.ts';

/** Returns the URL of the service's database. Throws `AppError` `usage` without one. */
export function databaseUrlOf({ databaseUrl }: Config): string {
  if (databaseUrl !== undefined) return databaseUrl;
  const message =
    'DATABASE_URL is not set. Set it to the database of the service; `enrich up` has its own.';
  throw new AppError({ code: 'usage', status: 400, message });
}

/**
 * Opens the context of a process. Throws `AppError` when Redis is not as it must be, when the database was migrated by
 * another version, when its clock differs by more than an hour, when a certificate of Postgres or Redis is refused, and when
 * the object store is that of another installation; nothing stays open then.
 */
export async function openProcess(
  config: Config,
  databaseUrl: string,
  name: 'api' | 'worker',
): Promise<Context> {
  await startTracing(config, name);
  const log = createLog(config.logLevel, name);
  logWarnings(log);
  await closeDataFolder(config.dataDir, (line) => log.warn(line));
  await checkRedis(config.redisUrl, log);
  const context = await openContext(config, databaseUrl, name);
  try {
    await assertSchemaCurrent(context.sql);
    await assertClocksAgree(context.sql);
    const explain = (error: unknown) => explainStoreCertificate(error, config.storage);
    await assertOwnStore(context, describeStorage(config.storage), explain);
    return context;
  } catch (error) {
    await context[Symbol.asyncDispose]();
    throw (await refusedDatabase(error, databaseUrl)) ?? error;
  }
}
