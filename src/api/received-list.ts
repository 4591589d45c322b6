import type { RequestedList } from '../jobs/list/create-list.ts';
import type { UploadContext } from '../jobs/list/store-upload.ts';

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
