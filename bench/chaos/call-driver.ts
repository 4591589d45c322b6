/** Single calls, with and without an Idempotency-Key, and their expected results. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { must } from '../../src/core/lib/assert.ts';
import { operations } from '../../src/core/operations.ts';
import type { Account } from './accounts.ts';
import type { Answer, ApiCaller, Call } from './api-caller.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';

const operationNames = ['people.enrich', 'people.mobile', 'people.email-verify'] as const;

/** A call, and its response without faults. */
export interface KnownCall {
  route: string;
  query: Record<string, string>;
  price: number;
  status: number;
  data: unknown;
  operation: (typeof operationNames)[number];
  /** The person of the address; null for an unknown one. */
  person: number | null;
}

/** Calls each operation for each address once, without faults. */
export async function knowCalls(
  api: ApiCaller,
  key: string,
  emails: readonly string[],
): Promise<KnownCall[]> {
  const known: KnownCall[] = [];
  const people = new Map<string, number>();
  // The first operation returns the record with its id.
  for (const name of operationNames) {
    const { path, price } = operations[name];
    for (const email of emails) {
      const call = { route: `get ${path}`, query: { email } };
      const { status, json } = must(await api.until({ key, ...call }), 'an answer');
      const data = json?.data as { id?: number } | undefined;
      if (name === 'people.enrich' && data?.id !== undefined) people.set(email, data.id);
      const person = people.get(email) ?? null;
      known.push({ ...call, price, status, data, operation: name, person });
    }
  }
  return known;
}

export class CallDriver {
  readonly account: Account;
  readonly hasKeys: boolean;
  /** The account owns the people that it has paid for. */
  readonly paysOnce: boolean;
  /** Request ids of responses with a match: each must be charged once. */
  readonly matched = new Map<string, number>();
  /** The calls that these answered. */
  readonly delivered: KnownCall[] = [];
  /** Calls that may have been charged without a response: only those without an Idempotency-Key. */
  unknown = 0;
  calls = 0;
  readonly #api: ApiCaller;
  readonly #history: History;
  readonly #random: Random;
  readonly #known: readonly KnownCall[];

  constructor(
    api: ApiCaller,
    history: History,
    random: Random,
    account: Account,
    known: readonly KnownCall[],
    hasKeys: boolean,
    paysOnce = false,
  ) {
    this.#api = api;
    this.#history = history;
    this.#random = random;
    this.account = account;
    this.#known = known;
    this.hasKeys = hasKeys;
    this.paysOnce = paysOnce;
  }

  async drive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const known = this.#random.pick(this.#known);
      const waitMs = this.#random.between(5, 60);
      await (this.hasKeys ? this.#callOnce(known) : this.#call(known));
      await delay(waitMs);
    }
  }

  /** Without an Idempotency-Key: one attempt, whose outcome is unknown without a response. */
  async #call(known: KnownCall): Promise<void> {
    this.calls += 1;
    const answer = await this.#api.try(this.#toCall(known));
    if (answer === undefined || answer.status === 503) {
      if (known.status === 200) this.unknown += 1;
      return;
    }
    if (answer.status !== 429) this.#check(known, answer);
  }

  /**
   * With an Idempotency-Key: sent until there is a response, occasionally twice concurrently or once more
   * afterwards.
   */
  async #callOnce(known: KnownCall): Promise<void> {
    this.calls += 1;
    const call = { ...this.#toCall(known), idempotencyKey: randomUUID() };
    const times = this.#random.between(1, 2);
    const sendsAgain = this.#random.chance(0.3);
    const answers = await Promise.all(Array.from({ length: times }, () => this.#api.until(call)));
    if (sendsAgain) answers.push(await this.#api.until(call));
    const [first] = answers;
    if (first === undefined) return;
    this.#check(known, first);
    for (const answer of answers) {
      if (isDeepStrictEqual(answer?.json, first.json)) continue;
      const bodies = [first.json, answer?.json];
      this.#history.violate('a key has one answer', { query: known.query, bodies });
    }
  }

  #toCall({ route, query }: KnownCall): Call {
    return { key: this.account.key, route, query };
  }

  #check(known: KnownCall, { status, json }: Answer): void {
    if (status !== known.status || !isDeepStrictEqual(json?.data, known.data)) {
      const { route, query } = known;
      this.#history.violate('a call has its answer', { route, query, status, json });
    }
    if (status !== 200) return;
    const { meta } = json as { meta: { request_id: string; credits_charged: number } };
    this.matched.set(meta.request_id, known.price);
    this.delivered.push(known);
    const isFree = this.paysOnce && meta.credits_charged === 0;
    if (meta.credits_charged !== known.price && !isFree) {
      this.#history.violate('a match says its price', { known, meta });
    }
  }
}
