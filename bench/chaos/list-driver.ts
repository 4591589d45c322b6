/** Uploads lists and controls them as people do: holds, starts, pauses, resumes, cancels. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './accounts.ts';
import type { Answer, ApiCaller } from './api-caller.ts';
import type { History } from './history.ts';
import { type BatchAnswer, batchOf, hasEnded, type KnownList, type MoreOptions } from './lists.ts';
import type { Random } from './random.ts';

const LOOK_AGAIN_MS = 400;

/** An accepted list, and the actions on it. */
export interface ListRun {
  list: KnownList;
  account: Account;
  id: string;
  /** Credits charged as of the response to the successful cancel; null without one. */
  chargedAtCancel: number | null;
}

export class ListDriver {
  readonly #api: ApiCaller;
  readonly #history: History;
  readonly #random: Random;
  readonly #lists: readonly KnownList[];
  readonly account: Account;
  readonly runs: ListRun[] = [];

  constructor(
    api: ApiCaller,
    history: History,
    random: Random,
    account: Account,
    lists: readonly KnownList[],
  ) {
    this.#api = api;
    this.#history = history;
    this.#random = random;
    this.account = account;
    this.#lists = lists;
  }

  /** One list after the other until stopped; an impatient user does not wait for each to end. */
  async drive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const run = await this.#upload();
      if (run === undefined) continue;
      await this.#steer(run, signal);
      const patienceMs = this.#random.between(2_000, 15_000);
      await this.#waitForEnd(run, Date.now() + patienceMs, signal);
    }
  }

  async #upload(): Promise<ListRun | undefined> {
    const random = this.#random;
    const list = random.pick(this.#lists);
    const hold = random.chance(0.2);
    const maxCredits = random.chance(0.4) ? random.between(0, list.charged + 5) : null;
    const isSentTwice = random.chance(0.25);
    const more: MoreOptions = {
      ...(hold ? { hold } : {}),
      ...(maxCredits === null ? {} : { max_credits: maxCredits }),
    };
    const call = {
      key: this.account.key,
      route: `post /v1/${list.kind}`,
      idempotencyKey: randomUUID(),
      body: () => list.request(more),
    };
    const answers = await Promise.all(
      Array.from({ length: isSentTwice ? 2 : 1 }, () => this.#api.until(call)),
    );
    const ids = answers.flatMap((answer) => (answer?.status === 202 ? [batchOf(answer).id] : []));
    const [id] = ids;
    if (id === undefined || ids.some((other) => other !== id)) {
      const statuses = answers.map((answer) => answer?.status);
      this.#history.violate('a good list is accepted once', { list: list.name, ids, statuses });
      if (id === undefined) return undefined;
    }
    const run: ListRun = { list, account: this.account, id, chargedAtCancel: null };
    this.runs.push(run);
    this.#history.note('accepted', { id, list: list.name, hold, maxCredits });
    if (hold) {
      await this.#until(run, ({ state }) => state === 'ready', Date.now() + 60_000);
      await this.#act(run, 'start');
    }
    return run;
  }

  async #steer(run: ListRun, signal: AbortSignal): Promise<void> {
    const random = this.#random;
    const plan = random.pick(['', '', '', 'pause', 'pause', 'cancel', 'pause-cancel']);
    const waits = [random.between(0, 4_000), random.between(0, 3_000)];
    if (plan === '') return;
    await pause(waits[0], signal);
    if (plan.startsWith('pause')) {
      await this.#act(run, 'pause');
      await pause(waits[1], signal);
    }
    if (plan === 'pause') await this.#act(run, 'resume');
    if (plan.endsWith('cancel')) await this.#cancel(run);
  }

  async #cancel(run: ListRun): Promise<void> {
    const answer = await this.#act(run, 'cancel');
    if (answer?.status !== 202) return;
    run.chargedAtCancel = batchOf(answer).credits.charged;
  }

  /** Performs an action once, with retries; a list in a later state may refuse. */
  async #act({ id, list }: ListRun, action: string): Promise<Answer | undefined> {
    const answer = await this.#api.until({
      key: this.account.key,
      route: `post /v1/${list.kind}/{id}/${action}`,
      id,
      idempotencyKey: randomUUID(),
    });
    this.#history.note(action, { id, status: answer?.status });
    return answer;
  }

  async #waitForEnd(run: ListRun, deadline: number, signal: AbortSignal): Promise<void> {
    const isAtLimit = (batch: BatchAnswer) => batch.reason === 'max_credits';
    while (true) {
      const reached = await this.#until(
        run,
        (batch) => signal.aborted || hasEnded(batch) || isAtLimit(batch),
        deadline,
      );
      if (reached === undefined || signal.aborted || !isAtLimit(reached)) return;
      if (this.#random.chance(0.2)) return this.#cancel(run);
      if (this.#random.chance(0.8))
        await raiseLimit(this.#api, run, this.#chooseLimit(run, reached));
      else await pause(LOOK_AGAIN_MS, signal);
    }
  }

  /** A little more than now, or none. */
  #chooseLimit({ list }: ListRun, { credits }: BatchAnswer): number | null {
    const more = this.#random.between(0, Math.max(3 * list.price, Math.ceil(list.charged / 3)));
    return this.#random.chance(0.3) ? null : (credits.max ?? 0) + more;
  }

  async #until(
    { id, list }: ListRun,
    isReached: (batch: BatchAnswer) => boolean,
    deadline: number,
  ): Promise<BatchAnswer | undefined> {
    while (Date.now() < deadline) {
      const { key } = this.account;
      const answer = await this.#api.until({ key, route: `get /v1/${list.kind}/{id}`, id });
      if (answer?.status === 200 && isReached(batchOf(answer))) return batchOf(answer);
      await delay(LOOK_AGAIN_MS);
    }
    return undefined;
  }
}

/** Gives a list another limit; null for none. A list in a later state may refuse it. */
export async function raiseLimit(
  api: ApiCaller,
  { id, account }: ListRun,
  max: number | null,
): Promise<void> {
  const route = 'patch /v1/batches/{id}';
  await api.until({ key: account.key, route, id, body: () => ({ max_credits: max }) });
}

async function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
