import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { receiveUpload } from './receive-upload.ts';

const early = { code: 'invalid_request', status: 400 };

test('a client that disconnected before the upload was read gets that error', async () => {
  const source = new PassThrough();
  source.destroy();
  await expect(finished(receiveUpload(source, 100))).rejects.toMatchObject(early);
});

test('a client that disconnects before the stream is read ends only its upload', async () => {
  const source = new PassThrough();
  const received = receiveUpload(source, 100);
  source.destroy();
  // An unhandled error event would end the process here.
  await new Promise((resolve) => setImmediate(resolve));
  await expect(finished(received)).rejects.toMatchObject(early);
});

test('a connection reset during the upload is the client’s error, not ours', async () => {
  const source = new PassThrough();
  const received = receiveUpload(source, 100);
  source.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  await expect(finished(received)).rejects.toMatchObject(early);
});
