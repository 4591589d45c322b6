import type { ApiKey } from '../../core/keys/queries.ts';
import { AppError } from '../../core/lib/errors.ts';
import { type Batch, findOwnBatch, type Owner } from '../../jobs/batch/queries.ts';
import type { ApiContext } from '../api-context.ts';

/** Whose objects a key sees: its account's, and only those of its mode. */
export function ownerOf(key: ApiKey): Owner {
  return { accountId: key.accountId, live: key.mode === 'live' };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The caller's batch. Throws `AppError` 404 for one that is not there and for anybody else's. */
export async function ownBatch(context: ApiContext, key: ApiKey, id: string): Promise<Batch> {
  const batch = UUID.test(id) ? await findOwnBatch(context.sql, ownerOf(key), id) : undefined;
  if (batch !== undefined) return batch;
  throw new AppError({ code: 'not_found', status: 404, message: `There is no batch ${id}.` });
}
