import { AppError } from '../../core/lib/errors.ts';
import { isObjectDamaged, isObjectMissing } from '../../core/storage/object-sum.ts';

/**
 * What the store refuses, for whatever reason, is no fault of a row: as `AppError` 503 it does not count
 * against the chunk. An object that is damaged or missing is passed on: it ends the batch.
 */
export async function storeCall<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (isObjectDamaged(cause) || isObjectMissing(cause)) throw cause;
    throw new AppError({
      code: 'store_unavailable',
      status: 503,
      message: 'The object store did not answer as it should.',
      cause,
    });
  }
}
