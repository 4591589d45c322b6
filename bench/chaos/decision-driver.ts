/**
 * Decides ambiguous rows of likely matches as people do: one click, two of them, another choice later, a file. A row must be
 * decided once and a record charged once, whatever is sent again; `checkDecisions` predicts every charge.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../src/core/lib/assert.ts';
import type { Account } from './accounts.ts';
import type { Answer, ApiCaller } from './api-caller.ts';
import { readRows } from './check-lists.ts';
import { idAt } from './check-owner.ts';
import type { History } from './history.ts';
import type { ListRun } from './list-driver.ts';
import { batchOf, hasEnded, type KnownList } from './lists.ts';
import type { Random } from './random.ts';

const LOOK_AGAIN_MS = 300;
/** Longer than any fault and its repair. */
const WAIT_MS_MAX = 120_000;
/** Requests about one list. */
const ROUNDS_MAX = 6;
/** Requests of a round that ends at once. */
const DECIDED_MIN = 3;
const LISTS_MAX = 200;

/** The record that a row means; null for none of its candidates. */
interface RowDecision {
  row: number;
  id: number | null;
}

/** An accepted request: the list that it decided rows of, and the batch of these rows. */
interface Decided {
  of: ListRun;
  run: ListRun;
  decisions: readonly RowDecision[];
}

interface AmbiguousRow {
  row: number;
  candidates: { id: number }[];
}

export class DecisionDriver {
  readonly #api: ApiCaller;
  readonly #history: History;
  readonly #random: Random;
  readonly #list: KnownList;
  readonly account: Account;
  /** The uploaded lists; each is charged as undisturbed. */
  readonly lists: ListRun[] = [];
  readonly decided: Decided[] = [];

  constructor(api: ApiCaller, history: History, random: Random, account: Account, list: KnownList) {
    this.#api = api;
    this.#history = history;
    this.#random = random;
    this.account = account;
    this.#list = list;
  }

  /** One list after the other until stopped, with some decisions about each. A round of any length has some. */
  async drive(signal: AbortSignal): Promise<void> {
    const isOver = () => signal.aborted && this.decided.length >= DECIDED_MIN;
    for (let lists = 0; !isOver() && lists < LISTS_MAX; lists++) {
      const run = await this.#upload();
      if (run === undefined || !(await this.#hasEnded(run, isOver))) continue;
      for (let round = 0; round < ROUNDS_MAX && !isOver(); round++) {
        if (!(await this.#decideSome(run, isOver))) break;
      }
    }
  }

  async #upload(): Promise<ListRun | undefined> {
    const answer = await this.#api.until({
      key: this.account.key,
      route: 'post /v1/batches',
      idempotencyKey: randomUUID(),
      body: () => this.#list.request({}),
    });
    if (answer?.status !== 202) {
      this.#history.violate('a good list is accepted once', { status: answer?.status });
      return undefined;
    }
    const run = this.#runOf(answer);
    this.lists.push(run);
    return run;
  }

  /** Decides some of the rows that are left. Returns false when none is, or the decided rows have not ended in time. */
  async #decideSome(of: ListRun, isOver: () => boolean): Promise<boolean> {
    const random = this.#random;
    const { key } = this.account;
    const answer = await this.#api.until({
      key,
      route: 'get /v1/batches/{id}/ambiguous',
      id: of.id,
    });
    const open = (answer?.json?.data ?? []) as AmbiguousRow[];
    const taken = new Set(this.#rowsOf(of));
    for (const { row } of open.filter((one) => taken.has(one.row))) {
      this.#history.violate('a decided row is ambiguous no more', { id: of.id, row });
    }
    if (open.length === 0) return false;
    const first = random.between(0, open.length - 1);
    const rows = open.slice(first, first + random.between(1, 4));
    const decisions = rows.map(({ row, candidates }): RowDecision => {
      return { row, id: random.chance(0.2) ? null : random.pick(candidates).id };
    });
    // The first one of a round of any length is sent twice.
    const isFirst = this.decided.length === 0;
    const clicks = isFirst ? 'twice' : random.pick(['once', 'twice', 'with one key']);
    await this.#click(of, decisions, clicks);
    const last = this.decided.at(-1);
    if (last?.of !== of || !(await this.#hasEnded(last.run, isOver))) return false;
    // As from a page that was not loaded again.
    if (isFirst || random.chance(0.5)) await this.#click(of, decisions, 'again');
    return true;
  }

  /** Sends decisions, all at once when several times. At most one of the requests may decide the rows. */
  async #click(of: ListRun, decisions: readonly RowDecision[], clicks: string): Promise<void> {
    const asFile = this.#random.chance(0.3);
    const lines = decisions.map(({ row, id }) => `${row},${id ?? 'none'}`);
    const send = (idempotencyKey: string) =>
      this.#api.until({
        key: this.account.key,
        route: 'post /v1/batches/{id}/decisions',
        id: of.id,
        idempotencyKey,
        body: () => (asFile ? ['row,id', ...lines, ''].join('\n') : { decisions }),
      });
    const keys = [randomUUID(), randomUUID()];
    if (clicks === 'once' || clicks === 'again') keys.pop();
    if (clicks === 'with one key') keys[1] = must(keys[0], 'a key');
    const answers = await Promise.all(keys.map(send));
    const accepted = new Map<string, Answer>();
    for (const answer of answers) {
      if (answer?.status === 202) accepted.set(batchOf(answer).id, answer);
      else if (answer?.status !== 409) {
        const about = { id: of.id, decisions, status: answer?.status };
        this.#history.violate('a decision is accepted, or made already', about);
      }
    }
    const wanted = clicks === 'again' ? 0 : 1;
    if (accepted.size !== wanted) {
      const about = { id: of.id, decisions, clicks, accepted: [...accepted.keys()] };
      this.#history.violate('a row is decided once', about);
    }
    for (const answer of accepted.values()) {
      this.decided.push({ of, run: this.#runOf(answer), decisions });
    }
    this.#history.note('decided', { id: of.id, decisions, clicks, accepted: accepted.size });
  }

  #rowsOf(list: ListRun): number[] {
    const own = this.decided.filter(({ of }) => of === list);
    return own.flatMap(({ decisions }) => decisions.map(({ row }) => row));
  }

  #runOf(answer: Answer): ListRun {
    const { id } = batchOf(answer);
    return { list: this.#list, account: this.account, id, chargedAtCancel: null };
  }

  async #hasEnded({ id }: ListRun, isOver: () => boolean): Promise<boolean> {
    const deadline = Date.now() + WAIT_MS_MAX;
    while (Date.now() < deadline && !isOver()) {
      const { key } = this.account;
      const answer = await this.#api.until({ key, route: 'get /v1/batches/{id}', id });
      if (answer?.status === 200 && hasEnded(batchOf(answer))) return true;
      await delay(LOOK_AGAIN_MS);
    }
    return false;
  }
}

/**
 * Checks every decision: its row has the chosen record, or none, in the merged list, and was charged once. Returns the credits
 * that all of them must have cost.
 */
export async function checkDecisions(
  api: ApiCaller,
  history: History,
  driver: DecisionDriver,
): Promise<number> {
  const { key } = driver.account;
  let spent = 0;
  const known = new Set<string>();
  for (const { of, run, decisions } of driver.decided) {
    const { id, list } = run;
    const batch = batchOf(await api.until({ key, route: 'get /v1/batches/{id}', id }));
    // Of a row that was decided already nothing more is charged.
    const first = decisions.filter(({ row }) => !known.has(`${of.id} ${row}`));
    for (const { row } of first) known.add(`${of.id} ${row}`);
    const expected = first.filter((one) => one.id !== null).length * list.price;
    spent += expected;
    if (batch.state !== 'completed' || batch.credits.charged !== expected) {
      const about = { id, of: of.id, decisions, expected, state: batch.state, ...batch.credits };
      history.violate('a decision is charged once, and only when it chose a record', about);
    }
  }
  for (const list of driver.lists) {
    const own = driver.decided.filter(({ of }) => of === list);
    if (own.length > 0) await checkMerged(api, history, list, own);
  }
  const records = driver.decided.flatMap(({ decisions }) => decisions.map(({ id }) => id));
  history.tell('decided', {
    lists: driver.lists.length,
    requests: driver.decided.length,
    records: records.filter((id) => id !== null).length,
    none: records.filter((id) => id === null).length,
    spent,
  });
  if (spent === 0) history.violate('a round has decisions', { lists: driver.lists.length });
  return spent;
}

async function checkMerged(
  api: ApiCaller,
  history: History,
  { id, account: { key }, list }: ListRun,
  decided: readonly Decided[],
): Promise<void> {
  const route = 'get /v1/batches/{id}/results';
  const answer = must(await api.until({ key, route, id, query: { reruns: 'true' } }), 'a result');
  const [header, ...rows] = readRows(answer.bytes);
  const columns = must(header, 'a header').cells;
  const creditsAt = columns.indexOf('match.credits');
  const told = [columns.indexOf('match.status'), columns.indexOf('match.by'), creditsAt];
  let charged = list.charged;
  for (const { row, id: chosen } of decided.flatMap(({ decisions }) => decisions)) {
    const found = [...told, idAt(header)].map((at) => rows[row - 1]?.cells[at]);
    const good =
      chosen === null
        ? ['no_match', 'decision', '0', '']
        : ['matched', 'decision', String(list.price), String(chosen)];
    if (chosen !== null) charged += list.price;
    if (found.join() === good.join()) continue;
    history.violate('a decided row has the chosen record', { id, row, expected: good, found });
  }
  const sum = rows.reduce((all, { cells }) => all + Number(cells[creditsAt]), 0);
  if (sum !== charged) {
    history.violate('the rows of a merged list say what was charged', { id, charged, sum });
  }
}
