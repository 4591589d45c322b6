/**
 * A list has the outcomes of single calls and costs what they would, whatever happens on the way: empty wallets, limits, pauses,
 * cancels, failures, a clock that is set back, repeated requests, calls beside it, and reruns of what is left.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { entityCodes } from '../../core/graph/source-entities.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import type { BatchView } from '../batch/batch-view.ts';
import { markStore } from '../batch/own-store.ts';

/** `MODEL_RUNS=500` searches longer. */
const RUNS = Number(process.env.MODEL_RUNS ?? 15);
const PEOPLE = 5;
/** An import has joined the last two of the crowd, and not built them yet. */
const [joinedId, presentId] = [1000 + PEOPLE, 999 + PEOPLE];
const endStates = ['completed', 'cancelled', 'failed'];

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '3', ACCOUNT_CHUNKS_MAX: '2' });
  // A list ends because of its file only while the store has the mark of the service.
  await markStore(pipeline.context);
  const [first, ...others] = crowd(PEOPLE);
  await importGraph(pipeline.sql, {
    persons: [{ ...first, workEmail: 'p0@list.example' }, ...others],
  });
  await pipeline.sql`
    insert into merged_ids (entity, id, into_id, import_id)
    values (${entityCodes.person}, ${joinedId}, ${presentId}, 0)`;
});
afterAll(() => pipeline.close());

/** The person of a row, by number: 0 and 1 are one, and so are the last two; later ones are unknown. */
const personOf = (row: number) =>
  row > PEOPLE ? null : row === PEOPLE ? PEOPLE - 1 : Math.max(row, 1);
const emailOf = (row: number) => `p${row}@list.example`;

const step = fc.record({
  name: fc.constantFrom(
    ...['run', 'run', 'run', 'all', 'grant', 'grant', 'cap', 'pause', 'resume', 'cancel', 'late'],
    ...['lose', 'setBack', 'damage', 'damage', 'repeat', 'call'],
  ),
  amount: fc.nat({ max: PEOPLE + 2 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const run = fc.record({
  rows: fc.array(fc.nat({ max: PEOPLE + 2 }), { minLength: 1, maxLength: 10 }),
  dedupe: fc.boolean(),
  isOwned: fc.boolean(),
  credits: fc.nat({ max: 6 }),
  cap: fc.option(fc.nat({ max: 4 })),
  rounds: fc.array(fc.array(step, { maxLength: 14 }), { minLength: 1, maxLength: 4 }),
});

/** A list that is cancelled after its first part, and so has rows for a rerun. */
const cancelled = {
  ...{ rows: [1, 2, 3, 4], dedupe: false, isOwned: false, credits: 6, cap: null },
  rounds: [(['run', 'run', 'cancel'] as const).map((name) => ({ name, amount: 0 }))],
};

let requests = 0;

class Run {
  readonly #by: Caller;
  #granted: number;
  /** The list, then its reruns. */
  readonly lists: string[] = [];
  /** Repeats the request that made the last of them. */
  #repeat: () => Promise<string | null> = async () => null;
  readonly called: number[] = [];

  constructor(by: Caller, granted: number) {
    this.#by = by;
    this.#granted = granted;
  }

  async #make(path: string, type: string, body: string): Promise<string | null> {
    const headers = { 'Content-Type': type, 'Idempotency-Key': `request ${requests++}` };
    this.#repeat = async () => {
      const response = await pipeline.call(this.#by, path, { method: 'POST', headers, body });
      return response.status === 202 ? ((await response.json()) as BatchView).id : null;
    };
    const id = await this.#repeat();
    if (id !== null) this.lists.push(id);
    return id;
  }

  async upload(rows: readonly number[], dedupe: boolean, cap: number | null): Promise<void> {
    const limit = cap === null ? {} : { max_credits: String(cap) };
    const options = { operation: 'people.enrich', fields: 'id', dedupe: String(dedupe), ...limit };
    const text = `email\n${rows.map((row) => `${emailOf(row)}\n`).join('')}`;
    must(await this.#make(`/v1/batches?${new URLSearchParams(options)}`, 'text/csv', text), 'list');
  }

  /** Reruns what is left of the last list, or of all. False when nothing is left. */
  async rerun(): Promise<boolean> {
    const body = JSON.stringify({ outcomes: ['not_processed', 'error'] });
    for (const id of new Set([this.last, must(this.lists[0], 'list')])) {
      if ((await this.#make(`/v1/batches/${id}/rerun`, 'application/json', body)) !== null)
        return true;
    }
    return false;
  }

  get last(): string {
    return must(this.lists.at(-1), 'list');
  }

  #send(method: string, path: string, body?: object) {
    const headers = { 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return pipeline.call(this.#by, `/v1/batches/${this.last}${path}`, { method, headers, ...sent });
  }

  async take({ name, amount }: Step): Promise<void> {
    const { context, queues } = pipeline;
    if (name === 'run') {
      const [next] = queues.waiting;
      if (next !== undefined) await queues.run(context, next).catch(() => {});
    }
    if (name === 'all') await pipeline.runUntilIdle(2);
    if (name === 'grant') await this.#grant(amount);
    if (name === 'cap') await this.#send('PATCH', '', { max_credits: amount });
    if (name === 'pause' || name === 'resume' || name === 'cancel')
      await this.#send('POST', `/${name}`);
    if (name === 'late') await this.#late();
    if (name === 'lose') {
      pipeline.faults.put = async () => {
        delete pipeline.faults.put;
        throw new Error('the store is away');
      };
    }
    if (name === 'setBack') {
      await pipeline.sql`
        update batches set created_at = created_at + interval '1 day' where id = ${this.last}`;
    }
    if (name === 'damage' && this.lists.length > 1) await this.#damage();
    if (name === 'repeat') expect(await this.#repeat()).toBe(this.last);
    if (name === 'call') await this.#call(amount);
  }

  async #grant(amount: number): Promise<void> {
    if (amount === 0) return;
    this.#granted += amount;
    await pipeline.grant(this.#by, amount, `grant ${requests++}`);
  }

  async #late(): Promise<void> {
    await pipeline.passAnHour();
    await pipeline.sweep();
  }

  /** Damages the text of a list, whose other rows cannot be read then: it fails. */
  async #damage(): Promise<void> {
    const [batch] = await pipeline.sql<{ canonicalKey: string | null }[]>`
      select canonical_key from batches where id = ${this.last} and not state = any(${endStates})`;
    const key = batch?.canonicalKey;
    delete pipeline.faults.put;
    if (key) await pipeline.context.store.put(key, [Buffer.from('damaged')]);
  }

  /** A call that is sent twice with one key. */
  async #call(row: number): Promise<void> {
    const headers = { 'Idempotency-Key': `request ${requests++}` };
    const path = `/v1/people/enrich?email=${emailOf(row)}`;
    const { status } = await pipeline.call(this.#by, path, { headers });
    if (status === 200) this.called.push(row);
    if (status !== 402)
      expect((await pipeline.call(this.#by, path, { headers })).status).toBe(status);
  }

  /** Runs the last list to its end. */
  async end(): Promise<void> {
    delete pipeline.faults.put;
    for (let round = 0; round < 10; round++) {
      await this.#grant(20);
      await this.#send('PATCH', '', { max_credits: null });
      await this.#send('POST', '/resume');
      await this.#late();
      await pipeline.runUntilIdle(2);
      if (endStates.includes((await pipeline.batch(this.#by, this.last)).state)) return;
    }
    throw new Error('the list does not end');
  }

  async spent(): Promise<number> {
    const wallet = must(await pipeline.wallet(this.#by), 'wallet');
    expect(wallet.reserved).toBe(0);
    return this.#granted - wallet.balance;
  }

  async rows() {
    const path = `/v1/batches/${this.lists[0]}/results?format=jsonl&reruns=true`;
    const text = await (await pipeline.call(this.#by, path)).text();
    return text
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            match: { status: string; credits: number };
            person?: { id: number };
          },
      );
  }
}

test('a list and its reruns have the outcomes of single calls, and cost as much', async () => {
  const seen = { reruns: 0 };
  const property = fc.asyncProperty(
    run,
    async ({ rows, dedupe, isOwned, credits, cap, rounds }) => {
      pipeline.queues.waiting = [];
      const by = await pipeline.unmeteredAccount(credits);
      if (isOwned) await changeOwnedDays(pipeline.sql, by.accountId, 30);
      const one = new Run(by, credits);
      await one.upload(rows, dedupe, cap);
      for (const steps of rounds) {
        for (const next of steps) await one.take(next);
        await one.end();
        if (!(await one.rerun())) break;
        seen.reruns++;
        // Its split, so that it may be bounded.
        await one.take({ name: 'run', amount: 0 });
        if (cap !== null) await one.take({ name: 'cap', amount: cap });
      }
      do await one.end();
      while (await one.rerun());

      const { total } = (await pipeline.batch(by, must(one.lists[0], 'list'))).rows;
      // A list that is cancelled before its split has no rows.
      const listed = total === null ? [] : rows;
      const found = listed.length === 0 ? [] : await one.rows();
      const before = new Set<number>();
      expect(found.map(({ match }) => match.status)).toEqual(
        listed.map((row) => {
          const person = personOf(row);
          if (person === null) return 'no_match';
          const status = dedupe && before.has(person) ? 'duplicate' : 'matched';
          before.add(person);
          return status;
        }),
      );
      const charged = found.reduce((sum, { match }) => sum + match.credits, 0);
      const people = [...listed, ...one.called].flatMap((row) => personOf(row) ?? []);
      const ofLists = listed.flatMap((row) => personOf(row) ?? []);
      const perList = dedupe ? new Set(ofLists).size : ofLists.length;
      expect(await one.spent()).toBe(isOwned ? new Set(people).size : perList + one.called.length);
      if (!isOwned) expect(charged).toBe(perList);
      expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
    },
  );
  await fc.assert(property, { numRuns: RUNS, examples: [[cancelled]] });
  // Runs without any activity would prove nothing.
  expect(seen.reruns).toBeGreaterThan(0);
});
