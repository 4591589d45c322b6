/**
 * `npm run drill:failover`: lists and calls run on a primary with a standby, of Postgres or of a Redis Cluster. Again and again
 * the primary is killed or frozen, the standby promoted, the old primary brought back and made the new standby. Then every
 * accepted list and call must be there, right, and charged once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../src/core/lib/assert.ts';
import { openAccount } from '../chaos/accounts.ts';
import { ApiCaller } from '../chaos/api-caller.ts';
import { listEmails } from '../chaos/chaos.sql.ts';
import { type ChaosStack, openChaosStack } from '../chaos/chaos-stack.ts';
import type { History } from '../chaos/history.ts';
import type { ListRun } from '../chaos/list-driver.ts';
import { batchOf } from '../chaos/lists.ts';
import type { Random } from '../chaos/random.ts';
import { type Begun, runTrial } from '../chaos/round.ts';
import { checkAnswers, runDrill } from '../chaos/run-drill.ts';
import { parseOptions } from '../parse-options.ts';
import { LosingPostgres } from './losing-postgres.ts';
import { LosingRedis } from './losing-redis.ts';
import type { LosingServers } from './losing-servers.ts';

/** The servers that the drill loses, each with the mutants that have to turn it red. */
const servers = {
  postgres: { Losing: LosingPostgres, mutants: ['asynchronous', 'first-server'] },
  redis: { Losing: LosingRedis, mutants: ['no-replicas'] },
} as const;
type Server = keyof typeof servers;

const SIZE = { apis: 2, workers: 2 };
const CREDITS = 1_000_000;
/** Maximum time from the promotion to the next charged call on every API, and to the next committed chunk. */
const MOVE_SECONDS_MAX = 10;
const GIVE_UP_MS = 60_000;
const LOOK_AGAIN_MS = 100;
/** Statements that were sent to the old primary before it was frozen run when it resumes. */
const SETTLE_MS = 1_500;

interface Options {
  seed: number;
  minutes: number;
  server: Server;
  mutant: string | null;
}

interface Result {
  seed: number;
  promotions: number;
  lists: number;
  rows: number;
  calls: number;
  call_seconds_max: number;
  chunk_seconds_max: number;
  violations: number;
}

function usage(): string {
  const named = Object.entries(servers).map(
    ([name, of]) => `[--server ${name} [--mutant ${of.mutants.join('|')}]]`,
  );
  return `usage: npm run drill:failover -- [--seed N] [--minutes M] ${named.join(' | ')}`;
}

const options = {
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  minutes: { type: 'string', default: '3' },
  server: { type: 'string', default: 'postgres' },
  mutant: { type: 'string' },
} as const;

function readOptions(): Options {
  return parseOptions(usage(), { options }, ({ values }) => {
    const seed = Number(values.seed);
    const minutes = Number(values.minutes);
    const server = (Object.keys(servers) as Server[]).find((one) => one === values.server);
    const mutants: readonly string[] = server === undefined ? [] : servers[server].mutants;
    const mutant = mutants.find((one) => one === values.mutant) ?? null;
    const isKnown = values.mutant === undefined || mutant !== null;
    if (!Number.isSafeInteger(seed) || !(minutes > 0) || !isKnown) return null;
    return server === undefined ? null : { seed, minutes, server, mutant };
  });
}

async function failOverAgainAndAgain(
  { seed, minutes, server, mutant }: Options,
  history: History,
): Promise<Result> {
  const losing = new servers[server].Losing(mutant);
  await using stack = await openChaosStack(losing.backend, SIZE, history, losing.parts);
  const drill = new Drill(stack, losing, history);
  const { runs, calls, answers } = await runTrial(stack, history, {
    seed,
    damagesObjects: false,
    weaken: () => Promise.resolve(),
    begin: (begun) => drill.begin(begun),
    async disturb(random) {
      const faults = random.fork('failovers');
      const until = Date.now() + minutes * 60_000;
      do await drill.failOver(faults);
      while (Date.now() < until);
    },
  });
  checkAnswers(history, answers);
  await stack.stop();
  if (stack.crashes() > 0) history.violate('no process ends', { crashes: stack.crashes() });
  return {
    seed,
    promotions: drill.promotions,
    lists: runs.length,
    rows: runs.reduce((sum, { list }) => sum + list.rows, 0),
    calls,
    call_seconds_max: drill.callSecondsMax,
    chunk_seconds_max: drill.chunkSecondsMax,
    violations: history.violations.length,
  };
}

class Drill {
  readonly #stack: ChaosStack;
  readonly #servers: LosingServers;
  readonly #history: History;
  #begun: Begun | null = null;
  /** The lists that were uploaded right after a promotion: checked with all others. */
  readonly #runs: ListRun[] = [];
  /** A caller for each API, with a call that costs credits. */
  #callers: (() => Promise<boolean>)[] = [];
  /** The list of the last promotion, until it is accepted. */
  #upload: Promise<void> = Promise.resolve();
  promotions = 0;
  callSecondsMax = 0;
  chunkSecondsMax = 0;

  constructor(stack: ChaosStack, losing: LosingServers, history: History) {
    this.#stack = stack;
    this.#servers = losing;
    this.#history = history;
  }

  async begin(begun: Begun): Promise<ListRun[]> {
    this.#begun = begun;
    const { key } = await openAccount(this.#stack, 'mover', CREDITS);
    const [email = ''] = await this.#stack.ask((sql) => listEmails(sql, 1));
    const call = { key, route: 'get /v1/people/enrich', query: { email } };
    this.#callers = this.#stack.urls.map((url) => {
      const api = new ApiCaller([url], this.#history, begun.random);
      return async () => (await api.try(call))?.status === 200;
    });
    return this.#runs;
  }

  /** Loses the primary, has the standby promoted, and makes the old primary the new standby. */
  async failOver(random: Random): Promise<void> {
    const servers = this.#servers;
    await delay(random.between(500, 4_000));
    const how = await servers.fail(random, this.#history);
    this.promotions += 1;
    const [callSeconds, chunkSeconds] = await Promise.all([
      this.#measure(() => this.#callsSucceed(), 'calls'),
      this.#measure(await this.#chunkCommits(), 'chunks'),
    ]);
    this.callSecondsMax = Math.max(this.callSecondsMax, callSeconds);
    this.chunkSecondsMax = Math.max(this.chunkSecondsMax, chunkSeconds);
    this.#history.tell('promotion', { ...how, callSeconds, chunkSeconds });

    await servers.returnOld();
    // One that starts now sees both.
    const started = random.pick(this.#stack.workers);
    started.signal('SIGKILL');
    await delay(SETTLE_MS);
    await servers.follow(this.#history);
    await this.#upload;
    // One that starts without a primary ends, and is started again by its manager: that is no part of this drill.
    while (!started.isReady) await delay(LOOK_AGAIN_MS);
    // It still connects to its queue.
    await delay(SETTLE_MS);
  }

  /** Seconds from now until it is so; a violation when they are too many. */
  async #measure(isSo: () => Promise<boolean>, moves: string): Promise<number> {
    const started = performance.now();
    const passedMs = () => performance.now() - started;
    while (!(await isSo()) && passedMs() < GIVE_UP_MS) await delay(LOOK_AGAIN_MS);
    const seconds = Math.round(passedMs()) / 1_000;
    if (seconds > MOVE_SECONDS_MAX) {
      this.#history.violate(`${moves} move within 10 s of the promotion`, { seconds });
    }
    return seconds;
  }

  async #callsSucceed(): Promise<boolean> {
    const answers = await Promise.all(this.#callers.map((call) => call()));
    return answers.every((isAccepted) => isAccepted);
  }

  /** Uploads a list, and returns a function that says whether a chunk was committed since. */
  async #chunkCommits(): Promise<() => Promise<boolean>> {
    const { api, account, lists } = must(this.#begun, 'a round');
    const list = must(lists.toSorted((a, b) => b.rows - a.rows)[0], 'a list');
    const count = () =>
      this.#stack.ask(async (sql) => {
        const [row] = await sql<{ parts: number }[]>`select count(*)::int as parts from parts`;
        return row?.parts ?? 0;
      });
    const before = await count();
    this.#upload = api
      .until({
        key: account.key,
        route: `post /v1/${list.kind}`,
        idempotencyKey: `promotion ${this.promotions}`,
        body: () => list.request({}),
      })
      .then((accepted) => {
        const { id } = batchOf(accepted);
        this.#runs.push({ list, account, id, chargedAtCancel: null });
      });
    return async () => (await count()) > before;
  }
}

await runDrill('failover', readOptions, failOverAgainAndAgain);
