import { createUpload } from '../../jobs/list/uploads.ts';
import { defineRoute, none } from '../define-route.ts';
import { ownerOf } from './own-batch.ts';

/**
 * Gives an address to PUT a large file to, past this service, and an id to make a batch of it. An
 * Idempotency-Key changes nothing here: a second upload costs nothing and ends by itself.
 */
export const createUploadRoute = defineRoute({
  method: 'post',
  path: '/v1/uploads',
  summary: 'Get an address to upload a large list to',
  scope: 'batches',
  query: none,
  params: none,
  async handler({ context, key, response }) {
    const upload = await createUpload(context, ownerOf(key));
    response.status(201).json({
      upload_id: upload.id,
      method: 'PUT',
      url: upload.url,
      url_expires_at: upload.urlExpiresAt.toISOString(),
      expires_at: upload.expiresAt.toISOString(),
      bytes_max: context.config.uploadBytesMax,
    });
  },
});
