import { z } from 'zod';
import { createUpload } from '../../jobs/list/uploads.ts';
import { defineRoute } from '../define-route.ts';
import { ownerOf } from '../owner-of.ts';

/**
 * Gives an address to PUT a large file to, past this service, and an id to make a batch of it. An
 * Idempotency-Key changes nothing here: a second upload costs nothing and ends by itself.
 */
export const createUploadRoute = defineRoute({
  method: 'post',
  path: '/v1/uploads',
  summary: 'Get an address to upload a large list to',
  scope: 'batches',
  responses: {
    201: {
      description: 'Where to send the file.',
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
