/** Shared by the calls that store an upload: their context, and the list that they receive. */
import type { Response } from 'express';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { RequestedList } from '../jobs/list/create-list.ts';
import type { UploadContext } from '../jobs/list/store-upload.ts';
import type { ApiContext } from './http/api-context.ts';
import { clientGone } from './http/client-gone.ts';
import { limitOpenResponses } from './http/open-responses.ts';

const UPLOADS_MAX = 10;
/** Each upload holds 5 MiB on its way to S3: 20, sent as gzip by six accounts, take 180 MiB of a process of 512 MiB. */
const PROCESS_UPLOADS_MAX = 20;

/** Counts an upload as open until its response ends. Throws `AppError` 429 at the maximum of the account or the process. */
export const holdUpload = limitOpenResponses('uploads', UPLOADS_MAX, PROCESS_UPLOADS_MAX);

/** Returns the context of an upload by this key, which ends when the client disconnects before the response. */
export function uploadContextOf(
  context: ApiContext,
  key: ApiKey,
  response: Response,
): ApiContext & UploadContext {
  return { ...context, accountId: key.accountId, signal: clientGone(response) };
}

/** A received list, as far as it is read before the Idempotency-Key is checked. */
export interface ReceivedList {
  body: {
    context: UploadContext;
    /** Stores the file, unless it is in storage already. Resolves with the options of the new batch. */
    store(): Promise<RequestedList>;
    /** The upload that the batch uses up. */
    uploadId?: string;
    /** Called after the batch was created. */
    finish?(): Promise<void>;
    /** True for JSON rows: the call may wait for their results. */
    isRows: boolean;
  };
  same: { options: Record<string, unknown>; fileSha256?: Buffer };
  discard?(): Promise<void>;
}
