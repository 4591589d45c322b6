/** A download ends with the key that it was begun with. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { Signal } from '../../tests/support/signal.ts';
import { revokeKey } from '../core/keys/account-keys.ts';
import { displayPrefix } from '../core/keys/key-format.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
});
afterAll(() => pipeline.close());

test('a download is cut when its key is revoked', async () => {
  const caller = await pipeline.account(10);
  const list = 'email\na@nobody.example\nb@nobody.example\nc@nobody.example\n';
  const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', fields: 'id' });
  const revoked = new Signal();
  let reads = 0;
  pipeline.faults.get = async () => {
    // The first part is on its way to the client; the next ones come when the key is gone.
    if (++reads > 1) await revoked.raised;
  };
  const response = await pipeline.call(caller, `/v1/batches/${id}/results`);
  expect(response.status).toBe(200);
  await revokeKey(pipeline.sql, displayPrefix(caller.key));
  await expect(response.text()).rejects.toThrow();
  revoked.raise();
});
