/**
 * What wallet, chunks and batches must look like after any sequence of claims, reservations, commits,
 * releases, lost leases and grants: the rules of DESIGN.md in plain variables. Every step is done to
 * the model and to the database, and both must agree, on answers and on what is stored.
 */

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
}

export interface ModelBatch {
  state: 'queued' | 'running' | 'paused' | 'finalizing';
  max: number | null;
  charged: number;
  chunks: ModelChunk[];
}

/** A worker's claim, which it may hold on to long after it lost it. */
export interface ModelClaim {
  chunk: ModelChunk;
  epoch: number;
  /** What the worker believes to have reserved; null before it asked. */
  granted: number | null;
}

export class CreditModel {
  balance: number;
  readonly batches: ModelBatch[];

  constructor(balance: number, batches: ModelBatch[]) {
    this.balance = balance;
    this.batches = batches;
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
    const held = batch.chunks.reduce((sum, other) => sum + other.reserved, 0);
    const headroom = batch.max === null ? matches : batch.max - batch.charged - held;
    const granted = Math.min(matches, this.balance - this.reserved, headroom);
    chunk.reserved = granted;
    claim.granted = granted;
    return granted;
  }

  /** True when the part counts; false when the claim is lost. */
  commit(claim: ModelClaim, part: { rows: number; outOfCredits: boolean }): boolean {
    if (!this.isHeld(claim)) return false;
    const { chunk } = claim;
    const { batch } = chunk;
    this.balance -= chunk.reserved;
    batch.charged += chunk.reserved;
    chunk.reserved = 0;
    chunk.rowsDone += part.rows;
    chunk.parts += 1;
    chunk.state = chunk.rowsDone === chunk.rows ? 'done' : 'pending';
    if (batch.chunks.every(({ state }) => state === 'done')) batch.state = 'finalizing';
    else if (part.outOfCredits) batch.state = 'paused';
    return true;
  }

  release(claim: ModelClaim, pauses: boolean): void {
    if (!this.isHeld(claim)) return;
    this.#giveBack(claim.chunk);
    if (pauses) claim.chunk.batch.state = 'paused';
  }

  sweep(): void {
    for (const chunk of this.chunks) {
      if (chunk.state === 'leased' && chunk.isExpired) this.#giveBack(chunk);
    }
    const available = this.balance - this.reserved;
    for (const batch of this.batches) {
      if (batch.state === 'paused' && available >= 1) {
        batch.state = 'running';
        for (const chunk of batch.chunks) {
          // Its wake-up found the batch paused and is gone.
          if (chunk.state === 'dispatched') this.#giveBack(chunk);
        }
      }
      if (batch.state !== 'queued' && batch.state !== 'running') continue;
      for (const chunk of batch.chunks) {
        if (chunk.state === 'pending') chunk.state = 'dispatched';
      }
    }
  }

  #giveBack(chunk: ModelChunk): void {
    chunk.state = 'pending';
    chunk.epoch += 1;
    chunk.reserved = 0;
  }
}
