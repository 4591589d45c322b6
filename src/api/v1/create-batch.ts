import type { Request } from 'express';
import { z } from 'zod';
import { requestHash } from '../../core/idempotency/idempotency.ts';
import type { CallCredentials } from '../../core/keys/keys.ts';
import { AppError } from '../../core/lib/errors.ts';
import { credentialsEnded } from '../../core/sessions/still-in-force.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { assertStorageLeft } from '../../jobs/batch/stored-bytes.ts';
import {
  createBatch,
  type StoredUpload,
  storeUpload,
  type UploadContext,
} from '../../jobs/list/create-list.ts';
import type { ApiContext } from '../api-context.ts';
import { readBatchOptions } from '../batch-options.ts';
import { defineRoute, none } from '../define-route.ts';
import { claimRequest, replayCreated } from '../idempotent-request.ts';
import { readMultipart } from '../multipart.ts';
import { holdUpload, uploadContextOf } from '../upload-context.ts';
import { createBatchFromJson, rowTypes } from './create-batch-from-json.ts';
import { ownerOf } from './own-batch.ts';

/**
 * Uploads a list: `multipart/form-data` with the part `file` and the options as fields in any order, or
 * the bare file as the body with the options as query parameters, or JSON with an `upload_id` or `rows`
 * and the options. Answers 202 with the batch.
 */
export const createBatchRoute = defineRoute({
  method: 'post',
  path: '/v1/batches',
  summary: 'Upload a list and start enriching it',
  scope: 'batches',
  query: z.record(z.string(), z.unknown()),
  params: none,
  async handler(input) {
    const { context, key, credentials, query, request, response } = input;
    const idempotency = await claimRequest(context, key, request);
    try {
      if (request.is(rowTypes)) return await createBatchFromJson(input, idempotency);
      holdUpload(key.accountId, response);
      await assertStorageLeft(context.sql, key.accountId, context.config);
      const uploadContext = uploadContextOf(context, key, response);
      const { stored, options, fileName } = await whileInForce(context, credentials, (cut) =>
        receive(uploadContext, request, query, cut),
      );
      const requestSha256 = requestHash(options, stored.sha256);
      if (idempotency.stored !== null) {
        await context.store.delete(stored.key);
        replayCreated(response, idempotency.stored, requestSha256);
        return;
      }
      const batch = await createBatch(
        uploadContext,
        { ...ownerOf(key), keyId: key.id },
        stored,
        ...(await readOptions(context, stored, options, fileName)),
        (tx, made) =>
          idempotency.respond(tx, {
            requestSha256,
            status: 202,
            body: viewBatch(made, new Date()),
          }),
      );
      response.status(202).location(`/v1/batches/${batch.id}`).json(viewBatch(batch, new Date()));
    } finally {
      await idempotency.release();
    }
  },
});

/** Reads the options; the upload of a request whose options are wrong is deleted. */
async function readOptions(
  context: Pick<UploadContext, 'store'>,
  stored: StoredUpload,
  options: Record<string, unknown>,
  fileName: string | null,
): Promise<ReturnType<typeof readBatchOptions>> {
  try {
    return readBatchOptions(options, fileName);
  } catch (error) {
    await context.store.delete(stored.key);
    throw error;
  }
}

/**
 * Receives an upload, which may take hours, for as long as its key and session last: a watcher asks for
 * them all the time. `receive` ends with the refusal when its signal is aborted.
 */
async function whileInForce<Result>(
  { sql, watcher }: Pick<ApiContext, 'sql' | 'watcher'>,
  credentials: CallCredentials,
  receive: (cut: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const cut = new AbortController();
  const unwatch = watcher.watchCaller(credentials, () => {
    credentialsEnded(sql, credentials).then(
      (refusal) => cut.abort(refusal),
      (error) => cut.abort(error),
    );
  });
  try {
    return await receive(cut.signal);
  } finally {
    unwatch();
  }
}

/** What a list may be sent as; the bytes decide what it is. */
const bareTypes = [
  'text/*',
  'application/csv',
  'application/gzip',
  'application/octet-stream',
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
];

interface Received {
  stored: StoredUpload;
  options: Record<string, unknown>;
  fileName: string | null;
}

async function receive(
  context: UploadContext,
  request: Request,
  query: Record<string, unknown>,
  cut: AbortSignal,
): Promise<Received> {
  if (request.is('multipart/form-data')) {
    const form = await readMultipart(
      request,
      (file) => storeUpload(context, file, cut),
      (stored) => context.store.delete(stored.key),
      cut,
    );
    return { stored: form.file, options: { ...query, ...form.fields }, fileName: form.fileName };
  }
  if (!request.is(bareTypes)) {
    throw new AppError({
      code: 'unsupported_media_type',
      status: 415,
      message: 'Send the list as multipart/form-data with a part named `file`, or as text/csv.',
    });
  }
  // Wrong options are told before the body is read.
  readBatchOptions(query, null);
  const stored = await storeUpload(context, request, cut);
  return { stored, options: query, fileName: null };
}
