import type { RequestHandler } from 'express';
import { assertSchemaCurrent } from '../core/db/migrate.ts';
import type { ApiContext } from './api-context.ts';

/** Ready when the database answers and has the schema of this version. */
export function readiness(context: ApiContext): RequestHandler {
  return async (_request, response) => {
    await assertSchemaCurrent(context.sql);
    response.json({ status: 'ready' });
  };
}
