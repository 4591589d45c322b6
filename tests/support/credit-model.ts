/**
 * A model of wallet, key, chunks and batches under any sequence of claims, reservations, commits, releases,
 * lost leases, single calls, midnights and grants: the rules of money in plain variables. Every step is applied
 * to the model and to the database, and both must agree on results and on stored state.
 */
import type { Shortage } from '../../src/jobs/batch/states.ts';

export interface ModelChunk {
  batch: ModelBatch;
  number: number;
  rows: number;
  rowsDone: number;
  parts: number;
  state: 'dispatched' | 'leased' | 'pending' | 'done';
  epoch: number;
  isExpired: boolean;
  /** Credits of the open reservation. */
  reserved: number;
  reservedOn: number;
}

export interface ModelBatch {
  state: 'queued' | 'running' | 'paused' | 'finalizing';
  reason: Shortage | null;
  max: number | null;
  charged: number;
  chunks: ModelChunk[];
}

/** A worker's claim, which it may keep using long after losing it. */
export interface ModelClaim {
  chunk: ModelChunk;
  epoch: number;
  /** Matches that the worker believes to have reserved; null before it asked. */
  granted: number | null;
}

export class CreditModel {
  balance: number;
  /** The daily budget of the key of all batches and calls; null for none. */
  cap: number | null;
  day = 0;
  spentToday = 0;
  readonly batches: ModelBatch[];

  constructor(balance: number, cap: number | null, batches: ModelBatch[]) {
    this.balance = balance;
    this.cap = cap;
    this.batches = batches;
  }

  get available(): number {
    return this.balance - this.reserved;
  }

  get leftToday(): number {
    return this.cap === null ? Number.POSITIVE_INFINITY : this.cap - this.spentToday;
  }

  get chunks(): ModelChunk[] {
    return this.batches.flatMap((batch) => batch.chunks);
  }

  get reserved(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.reserved, 0);
  }

  isHeld({ chunk, epoch }: ModelClaim): boolean {
    return chunk.state === 'leased' && chunk.epoch === epoch;
  }

  claim(chunk: ModelChunk): ModelClaim | undefined {
    const { batch } = chunk;
    if (chunk.state !== 'dispatched' || !['queued', 'running'].includes(batch.state)) return;
    batch.state = 'running';
    chunk.state = 'leased';
    chunk.epoch += 1;
    chunk.isExpired = false;
    return { chunk, epoch: chunk.epoch, granted: null };
  }

  /** Matches that can be paid; undefined when the claim is lost. */
  reserve(claim: ModelClaim, matches: number): number | undefined {
    if (!this.isHeld(claim)) return undefined;
    const { chunk } = claim;
    const { batch } = chunk;
    const byLimit = Math.min(matches, headroom(batch));
    const granted = Math.max(0, Math.min(byLimit, this.available, this.leftToday));
    chunk.reserved = granted;
    chunk.reservedOn = this.day;
    this.spentToday += granted;
    claim.granted = granted;
    return granted;
  }

  /** True when the part counts; false when the claim is lost. */
  commit(claim: ModelClaim, part: { rows: number; shortOf: Shortage | null }): boolean {
    if (!this.isHeld(claim)) return false;
    const { chunk } = claim;
    const { batch } = chunk;
    this.balance -= chunk.reserved;
    batch.charged += chunk.reserved;
    chunk.reserved = 0;
    chunk.rowsDone += part.rows;
    chunk.parts += 1;
    chunk.state = chunk.rowsDone === chunk.rows ? 'done' : 'pending';
    if (batch.chunks.every(({ state }) => state === 'done')) end(batch);
    else if (part.shortOf !== null && isShort(batch, part.shortOf)) pause(batch, part.shortOf);
    return true;
  }

  release(claim: ModelClaim, pauseFor: Shortage | null): void {
    if (!this.isHeld(claim)) return;
    const { batch } = claim.chunk;
    const ran = batch.state === 'running';
    this.#giveBack(claim.chunk);
    if (ran && pauseFor !== null && isShort(batch, pauseFor)) pause(batch, pauseFor);
  }

  /** True when the owner's new limit is accepted. A list that was paused at its limit runs when it pays for a match. */
  limit(batch: ModelBatch, max: number | null): boolean {
    if (batch.state === 'finalizing') return false;
    if (max !== null && max < batch.charged + held(batch)) return false;
    batch.max = max;
    if (batch.state === 'paused' && batch.reason === 'max_credits' && headroom(batch) >= 1) {
      this.#resume(batch);
    }
    return true;
  }

  /** True when a single call of the key, at a price of 1, is paid. */
  call(): boolean {
    if (this.available < 1 || this.leftToday < 1) return false;
    this.balance -= 1;
    this.spentToday += 1;
    return true;
  }

  midnight(): void {
    this.day += 1;
    this.spentToday = 0;
  }

  sweep(): void {
    for (const chunk of this.chunks) {
      if (chunk.state === 'leased' && chunk.isExpired) this.#giveBack(chunk);
    }
    for (const batch of this.batches) {
      if (batch.state === 'paused' && batch.reason !== 'max_credits') {
        batch.reason = this.#shortage();
        if (batch.reason === null) this.#resume(batch);
      }
      if (batch.state !== 'running') continue;
      for (const chunk of batch.chunks) {
        if (chunk.state === 'pending') chunk.state = 'dispatched';
      }
    }
  }

  #shortage(): Shortage | null {
    if (this.available < 1) return 'insufficient_credits';
    return this.leftToday < 1 ? 'key_budget' : null;
  }

  #resume(batch: ModelBatch): void {
    batch.state = 'running';
    batch.reason = null;
    for (const chunk of batch.chunks) {
      // Its wake-up found the batch paused and was consumed.
      if (chunk.state === 'dispatched') this.#giveBack(chunk);
    }
  }

  #giveBack(chunk: ModelChunk): void {
    const { batch } = chunk;
    if (chunk.reserved > 0 && batch.state === 'paused' && batch.reason === 'max_credits') {
      batch.state = 'running';
      batch.reason = null;
    }
    chunk.state = 'pending';
    chunk.epoch += 1;
    // Nothing is returned to a day that is over.
    if (chunk.reservedOn === this.day) this.spentToday -= chunk.reserved;
    chunk.reserved = 0;
  }
}

function held(batch: ModelBatch): number {
  return batch.chunks.reduce((sum, chunk) => sum + chunk.reserved, 0);
}

/** Credits that the batch's own limit leaves. */
function headroom(batch: ModelBatch): number {
  return batch.max === null ? Number.POSITIVE_INFINITY : batch.max - batch.charged - held(batch);
}

/** The worker's knowledge of the batch's own limit may be outdated. */
function isShort(batch: ModelBatch, shortage: Shortage): boolean {
  return shortage !== 'max_credits' || headroom(batch) < 1;
}

function pause(batch: ModelBatch, reason: Shortage): void {
  if (batch.state === 'running') batch.reason = reason;
  batch.state = 'paused';
}

function end(batch: ModelBatch): void {
  batch.state = 'finalizing';
  batch.reason = null;
}
