/** Receives a list as a file: the part `file` of a form, or the whole body. */
import type { Request } from 'express';
import { AppError } from '../core/lib/errors.ts';
import { assertStorageLeft } from '../jobs/batch/stored-bytes.ts';
import { type StoredUpload, storeUpload, type UploadContext } from '../jobs/list/store-upload.ts';
import { readBatchOptions } from './batch-options.ts';
import type { RouteInput } from './http/define-route.ts';
import { readMultipart } from './http/multipart.ts';
import { whileValid } from './http/while-valid.ts';
import { readInTurn } from './read-in-turn.ts';
import { holdUpload, type ReceivedList, uploadContextOf } from './upload-context.ts';

/** Stores the file. When this throws, nothing of it remains. */
export async function receiveFile(input: RouteInput): Promise<ReceivedList> {
  const { context, key, credentials, request, response } = input;
  holdUpload(key.accountId, response);
  // The results of the list that the first request has made may have filled the account.
  if (!input.isRepeated) {
    await readInTurn(input, (tx) => assertStorageLeft(tx, key.accountId, context.config));
  }
  const uploadContext = uploadContextOf(context, key, response);
  const { upload, options, fileName } = await whileValid(context, credentials, (cut) =>
    receive(uploadContext, request, cut),
  );
  const discard = () => context.store.delete(upload.key);
  try {
    const requested = readBatchOptions(options, fileName);
    return {
      body: {
        context: uploadContext,
        store: async () => ({ upload, ...requested }),
        isRows: false,
      },
      same: { options, fileSha256: upload.sha256 },
      discard,
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Media types of a list. The bytes decide its format. */
const bareTypes = [
  'text/*',
  'application/csv',
  'application/gzip',
  'application/octet-stream',
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
];

interface Received {
  upload: StoredUpload;
  options: Record<string, unknown>;
  fileName: string | null;
}

async function receive(
  context: UploadContext,
  request: Request,
  cut: AbortSignal,
): Promise<Received> {
  const { query } = request;
  if (request.is('multipart/form-data')) {
    const form = await readMultipart(
      request,
      (file) => storeUpload(context, file, cut),
      (stored) => context.store.delete(stored.key),
      cut,
    );
    return { upload: form.file, options: { ...query, ...form.fields }, fileName: form.fileName };
  }
  if (!request.is(bareTypes)) {
    throw new AppError({
      code: 'unsupported_media_type',
      status: 415,
      message: 'Send the list as multipart/form-data with a part named `file`, or as text/csv.',
    });
  }
  // Invalid options are reported before the body is read.
  readBatchOptions(query, null);
  const upload = await storeUpload(context, request, cut);
  return { upload, options: query, fileName: null };
}
