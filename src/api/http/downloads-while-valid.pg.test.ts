/** A download ends with the key that it was begun with. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { displayPrefix } from '../../core/keys/key-format.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
});
afterAll(() => pipeline.close());

const emails = ['a@nobody.example', 'b@nobody.example', 'c@nobody.example'];
const operation = 'people.enrich';
/** Cells that fill a block of a response, so that each row is sent by itself. */
const notes = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [n, 'x'.repeat(9_000)]));

/** Revokes the key when the first part of the results is on its way to the client, and expects that no other one comes. */
async function expectCut(caller: Caller, download: () => Promise<Response>): Promise<void> {
  const revoked = new Signal();
  let parts = 0;
  pipeline.faults.get = async (key) => {
    if (/\/parts\/.*\.csv$/.test(key) && ++parts > 1) await revoked.raised;
  };
  const response = await download();
  expect(response.status).toBe(200);
  await revokeKey(pipeline.sql, displayPrefix(caller.key));
  await expect(response.text()).rejects.toThrow();
  revoked.raise();
  delete pipeline.faults.get;
}

test('a download is cut when its key is revoked', async () => {
  const caller = await pipeline.account(10);
  const list = `email\n${emails.join('\n')}\n`;
  const id = await pipeline.enrich(caller, list, { operation, fields: 'id' });
  await expectCut(caller, () => pipeline.call(caller, `/v1/batches/${id}/results`));
});

test('results that a call has waited for are cut when its key is revoked', async () => {
  const caller = await pipeline.account(10);
  await expectCut(caller, async () => {
    const answer = pipeline.call(caller, '/v1/batches', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'wait=20' },
      body: JSON.stringify({ operation, rows: emails.map((email) => ({ email, ...notes })) }),
    });
    const isCompleted = async () => {
      const [batch] = await pipeline.sql`
        select from batches where account_id = ${caller.accountId} and state = 'completed'`;
      return batch !== undefined;
    };
    while (!(await isCompleted())) await pipeline.runUntilIdle();
    return answer;
  });
});
