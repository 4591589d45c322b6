import type { RequestHandler } from 'express';
import { assertSchemaUsable } from '../core/db/migrate.ts';
import type { ApiContext } from './api-context.ts';

/** Ready when the database answers and has all that this version needs. */
export function readiness(context: ApiContext): RequestHandler {
  return async (_request, response) => {
    await assertSchemaUsable(context.sql);
    response.json({ status: 'ready' });
  };
}
