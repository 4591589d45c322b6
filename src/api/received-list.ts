import type { RequestedList, UploadContext } from '../jobs/list/create-list.ts';

/** A list that a call sends, as far as it is read before the Idempotency-Key is looked at. */
export interface ReceivedList {
  body: {
    context: UploadContext;
    /** Puts the file into storage, unless it is there; what it resolves with becomes a batch. */
    store(): Promise<RequestedList>;
    /** The upload that is used up by the batch. */
    uploadId?: string;
    /** Call when the batch is made. */
    finish?(): Promise<void>;
    /** True for rows of JSON: the call may wait for their results. */
    isRows: boolean;
  };
  same: { options: Record<string, unknown>; fileSha256?: Buffer };
  discard?(): Promise<void>;
}
