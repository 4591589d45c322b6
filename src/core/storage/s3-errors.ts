/** What the S3 client throws, in our words. */
import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError } from '../lib/errors.ts';
import { objectMissing } from './object-store.ts';

/** True when the server answered with this status. */
export function isStatus(error: unknown, status: number): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === status;
}

/** True when there is no such object; a HEAD has no body that could name the error. */
export function isNotFound(error: unknown): boolean {
  const names = ['NoSuchKey', 'NotFound'];
  return isStatus(error, 404) && names.includes((error as S3ServiceException).name);
}

/**
 * The error of a call about this object or folder: `object_missing`, or 503 `store_unavailable` with
 * the server's or the connection's own word for it. No row and no caller is to blame for either.
 */
export function asStoreError(error: unknown, key: string): AppError {
  if (error instanceof AppError) return error;
  if (isNotFound(error)) return objectMissing(key, error);
  const { name, code } = (error ?? {}) as { name?: string; code?: string };
  return new AppError({
    code: 'store_unavailable',
    status: 503,
    message: `The object storage does not do its work right now (${code ?? name}).`,
    cause: error,
  });
}
