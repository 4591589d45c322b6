/** The file of a list is deleted when the list is not recorded, and only then. */
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { inTransaction } from '../../core/db/client.ts';
import { createList, type ListRequest } from './create-list.ts';
import { storeUpload } from './store-upload.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(10);
});
afterAll(() => pipeline.close());

const request: ListRequest = {
  operation: 'people.enrich',
  name: 'list',
  mapping: null,
  allowUnmapped: false,
  hold: false,
  rerunOf: null,
  fields: null,
  defaultRegion: null,
  country: null,
  maxCredits: null,
  dedupe: false,
  match: 'exact',
  minProbability: 0.95,
  requireAgreement: false,
  required: null,
};

test.each([
  ['that the server still commits is kept', true],
  ['that the server rolls back is deleted', false],
])('the file of a list whose connection is lost and %s', async (_, isCommitted) => {
  const { accountId, keyId } = caller;
  const { signal } = new AbortController();
  const context = { ...pipeline.context, accountId, signal };
  const source = Readable.from([Buffer.from('email\np1@list.example\n')]);
  const upload = await storeUpload(context, source);
  const lost = Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });
  const answered = new Signal();
  let ending: Promise<unknown> = Promise.resolve();
  const making = createList(
    context,
    { accountId, keyId, live: true },
    { upload, request, dialect: {} },
    (insert) =>
      new Promise((_resolve, reject) => {
        ending = inTransaction(pipeline.sql, async (tx) => {
          await insert(tx);
          reject(lost);
          await Promise.race([pipeline.untilBlocked(1), answered.raised]);
          if (!isCommitted) throw new Error('rolled back');
        }).catch(() => {});
      }),
  );
  await expect(making).rejects.toBe(lost);
  answered.raise();
  await ending;
  const recorded = await pipeline.sql`select from batches where id = ${upload.batchId}`;
  expect(recorded).toHaveLength(isCommitted ? 1 : 0);
  const stored = (await pipeline.objects()).filter((key) => key === upload.key);
  expect(stored).toHaveLength(isCommitted ? 1 : 0);
});
