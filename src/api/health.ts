import type { RequestHandler } from 'express';
import { assertSchemaUsable } from '../core/db/migrate.ts';
import type { ApiContext } from './api-context.ts';

/** How long a result serves for all that ask: anybody may ask, and each check asks the database. */
const SERVES_MS = 1_000;

/** Ready when the database answers and has all that this version needs. */
export function readiness(context: ApiContext): RequestHandler {
  let latest: { startedAt: number; check: Promise<void> } | undefined;
  return async (_request, response) => {
    const now = performance.now();
    if (latest === undefined || now - latest.startedAt >= SERVES_MS) {
      latest = { startedAt: now, check: assertSchemaUsable(context.sql) };
    }
    await latest.check;
    response.json({ status: 'ready' });
  };
}
