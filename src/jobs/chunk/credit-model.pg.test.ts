import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CreditModel,
  type ModelBatch,
  type ModelChunk,
  type ModelClaim,
} from '../../../tests/support/credit-model.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { chargeCalls } from '../../core/credits/charge-calls.sql.ts';
import { inTransaction } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import { setMaxCredits } from '../batch/control-batch.sql.ts';
import type { Shortage } from '../batch/states.ts';
import { countOutcomes } from './afford.ts';
import { claimChunk } from './claim-chunk.sql.ts';
import { type CommitPart, commitPart, releaseChunk } from './commit-part.sql.ts';
import { reserveForChunk } from './reserve.sql.ts';

const CHUNK_ROWS = 3;
/** `MODEL_RUNS=500` searches longer. */
const RUNS = Number(process.env.MODEL_RUNS ?? 20);

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: String(CHUNK_ROWS), ACCOUNT_CHUNKS_MAX: '1000' });
});
afterAll(() => pipeline.close());

const often = ['claim', 'reserve', 'commit'];
const step = fc.record({
  name: fc.constantFrom(
    ...often,
    ...often,
    ...often,
    'release',
    'expire',
    'sweep',
    'sweep',
    'grant',
    'call',
    'midnight',
    'cap',
    'limit',
    'limit',
  ),
  /** Selects one of the existing chunks or claims. */
  pick: fc.nat({ max: 100 }),
  amount: fc.integer({ min: 1, max: CHUNK_ROWS }),
  flag: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const run = fc.record({
  credits: fc.nat({ max: 8 }),
  max: fc.option(fc.nat({ max: 5 })),
  cap: fc.option(fc.integer({ min: 1, max: 6 })),
  steps: fc.array(step, { minLength: 30, maxLength: 60 }),
});

/** One random run: the model, its counterpart in the database, and all claims made. */
class Run {
  readonly model: CreditModel;
  readonly claims: ModelClaim[] = [];
  readonly #caller: Caller;
  readonly #ids = new Map<ModelBatch, string>();
  readonly #chunkIds = new Map<ModelChunk, number>();
  readonly #reservations = new Map<ModelClaim, number | null>();
  #grants = 0;
  #calls = 0;

  private constructor(caller: Caller, model: CreditModel) {
    this.#caller = caller;
    this.model = model;
  }

  static async start(credits: number, max: number | null, cap: number | null): Promise<Run> {
    const caller = await pipeline.boundedAccount(credits, cap);
    // Makes leftovers of earlier runs inert: while enough of others wait, no worker would be woken.
    pipeline.queues.waiting = [];
    await pipeline.sql`
      update batches set state = 'paused', reason = 'user'
      where state in ('queued', 'running', 'paused')`;
    const batches = [newBatch(null), newBatch(max)];
    const run = new Run(caller, new CreditModel(credits, cap, batches));
    for (const batch of run.model.batches) {
      const rows = Array.from({ length: 2 * CHUNK_ROWS }, (_, i) => `a${i}@list.example\n`);
      const limit = batch.max === null ? {} : { max_credits: String(batch.max) };
      const options = { operation: 'people.enrich', ...limit };
      const id = await pipeline.upload(caller, `email\n${rows.join('')}`, options);
      await pipeline.queues.runNext(pipeline.context, 'split-batch');
      run.#ids.set(batch, id);
      const chunks = await pipeline.sql<{ id: number; number: number }[]>`
        select id, number from chunks where batch_id = ${id}`;
      for (const chunk of batch.chunks) {
        const row = must(
          chunks.find(({ number }) => number === chunk.number),
          'chunk',
        );
        run.#chunkIds.set(chunk, row.id);
      }
    }
    return run;
  }

  async take({ name, pick, amount, flag }: Step): Promise<void> {
    const { model, claims } = this;
    const chunk = must(model.chunks[pick % model.chunks.length], 'chunk');
    if (name === 'claim') return this.#claim(chunk);
    if (name === 'grant') return this.#grant(amount);
    if (name === 'expire') return this.#expire(chunk);
    if (name === 'call') return this.#call();
    if (name === 'cap') return this.#setCap(flag ? null : amount * 2);
    if (name === 'limit') return this.#setLimit(pick, flag ? amount * 2 : null);
    if (name === 'midnight') {
      model.midnight();
      return pipeline.passADay(this.#caller);
    }
    if (name === 'sweep') {
      model.sweep();
      return pipeline.sweep();
    }
    // Mostly a recent claim, which may still be valid.
    const back = pick % 4 === 0 ? pick : pick % 3;
    const claim = claims.at(-1 - (back % Math.max(claims.length, 1)));
    if (claim === undefined) return;
    if (name === 'reserve') await this.#reserve(claim, amount);
    const shortOf = flag ? must(shortages[pick % 3], 'shortage') : null;
    if (name === 'commit') await this.#commit(claim, amount, shortOf);
    if (name === 'release') await this.#release(claim, shortOf);
  }

  async #claim(chunk: ModelChunk): Promise<void> {
    const chunkId = this.#idOf(chunk);
    const claimed = await claimChunk(pipeline.sql, { chunkId, epoch: chunk.epoch });
    const expected = this.model.claim(chunk);
    expect(claimed?.chunk.epoch).toBe(expected?.epoch);
    if (expected !== undefined) this.claims.push(expected);
  }

  async #reserve(claim: ModelClaim, amount: number): Promise<void> {
    // A worker reserves once, for at most as many matches as there are rows left.
    if (claim.granted !== null) return;
    const matches = Math.min(amount, claim.chunk.rows - claim.chunk.rowsDone);
    if (matches === 0) return;
    const { chunkId, batchId, epoch } = this.#held(claim);
    const input = { batchId, chunkId, epoch, matches, price: 1 };
    const reserved = await reserveForChunk(pipeline.sql, input);
    expect(reserved?.granted).toBe(this.model.reserve(claim, matches));
    this.#reservations.set(claim, reserved?.reservationId ?? null);
  }

  async #commit(claim: ModelClaim, amount: number, pauseFor: Shortage | null): Promise<void> {
    const { chunk } = claim;
    const matched = claim.granted ?? 0;
    const left = chunk.rows - chunk.rowsDone;
    const rows = Math.min(left, Math.max(amount, matched, 1));
    if (rows === 0) return;
    const shortOf = rows < left ? pauseFor : null;
    const { chunkId, batchId, epoch } = this.#held(claim);
    const part: CommitPart = {
      batchId,
      keyId: this.#caller.keyId,
      chunkId,
      chunkNumber: chunk.number,
      epoch,
      number: chunk.parts,
      objectKey: `${chunkId}-${chunk.parts}-${epoch}-${this.claims.indexOf(claim)}`,
      rows,
      part: { bytes: 1, crc32: 0 },
      ids: null,
      rowBytesMax: 1,
      counts: { ...countOutcomes([]), matched, no_match: rows - matched },
      owned: 0,
      paysOnce: null,
      operation: 'people.enrich',
      reservationId: this.#reservations.get(claim) ?? null,
      ...{ shortOf, price: 1 },
      records: [],
      distinct: null,
      delivered: null,
      suppressionNumber: null,
      graph: null,
      report: {} as CommitPart['report'],
    };
    const committed = await commitPart(pipeline.sql, part);
    expect(committed !== undefined).toBe(this.model.commit(claim, { rows, shortOf }));
    if (committed === undefined) return;
    expect(committed.chunkDone).toBe(chunk.state === 'done');
    expect(committed.batchDone).toBe(chunk.batch.state === 'finalizing');
  }

  async #release(claim: ModelClaim, pauseFor: Shortage | null): Promise<void> {
    const why =
      pauseFor === null ? ({ waits: 'chunk', seconds: 0 } as const) : { pauseFor, price: 1 };
    await inTransaction(pipeline.sql, (tx) => releaseChunk(tx, this.#held(claim), why));
    this.model.release(claim, pauseFor);
  }

  async #expire(chunk: ModelChunk): Promise<void> {
    if (chunk.state !== 'leased') return;
    chunk.isExpired = true;
    await pipeline.sql`
      update chunks set lease_until = now() - interval '1 second'
      where id = ${this.#idOf(chunk)}`;
  }

  async #call(): Promise<void> {
    const { accountId, keyId } = this.#caller;
    const reference = `call:${this.#calls++}`;
    const by = { accountId, keyId, sessionSha256: null };
    const call = { operation: 'people.enrich' as const, recordId: 1, isPlain: true };
    const one = { ...by, price: 1, reference, ...call };
    const [charged] = await chargeCalls(pipeline.sql, [one]);
    expect(charged?.paid).toBe(this.model.call());
  }

  /** A key created without a daily budget stays without one. */
  async #setCap(cap: number | null): Promise<void> {
    const bounded = await pipeline.sql`
      update key_budgets set credits_per_day = ${cap} where key_id = ${this.#caller.keyId}
      returning key_id`;
    if (bounded.length > 0) this.model.cap = cap;
  }

  /** The owner's limit of one of the lists. */
  async #setLimit(pick: number, maxCredits: number | null): Promise<void> {
    const batch = must(this.model.batches[pick % 2], 'batch');
    const owner = { accountId: this.#caller.accountId, live: true };
    const id = must(this.#ids.get(batch), 'batch');
    const set = await setMaxCredits(pipeline.sql, owner, id, { maxCredits, price: 1 });
    expect(set).toBe(this.model.limit(batch, maxCredits));
  }

  async #grant(amount: number): Promise<void> {
    this.model.balance += amount;
    await pipeline.grant(this.#caller, amount, `grant-${this.#grants++}`);
  }

  /** Expects database and model to be equal, and every rule of the audit to hold. */
  async check(): Promise<void> {
    const { balance, reserved } = this.model;
    expect(await pipeline.wallet(this.#caller)).toEqual({ balance, reserved });
    for (const batch of this.model.batches) {
      const id = must(this.#ids.get(batch), 'batch');
      const [stored] = await pipeline.sql`
        select state, reason, credits_charged, credits_reserved from batches where id = ${id}`;
      const held = batch.chunks.reduce((sum, chunk) => sum + chunk.reserved, 0);
      expect(stored).toEqual({
        state: batch.state,
        reason: batch.reason,
        creditsCharged: batch.charged,
        creditsReserved: held,
      });
      const chunks = await pipeline.sql`
        select state, epoch, rows_done, parts from chunks where batch_id = ${id} order by number`;
      expect([...chunks]).toEqual(
        batch.chunks.map(({ state, epoch, rowsDone, parts }) => {
          return { state, epoch, rowsDone, parts };
        }),
      );
    }
    const [budget] = await pipeline.sql<{ left: number | null }[]>`
      select credits_per_day - credits_taken_today(b) as left from key_budgets b where key_id = ${this.#caller.keyId}`;
    expect(budget?.left ?? Number.POSITIVE_INFINITY).toBe(this.model.leftToday);
    const { checks } = await audit(pipeline.sql);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
  }

  #held({ chunk, epoch }: ModelClaim) {
    const batchId = must(this.#ids.get(chunk.batch), 'id');
    return { chunkId: this.#idOf(chunk), batchId, keyId: this.#caller.keyId, epoch };
  }

  #idOf(chunk: ModelChunk): number {
    return must(this.#chunkIds.get(chunk), 'chunk id');
  }
}

const shortages: Shortage[] = ['insufficient_credits', 'key_budget', 'max_credits'];

function newBatch(max: number | null): ModelBatch {
  const batch: ModelBatch = { state: 'queued', reason: null, max, charged: 0, chunks: [] };
  for (const number of [1, 2]) {
    batch.chunks.push({
      batch,
      number,
      rows: CHUNK_ROWS,
      rowsDone: 0,
      parts: 0,
      // A batch that never ran has one chunk in flight.
      state: number === 1 ? 'dispatched' : 'pending',
      epoch: 0,
      isExpired: false,
      reserved: 0,
      reservedOn: 0,
    });
  }
  return batch;
}

test('no order of claims, reservations, commits, losses, calls, days and grants breaks the money', async () => {
  const seen = { commits: 0, lost: 0, pauses: 0, bounded: 0 };
  await fc.assert(
    fc.asyncProperty(run, async ({ credits, max, cap, steps }) => {
      const one = await Run.start(credits, max, cap);
      await one.check();
      for (const next of steps) {
        await one.take(next);
        await one.check();
        if (one.model.batches.some(({ state }) => state === 'paused')) seen.pauses++;
        if (one.model.leftToday < 1 && one.model.available > 0) seen.bounded++;
      }
      seen.commits += one.model.chunks.reduce((sum, chunk) => sum + chunk.parts, 0);
      seen.lost += one.claims.filter((claim) => !one.model.isHeld(claim)).length;
    }),
    { numRuns: RUNS },
  );
  // Runs without any activity would prove nothing.
  expect(seen.commits).toBeGreaterThan(20);
  expect(seen.lost).toBeGreaterThan(20);
  expect(seen.pauses).toBeGreaterThan(0);
  expect(seen.bounded).toBeGreaterThan(0);
});
