import { unavailable } from '../../core/lib/errors.ts';
import { isObjectLost } from '../../core/storage/object-sum.ts';

/**
 * Wraps a call of the store. A refusal, for any reason, is not a fault of a row: as `AppError` 503 it does not
 * count against the chunk. Errors of a damaged or missing object are rethrown: their caller waits.
 */
export async function storeCall<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (isObjectLost(cause)) throw cause;
    throw unavailable('store_unavailable', 'The object store failed to respond correctly.', {
      cause,
    });
  }
}
