import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { lockWallet } from '../../core/credits/credits.sql.ts';
import { grantCredits } from '../../core/credits/credits.ts';
import { inTransaction } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { prices } from '../../core/operations.ts';
import { audit } from '../audit/audit.ts';
import { dispatch } from '../batch/dispatch.ts';
import { resumePaidBatches } from '../housekeeping/resume-paid.sql.ts';
import { countOutcomes } from './afford.ts';
import { claimChunk } from './claim-chunk.sql.ts';
import { type CommitPart, commitPart } from './commit-part.sql.ts';
import { findShortage, type ReserveInput, reserveForChunk } from './reserve.sql.ts';

const CHUNKS = 3;
const MATCHES = 2;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: String(MATCHES) });
});
afterAll(() => pipeline.close());

/** The reservation inputs of a list's chunks, all leased. */
async function leased(caller: Caller, options: Record<string, string>): Promise<ReserveInput[]> {
  const rows = Array.from({ length: CHUNKS * MATCHES }, (_, row) => `a${row}@list.example\n`);
  const query = { operation: 'people.enrich', ...options };
  const batchId = await pipeline.upload(caller, `email\n${rows.join('')}`, query);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  const chunks = await pipeline.sql<{ chunkId: number; epoch: number }[]>`
    select id as chunk_id, epoch from chunks where batch_id = ${batchId} order by number`;
  const inputs: ReserveInput[] = [];
  for (const chunk of chunks) {
    // The second chunk of a new list is dispatched when the first one is leased.
    await dispatch(pipeline.context);
    const { chunkId, epoch } = must(await claimChunk(pipeline.sql, chunk), 'the claim').chunk;
    inputs.push({ batchId, chunkId, epoch, matches: MATCHES, price: 1 });
  }
  return inputs;
}

test.each([
  ['the wallet', { credits: 5, perDay: null, max: {} }, 5, 'insufficient_credits'],
  ['the key', { credits: 100, perDay: 5, max: {} }, 5, 'key_budget'],
  ['max_credits', { credits: 100, perDay: null, max: { max_credits: '5' } }, 10, 'max_credits'],
] as const)(
  'chunks that reserve concurrently are never granted more than %s can pay',
  async (_, { credits, perDay, max }, payable, shortOf) => {
    const caller = await pipeline.boundedAccount(credits, perDay);
    // Two lists, so that some compete for their batch and some for the wallet.
    const inputs = [...(await leased(caller, max)), ...(await leased(caller, max))];
    let reserving: ReturnType<typeof reserveForChunk>[] = [];
    await inTransaction(pipeline.sql, async (tx) => {
      await tx`select from wallets where account_id = ${caller.accountId} for update`;
      reserving = inputs.map((input) => reserveForChunk(pipeline.context.sql, input));
      await pipeline.untilBlocked(inputs.length);
    });
    const reserved = (await Promise.all(reserving)).map((answer) => must(answer, 'an answer'));
    expect(reserved.reduce((sum, { granted }) => sum + granted, 0)).toBe(payable);
    for (const { granted, limitedBy, reservationId } of reserved) {
      expect(limitedBy).toBe(granted === MATCHES ? null : shortOf);
      expect(reservationId !== null).toBe(granted > 0);
    }
    expect(await pipeline.wallet(caller)).toEqual({ balance: credits, reserved: payable });
    expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  },
);

test('credits that come while a chunk waits for the wallet are reserved', async () => {
  const caller = await pipeline.boundedAccount(0, null);
  const input = must((await leased(caller, {}))[0], 'a claim');
  let reserving: ReturnType<typeof reserveForChunk> | undefined;
  await inTransaction(pipeline.sql, async (tx) => {
    await lockWallet(tx, caller.accountId);
    reserving = reserveForChunk(pipeline.sql, input);
    await pipeline.untilBlocked(1);
    await grantCredits(tx, { accountId: caller.accountId, amount: 5, reference: 'invoice' });
  });
  expect(await reserving).toMatchObject({ granted: MATCHES, limitedBy: null });
  expect(await pipeline.wallet(caller)).toEqual({ balance: 5, reserved: MATCHES });
});

test('credits that one list has reserved neither pay for another nor resume it', async () => {
  const caller = await pipeline.boundedAccount(MATCHES, null);
  const reserving = must((await leased(caller, {}))[0], 'a claim');
  const { batchId } = must((await leased(caller, {}))[0], 'a claim');
  const isShort = () => findShortage(pipeline.sql, { batchId, price: 1 });
  expect(await isShort()).toBeNull();
  await reserveForChunk(pipeline.sql, reserving);
  expect(await isShort()).toBe('insufficient_credits');
  await pipeline.sql`
    update batches set state = 'paused', reason = 'insufficient_credits' where id = ${batchId}`;
  expect(await resumePaidBatches(pipeline.sql, prices)).toEqual([]);
});

test('a reservation is not charged once its batch is being cancelled', async () => {
  const caller = await pipeline.boundedAccount(100, null);
  const input = must((await leased(caller, {}))[0], 'a claim');
  const { batchId, chunkId, epoch } = input;
  const reserved = must(await reserveForChunk(pipeline.sql, input), 'the reservation');
  // A cancel raises the epochs too: this holds even where one was missed.
  await pipeline.sql`update batches set state = 'cancelling' where id = ${batchId}`;
  const part: CommitPart = {
    ...{ batchId, chunkId, epoch, chunkNumber: 1, number: 0, rows: MATCHES, keyId: caller.keyId },
    ...{ part: { bytes: 1, crc32: 0 }, ids: null },
    rowBytesMax: 1,
    objectKey: `${chunkId}`,
    counts: { ...countOutcomes([]), matched: MATCHES },
    owned: 0,
    paysOnce: null,
    operation: 'people.enrich',
    reservationId: reserved.reservationId,
    ...{
      shortOf: null,
      price: 1,
      records: [],
      distinct: null,
      delivered: null,
      suppressionNumber: null,
      graph: null,
    },
    report: {} as CommitPart['report'],
  };
  expect(await commitPart(pipeline.sql, part)).toBeUndefined();
  expect(await pipeline.wallet(caller)).toEqual({ balance: 100, reserved: MATCHES });
});
