/** Translates errors of the S3 client. */
import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError, unavailable } from '../lib/errors.ts';
import { objectMissing } from './object-store.ts';

/** Returns true when the server responded with this status. */
export function isStatus(error: unknown, status: number): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === status;
}

/** Returns true for a missing object; the response to a HEAD has no body that could name the error. */
export function isNotFound(error: unknown): boolean {
  const names = ['NoSuchKey', 'NotFound'];
  return isStatus(error, 404) && names.includes((error as S3ServiceException).name);
}

/**
 * Returns the error of a call about this object or folder: `object_missing`, or 503 `store_unavailable` with the
 * code of the server or the connection. Neither is the fault of a row or a caller.
 */
export function asStoreError(error: unknown, key: string): AppError {
  if (error instanceof AppError) return error;
  if (isNotFound(error)) return objectMissing(key, error);
  const { name, code } = (error ?? {}) as { name?: string; code?: string };
  return unavailable('store_unavailable', `The object store is unavailable (${code ?? name}).`, {
    cause: error,
  });
}

/** Resolves as a call about this object or folder; throws as `asStoreError` says. */
export async function explained<T>(key: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asStoreError(error, key);
  }
}

/**
 * Throws `AppError` 503 when a response lacks the name that the server gives to an object, an upload or a bucket. Such a
 * response is from something in between, such as a proxy whose server is away. If it were believed, a stored object would be
 * missing, a read would look damaged, and a deleted object would stay.
 */
export function assertConfirmed(name: string | undefined): asserts name is string {
  if (!name) throw notConfirmed();
}

/** Returns the error of a response that is not from the store. */
export function notConfirmed(): AppError {
  return unavailable('store_unavailable', 'The response is not from the object store.');
}
