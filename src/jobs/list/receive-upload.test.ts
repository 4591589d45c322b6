import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { receiveUpload } from './receive-upload.ts';

const early = { code: 'invalid_request', status: 400 };

test('a client that hung up before the upload was looked at is told so', async () => {
  const source = new PassThrough();
  source.destroy();
  await expect(finished(receiveUpload(source, 100))).rejects.toMatchObject(early);
});

test('a client that hangs up before anybody reads ends nothing but its upload', async () => {
  const source = new PassThrough();
  const received = receiveUpload(source, 100);
  source.destroy();
  // An error that nobody heard would end the process here.
  await new Promise((resolve) => setImmediate(resolve));
  await expect(finished(received)).rejects.toMatchObject(early);
});

test('a connection that is reset in mid-upload is the client’s, not ours', async () => {
  const source = new PassThrough();
  const received = receiveUpload(source, 100);
  source.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  await expect(finished(received)).rejects.toMatchObject(early);
});
