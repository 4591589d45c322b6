import type { ApiKey } from '../../core/keys/keys.sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { BatchKind, BatchOf, ListBatch } from '../../jobs/batch/batch.ts';
import { findOwnBatch } from '../../jobs/batch/batches.sql.ts';
import type { ApiContext } from '../api-context.ts';
import { ownerOf } from '../owner-of.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The caller's list or export. Throws `AppError` 404 for one that is not there or of the other kind, and
 * for anybody else's.
 */
export async function ownBatchOf<Kind extends BatchKind>(
  context: ApiContext,
  key: ApiKey,
  { kind, noun }: { kind: Kind; noun: string },
  id: string,
): Promise<BatchOf<Kind>> {
  const batch = isUuid(id) ? await findOwnBatch(context.sql, ownerOf(key), kind, id) : undefined;
  if (batch !== undefined) return batch;
  throw new AppError({ code: 'not_found', status: 404, message: `There is no ${noun} ${id}.` });
}

/** The caller's list. Throws as `ownBatchOf`. */
export function ownBatch(context: ApiContext, key: ApiKey, id: string): Promise<ListBatch> {
  return ownBatchOf(context, key, { kind: 'list', noun: 'batch' }, id);
}

/** An id in another form is one that nothing has. */
export function isUuid(id: string): boolean {
  return UUID.test(id);
}
