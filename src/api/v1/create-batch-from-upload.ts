/** `POST /v1/batches` with a JSON body: the file lies in storage already, as an upload of the caller. */
import { z } from 'zod';
import { requestHash } from '../../core/idempotency/idempotency.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { createBatch, storeUpload } from '../../jobs/list/create-list.ts';
import { openUpload, useUpload } from '../../jobs/list/uploads.ts';
import { readBatchOptions } from '../batch-options.ts';
import { parseParameters, type RouteInput } from '../define-route.ts';
import { type IdempotentRequest, replay } from '../idempotent-request.ts';
import { holdUpload, uploadContextOf } from '../upload-context.ts';
import { ownerOf } from './own-batch.ts';

const body = z.looseObject({ upload_id: z.uuid() });

/** Reads `{upload_id, ...options}`, makes the batch and answers 202. Throws as `openUpload` and `createBatch`. */
export async function createBatchFromUpload(
  { context, key, query, response }: RouteInput<Record<string, unknown>, unknown>,
  idempotency: IdempotentRequest,
  json: unknown,
): Promise<void> {
  const { upload_id: uploadId, ...given } = parseParameters(body, json);
  const options = { ...query, ...asFormFields(given) };
  // The upload stands for its bytes: it is gone when the request is sent again.
  const requestSha256 = requestHash({ ...options, upload_id: uploadId }, null);
  if (idempotency.stored !== null) {
    replay(response, idempotency.stored, requestSha256);
    return;
  }
  const owner = ownerOf(key);
  const [batchRequest, dialect] = readBatchOptions(options, null);
  holdUpload(key.accountId, response);
  const uploadContext = uploadContextOf(context, key, response);
  const { uploadBytesMax } = context.config;
  const { key: fileKey, source } = await openUpload(context, owner, uploadId, uploadBytesMax);
  // A file that is refused half way is not read to its end.
  const stored = await storeUpload(uploadContext, source).finally(() => source.destroy());
  const batch = await createBatch(
    uploadContext,
    { ...owner, keyId: key.id },
    stored,
    batchRequest,
    dialect,
    async (tx, made) => {
      await useUpload(tx, uploadId);
      await idempotency.respond(tx, {
        requestSha256,
        status: 202,
        body: viewBatch(made, new Date()),
      });
    },
  );
  await context.store.delete(fileKey).catch((error) => {
    // The batch has its own copy by now, and what is left here is deleted within a day.
    context.log.warn({ err: error, upload: uploadId }, 'used upload not deleted');
  });
  response.status(202).location(`/v1/batches/${batch.id}`).json(viewBatch(batch, new Date()));
}

/** JSON values as a form would send them: one parser reads the options of every kind of request. */
export function asFormFields(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, asFormField(value)]),
  );
}

function asFormField(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
