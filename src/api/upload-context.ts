/** Shared by the calls that store an upload. */
import type { Response } from 'express';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { UploadContext } from '../jobs/list/store-upload.ts';
import type { ApiContext } from './api-context.ts';
import { clientGone } from './client-gone.ts';
import { limitOpenResponses } from './open-responses.ts';

/** Each upload holds a buffer of up to 20 MiB on its way to S3: two dozen large ones fill a small process. */
const UPLOADS_MAX = 16;

/** Counts an upload as open until its response ends. Throws `AppError` 429 at the account's maximum. */
export const holdUpload = limitOpenResponses('uploads', UPLOADS_MAX);

/** Returns the context of an upload by this key, which ends when the client disconnects before the response. */
export function uploadContextOf(
  context: ApiContext,
  key: ApiKey,
  response: Response,
): ApiContext & UploadContext {
  return { ...context, accountId: key.accountId, signal: clientGone(response) };
}
