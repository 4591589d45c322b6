/**
 * Damages stored objects of an account's own lists during the faults: truncates them, changes one bit, removes
 * them. A list whose upload is damaged fails with `object_damaged` and keeps the rows that were paid. A result
 * with a damaged part is refused or cut off, and is complete again once the part is restored.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../src/core/lib/assert.ts';
import type { Account } from './accounts.ts';
import type { Answer, ApiCaller } from './api-caller.ts';
import { listPartRows, readObjectKeys } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import { countMatched, type ResultRow, readRows } from './check-lists.ts';
import type { History } from './history.ts';
import { type BatchAnswer, batchOf, hasEnded, type KnownList, type MoreOptions } from './lists.ts';
import type { Random } from './random.ts';

const LOOK_AGAIN_MS = 300;
/** Longer than any fault and its repair. */
const WAIT_MS_MAX = 120_000;
/** Downloads of a damaged result. Other faults end some of them. */
const DOWNLOADS = 4;
const FORMS = ['csv', 'csv-safe', 'jsonl', 'xlsx'];

type Damage = 'cut' | 'change' | 'remove';

export class DamageDriver {
  readonly #stack: ChaosStack;
  readonly #api: ApiCaller;
  readonly #history: History;
  readonly #random: Random;
  readonly #lists: readonly KnownList[];
  readonly account: Account;
  /** Counts of damaged uploads and parts. */
  readonly damaged = { uploads: 0, parts: 0 };
  /** Credits that the lists must have been charged. */
  spent = 0;

  constructor(
    stack: ChaosStack,
    api: ApiCaller,
    history: History,
    random: Random,
    account: Account,
    lists: readonly KnownList[],
  ) {
    this.#stack = stack;
    this.#api = api;
    this.#history = history;
    this.#random = random;
    this.account = account;
    this.#lists = lists.filter(({ kind, rows }) => kind === 'batches' && rows > 1);
  }

  /** Damages one object at a time until `signal` aborts. Every object is restored by then. */
  async drive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#damageUpload();
      await this.#damagePart();
    }
  }

  async #damageUpload(): Promise<void> {
    const list = this.#random.pick(this.#lists);
    const id = await this.#upload(list, { hold: true });
    await this.#until(id, ({ state }) => state === 'ready');
    const { upload } = await this.#keys(id);
    const repair = await this.#damage(upload, this.#random.pick(['cut', 'change']));
    this.damaged.uploads += 1;
    await this.#api.until({ ...this.#call(id), route: 'post /v1/batches/{id}/start' });
    const batch = await this.#until(id, hasEnded);
    const wrong = (rule: string, about: object = {}) =>
      this.#history.violate(rule, { id, list: list.name, upload, ...about });
    const { error } = batch as BatchAnswer & { error?: { code: string; object?: string } | null };
    if (batch.state !== 'failed' || error?.code !== 'object_damaged' || error.object !== upload) {
      wrong('a list whose upload is damaged fails and names it', { batch });
    }
    const answer = await this.#get(id, 'results', {});
    const parts = await this.#stack.ask((sql) => listPartRows(sql, id));
    const [header, ...good] = readRows(list.result);
    const paid = parts.flatMap((part) =>
      good.slice(part.firstRow - 1, part.firstRow - 1 + part.rows),
    );
    const found = readRows(answer.bytes);
    if (textOf(found) !== textOf([must(header, 'header'), ...paid])) {
      wrong('a failed list holds its parts as undisturbed', { found: found.length, parts });
    }
    if (answer.headers.get('X-Result-Complete') !== 'false') wrong('a failed list is not complete');
    const matched = countMatched(found);
    if (matched * list.price !== batch.credits.charged || batch.credits.reserved !== 0) {
      wrong('a failed list is charged for the rows it holds', { matched, ...batch.credits });
    }
    this.spent += matched * list.price;
    await repair();
  }

  async #damagePart(): Promise<void> {
    const list = this.#random.pick(this.#lists);
    const id = await this.#upload(list, {});
    const { state } = await this.#until(id, hasEnded);
    if (state !== 'completed') this.#history.violate('a good list does not fail', { id, state });
    this.spent += list.charged;
    const part = this.#random.pick((await this.#keys(id)).parts);
    const repair = await this.#damage(part, this.#random.pick(['cut', 'change', 'remove']));
    this.damaged.parts += 1;
    const codes: unknown[] = [];
    for (let download = 0; download < DOWNLOADS; download++) {
      const format = this.#random.pick(FORMS);
      const gzip = this.#random.pick(['true', 'false']);
      const query = { format, gzip };
      const route = 'get /v1/batches/{id}/results';
      const answer = await this.#api.try({ ...this.#call(id), route, query });
      codes.push(answer?.json?.code ?? null);
      if (answer?.status !== 200) continue;
      this.#history.violate('a result with a damaged part is never complete', {
        id,
        part,
        ...query,
      });
    }
    this.#history.note('refused', { id, part, codes });
    await repair();
    const { bytes } = await this.#get(id, 'results', {});
    if (bytes.equals(list.result)) return;
    this.#history.violate('a part that is put back is given', { id, part });
  }

  /** Damages the object and returns a function that restores it. */
  async #damage(key: string, damage: Damage): Promise<() => Promise<void>> {
    const { store } = this.#stack;
    const whole = await again(async () =>
      store.get(key, { from: 0, to: must(await store.head(key), key) }),
    );
    const bytes = Buffer.from(whole);
    // Cutting the last row leaves a well-formed list that is one row shorter; its line end is never changed.
    const lastRow = bytes.lastIndexOf('\n', -2) + 1;
    const at = this.#random.between(lastRow, bytes.length - 2);
    bytes[at] = must(bytes[at], 'a byte') ^ 1;
    this.#history.tell('damage', { key, damage });
    if (damage === 'remove') await again(() => store.delete(key));
    else await again(() => store.put(key, [damage === 'cut' ? whole.subarray(0, lastRow) : bytes]));
    return async () => void (await again(() => store.put(key, [whole])));
  }

  async #upload(list: KnownList, more: MoreOptions): Promise<string> {
    const answer = await this.#api.until({
      key: this.account.key,
      route: 'post /v1/batches',
      idempotencyKey: randomUUID(),
      body: () => list.request(more),
    });
    return batchOf(answer).id;
  }

  async #until(id: string, isReached: (batch: BatchAnswer) => boolean): Promise<BatchAnswer> {
    const deadline = Date.now() + WAIT_MS_MAX;
    while (true) {
      const route = 'get /v1/batches/{id}';
      const batch = batchOf(await this.#api.until({ ...this.#call(id), route }));
      if (isReached(batch)) return batch;
      if (Date.now() > deadline) throw new Error(`list ${id} stays ${batch.state}`);
      await delay(LOOK_AGAIN_MS);
    }
  }

  async #get(id: string, what: string, query: Record<string, string>): Promise<Answer> {
    const route = `get /v1/batches/{id}/${what}`;
    return must(await this.#api.until({ ...this.#call(id), route, query }), 'an answer');
  }

  #keys(id: string) {
    return this.#stack.ask((sql) => readObjectKeys(sql, id));
  }

  #call(id: string): { key: string; id: string } {
    return { key: this.account.key, id };
  }
}

/** Retries while the storage is full or unavailable. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + WAIT_MS_MAX;
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(LOOK_AGAIN_MS);
    }
  }
}

function textOf(rows: readonly ResultRow[]): string {
  return rows.map(({ raw }) => raw).join('\n');
}
