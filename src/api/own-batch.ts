import type { ApiKey } from '../core/keys/keys.sql.ts';
import { notFound } from '../core/lib/errors.ts';
import { type BatchKind, type BatchOf, titleOf } from '../jobs/batch/batch.ts';
import { findOwnBatch } from '../jobs/batch/batches.sql.ts';
import type { ApiContext } from './api-context.ts';
import { ownerOf } from './owner-of.ts';
import { parseId } from './parse-parameters.ts';

/** Returns the caller's list or export. Throws `AppError` 404 for another id, also of another account or kind. */
export async function requireOwnBatch<Kind extends BatchKind>(
  context: ApiContext,
  key: ApiKey,
  kind: Kind,
  id: string,
): Promise<BatchOf<Kind>> {
  const uuid = parseId(titleOf(kind), id);
  const batch = await findOwnBatch(context.sql, ownerOf(key), kind, uuid);
  if (batch === undefined) throw notFound(`${titleOf(kind)} ${id}`);
  return batch;
}
