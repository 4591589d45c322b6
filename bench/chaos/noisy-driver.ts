/**
 * A noisy account: its key may run one row a minute, and it keeps uploading lists of one row. It holds some and asks
 * for their quotes, pauses others, and asks for previews. At the end it cancels the lists that are still open.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './accounts.ts';
import type { ApiCaller, Call } from './api-caller.ts';
import type { History } from './history.ts';
import type { ListRun } from './list-driver.ts';
import { batchOf, type KnownList } from './lists.ts';
import type { Random } from './random.ts';

/** The key would need this many minutes for them. */
const LISTS_MAX = 120;

const filters: Record<string, string>[] = [
  { gender: '2' },
  { 'experience.text': 'manager' },
  { ageRange: '20-40', headCount: '50-249' },
  { 'experience.text': '[sales|support|design]', mobile: '*' },
];

export class NoisyDriver {
  readonly account: Account;
  readonly runs: ListRun[] = [];
  readonly #api: ApiCaller;
  readonly #history: History;
  readonly #random: Random;
  readonly #list: KnownList;

  constructor(api: ApiCaller, history: History, random: Random, account: Account, list: KnownList) {
    this.#api = api;
    this.#history = history;
    this.#random = random;
    this.account = account;
    this.#list = list;
  }

  async drive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const random = this.#random;
      if (this.runs.length < LISTS_MAX) await this.#upload();
      if (random.chance(0.3)) await this.#preview();
      await delay(random.between(20, 300));
    }
  }

  /** Cancels the open lists. Nothing may be charged after the response to a cancel. */
  async cancelAll(): Promise<void> {
    for (const run of this.runs) {
      const answer = await this.#api.until(this.#action(run.id, 'cancel'));
      if (answer?.status === 202) run.chargedAtCancel = batchOf(answer).credits.charged;
    }
  }

  async #upload(): Promise<void> {
    const random = this.#random;
    const list = this.#list;
    const hold = random.chance(0.3);
    const answer = await this.#api.until({
      key: this.account.key,
      route: 'post /v1/batches',
      idempotencyKey: randomUUID(),
      body: () => list.request(hold ? { hold } : {}),
    });
    if (answer?.status !== 202) {
      this.#history.violate('a good list is accepted once', { status: answer?.status });
      return;
    }
    const { id } = batchOf(answer);
    this.runs.push({ list, account: this.account, id, chargedAtCancel: null });
    // One attempt: a quote is refused until the list is split, and while too many others wait.
    if (hold) await this.#api.try(this.#action(id, 'quote'));
    else if (random.chance(0.2)) await this.#api.until(this.#action(id, 'pause'));
  }

  #action(id: string, action: string): Call {
    const idempotencyKey = randomUUID();
    const route = `post /v1/batches/{id}/${action}`;
    return { key: this.account.key, route, id, idempotencyKey };
  }

  /** One attempt: a preview may time out while the database is slow. */
  async #preview(): Promise<void> {
    const query = this.#random.pick(filters);
    await this.#api.try({ key: this.account.key, route: 'get /personsearch/preview', query });
  }
}
