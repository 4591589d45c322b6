import { z } from 'zod';
import { createUpload } from '../../jobs/list/uploads.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerOf } from '../owner-of.ts';

/**
 * Returns a URL to PUT a large file to, directly into storage, and an id to create a batch from it. An Idempotency-Key
 * has no effect: a second upload is free and expires.
 */
export const createUploadRoute = defineRoute({
  method: 'post',
  path: '/v1/uploads',
  summary: 'Get a URL to upload a large list to',
  scope: 'batches',
  responses: {
    201: {
      description: 'The URL for the file.',
      schema: z.record(z.string(), z.unknown()),
    },
  },
  errors: [409],
  async handler({ context, key }) {
    const upload = await createUpload(context, ownerOf(key));
    return {
      status: 201,
      body: {
        upload_id: upload.id,
        method: 'PUT',
        url: upload.url,
        url_expires_at: upload.urlExpiresAt.toISOString(),
        expires_at: upload.expiresAt.toISOString(),
        bytes_max: context.config.uploadBytesMax,
      },
    };
  },
});
