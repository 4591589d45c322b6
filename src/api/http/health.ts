import type { RequestHandler } from 'express';
import { assertSchemaUsable } from '../../core/db/migrate.ts';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { type AppError, unavailable } from '../../core/lib/errors.ts';
import { DISK_FULL_BYTES, readFreeBytes } from '../../core/lib/free-space.ts';
import type { ApiContext } from './api-context.ts';

/** Lifetime of a result, for all callers: the endpoint is public, and each check queries the database. */
const SERVES_MS = 1_000;

/** Responds 200 when the database responds and has the schema of this version, else 503. */
export function readiness(context: ApiContext): RequestHandler {
  let latest: { startedAt: number; check: Promise<void> } | undefined;
  return async (_request, response) => {
    const now = performance.now();
    if (latest === undefined || now - latest.startedAt >= SERVES_MS) {
      latest = { startedAt: now, check: check(context) };
    }
    await latest.check;
    response.json({ status: 'ready' });
  };
}

async function check({ sql, config }: ApiContext): Promise<void> {
  try {
    await assertSchemaUsable(sql);
  } catch (error) {
    throw (await explainByDisk(error, config.dataDir)) ?? error;
  }
}

/** Returns the error to report instead of `cause` when the database is down because the disk is full; else null. */
async function explainByDisk(cause: unknown, dataDir: string): Promise<AppError | null> {
  if (!isUnavailable(cause)) return null;
  const free = await readFreeBytes(dataDir).catch(() => null);
  if (free === null || free >= DISK_FULL_BYTES) return null;
  return unavailable(
    'disk_full',
    'The database does not respond, and the disk of the data folder is full. Free some space: the service ' +
      'resumes automatically.',
    { cause },
  );
}
