/**
 * One round: the lists and calls once undisturbed, then the same under faults, then everything must be correct.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../src/core/lib/assert.ts';
import { type Account, driveTopUps, openAccount, topUp } from './accounts.ts';
import { ApiCaller } from './api-caller.ts';
import { CallDriver, knowCalls } from './call-driver.ts';
import { countCallsFromCopy, listEmails, mutations } from './chaos.sql.ts';
import { type Backend, type ChaosStack, openChaosStack } from './chaos-stack.ts';
import { checkDatabase, LedgerWatch } from './check-database.ts';
import { checkList } from './check-lists.ts';
import { checkBatches, checkCalls, checkWallets } from './check-money.ts';
import { checkOwner, ownableLists } from './check-owner.ts';
import { CopyDriver } from './copy-driver.ts';
import { DamageDriver } from './damage-driver.ts';
import { checkDecisions, DecisionDriver } from './decision-driver.ts';
import { tryForbiddenWrites } from './forbidden-writes.ts';
import type { History } from './history.ts';
import type { Drain } from './kept-process.ts';
import { ListDriver, type ListRun, raiseLimit } from './list-driver.ts';
import {
  batchOf,
  hasEnded,
  type KnownList,
  LIKELY_LIST,
  makeLists,
  runUndisturbed,
} from './lists.ts';
import { countRefusedParts } from './logs.ts';
import { addNamesakes } from './namesakes.ts';
import { Nemesis } from './nemesis.ts';
import { NoisyDriver } from './noisy-driver.ts';
import { planFaults } from './plan-faults.ts';
import { Random } from './random.ts';
import { measureRecovery } from './recovery.ts';

export type Mutant = keyof typeof mutations;

export interface RoundOptions {
  seed: number;
  minutes: number;
  backend: Backend;
  /** A defence that is switched off in the database. */
  mutant: Mutant | null;
}

export interface RoundResult {
  seed: number;
  faults: number;
  files: number;
  rows: number;
  violations: number;
}

const SIZE = { apis: 2, workers: 3 };
const PLENTY = 10_000_000;
/** Maximum time from the last fault to the end of every accepted list. */
const END_MS_MAX = 120_000;
const LOOK_AGAIN_MS = 500;
const EMAILS = 40;
/** A process that shuts down has 30 s for its work in hand, and then exits. */
const DRAIN_SECONDS_MAX = 31;

interface Drivers {
  lists: ListDriver[];
  calls: CallDriver[];
  noisy: NoisyDriver;
  damage: DamageDriver;
  decisions: DecisionDriver;
  copy: CopyDriver;
  poor: Account;
  /** Drivers of an account that pays for each person once. */
  owner: { lists: ListDriver[]; calls: CallDriver };
}

/** A way to disturb the service while lists and calls run on it. */
export interface Trial {
  seed: number;
  /**
   * Stored objects of one account are damaged meanwhile, so that its downloads break off, and a local copy of the graph that
   * lists are matched from.
   */
  damagesObjects: boolean;
  /** Defences to switch off before anything is disturbed. */
  weaken(): Promise<void>;
  /** Called before there is other load. The lists that it returns, and adds until the end, are checked with all others. */
  begin(round: Begun): Promise<readonly ListRun[]>;
  /** Resolves when every fault is repaired. */
  disturb(random: Random): Promise<void>;
}

/** A round whose lists and calls are known. */
export interface Begun {
  api: ApiCaller;
  random: Random;
  /** An account that can pay for everything. */
  account: Account;
  lists: readonly KnownList[];
}

export async function runRound(options: RoundOptions, history: History): Promise<RoundResult> {
  const { seed, minutes, backend, mutant } = options;
  await using stack = await openChaosStack(backend, SIZE, history);
  const nemesis = new Nemesis(stack, history);
  const { runs } = await runTrial(stack, history, {
    seed,
    damagesObjects: true,
    async weaken() {
      if (mutant === null) return;
      await stack.ask(async (sql) => void (await mutations[mutant](sql)));
      // Without a defence lists may never end, and the last checks never come.
      await tryForbiddenWrites(stack, history);
    },
    async begin({ api, account, lists }) {
      const recovery = await measureRecovery(stack, api, history, account, lists);
      history.tell('recovery', { seconds: recovery.seconds });
      return recovery.runs;
    },
    async disturb(random) {
      const faulty = {
        ...SIZE,
        lines: Object.keys(stack.proxies),
        hasRedis: stack.restartRedis !== null,
        canFillStorage: stack.fillStorage !== null,
      };
      const plan = planFaults(random.fork('faults'), faulty, minutes * 60_000);
      history.note('plan', { plan });
      await nemesis.run(plan, minutes * 60_000);
    },
  });
  const lastDrains = await stack.stop();
  checkDrains(history, nemesis.drains, lastDrains);
  history.tell('end', {
    crashes: stack.crashes(),
    partsRefused: await countRefusedParts(stack.workers),
    drainSecondsMax: Math.max(...[...nemesis.drains, ...lastDrains].map(({ seconds }) => seconds)),
  });
  const rows = runs.reduce((sum, { list }) => sum + list.rows, 0);
  const violations = history.violations.length;
  return { seed, faults: nemesis.faults, files: runs.length, rows, violations };
}

/**
 * Runs lists and calls once undisturbed, then disturbed, and checks every promise when nothing is in flight. The
 * processes still run afterwards.
 */
export async function runTrial(
  stack: ChaosStack,
  history: History,
  trial: Trial,
): Promise<{ runs: ListRun[]; calls: number; answers: ApiCaller['counts'] }> {
  const random = new Random(trial.seed);
  const api = new ApiCaller(stack.urls, history, random.fork('api'));
  const { lists, calls } = await learn(stack, api, history);
  await trial.weaken();
  const drivers = await openDrivers(stack, api, history, random, lists, calls);
  const { account } = must(drivers.lists[0], 'a driver');
  const first = await trial.begin({ api, random: random.fork('begin'), account, lists });
  const ledger = new LedgerWatch();
  await drive({ stack, history, random, drivers, ledger }, trial);
  await topUp(stack, drivers.poor, PLENTY, 1);
  const tenants = [...drivers.lists, ...drivers.owner.lists, drivers.noisy];
  const listRuns = [
    ...first,
    ...tenants.flatMap((driver) => driver.runs),
    ...drivers.decisions.lists,
  ];
  const runs = [...listRuns, ...drivers.decisions.decided.map(({ run }) => run)];
  // At one row a minute its lists would take hours.
  await drivers.noisy.cancelAll();
  const lastListSeconds = await waitForEnds(api, history, runs);
  await checkAll(stack, api, history, { drivers, runs: listRuns, ledger });
  history.tell('checked', {
    lists: runs.length,
    calls: drivers.calls.map(({ calls, matched, unknown }) => [calls, matched.size, unknown]),
    damaged: drivers.damage.damaged,
    copyHarmed: drivers.copy.harmed,
    callsFromCopy: await stack.ask(countCallsFromCopy),
    answers: api.counts,
    lastListSeconds,
  });
  const called = drivers.calls.reduce((sum, { calls }) => sum + calls, 0);
  return { runs, calls: called, answers: api.counts };
}

interface Disturbed {
  stack: ChaosStack;
  history: History;
  random: Random;
  drivers: Drivers;
  ledger: LedgerWatch;
}

/** Runs lists, calls and top-ups for as long as the trial disturbs; resolves when everything is repaired. */
async function drive(round: Disturbed, trial: Trial): Promise<void> {
  const { stack, history, random, drivers, ledger } = round;
  const ending = new AbortController();
  const driving = [
    ...[
      ...[...drivers.lists, ...drivers.calls, drivers.noisy, drivers.decisions],
      ...(trial.damagesObjects ? [drivers.damage, drivers.copy] : []),
      ...[...drivers.owner.lists, drivers.owner.calls],
    ].map((driver) => driver.drive(ending.signal)),
    driveTopUps(stack, drivers.poor, random.fork('top-ups'), history, ending.signal),
    watch(stack, ledger, history, ending.signal),
  ];
  try {
    await trial.disturb(random);
  } finally {
    ending.abort();
  }
  await Promise.all(driving);
}

/** Checks results, calls, wallets and the whole database when nothing is in flight. */
async function checkAll(
  stack: ChaosStack,
  api: ApiCaller,
  history: History,
  done: { drivers: Drivers; runs: ListRun[]; ledger: LedgerWatch },
): Promise<void> {
  const { drivers, runs, ledger } = done;
  const spent = new Map([drivers.damage, drivers.copy].map((one) => [one.account, one.spent]));
  const { owner } = drivers;
  const isOwners = ({ account }: ListRun) => account === owner.calls.account;
  for (const run of runs.filter((one) => !isOwners(one))) {
    const charged = await checkList(stack, api, history, run);
    spent.set(run.account, (spent.get(run.account) ?? 0) + charged);
  }
  spent.set(
    owner.calls.account,
    await checkOwner(api, history, runs.filter(isOwners), owner.calls),
  );
  const { decisions } = drivers;
  const decided = await checkDecisions(api, history, decisions);
  spent.set(decisions.account, (spent.get(decisions.account) ?? 0) + decided);
  const lines = await ledger.look(stack, history);
  for (const made of [...drivers.calls, drivers.copy.calls]) checkCalls(history, made, lines);
  await checkBatches(stack, history, [...runs, ...decisions.decided.map(({ run }) => run)]);
  await checkWallets(stack, history, spent);
  await checkDatabase(stack, history);
  for (const { name, violations } of await stack.audit()) {
    if (violations > 0) history.violate(`audit --deep: ${name}`, { violations });
  }
  await tryForbiddenWrites(stack, history);
}

/** A process that is told to shut down does so in time, and cleanly if there is no other fault. */
function checkDrains(history: History, amidFaults: readonly Drain[], last: readonly Drain[]): void {
  const late = [...amidFaults, ...last].filter(({ seconds }) => seconds > DRAIN_SECONDS_MAX);
  for (const drain of late) history.violate('a process ends within 30 s of being told', drain);
  for (const drain of last.filter(({ code }) => code !== 0)) {
    history.violate('a process that is told to end says that it went well', drain);
  }
}

/** The results of lists and calls without faults. */
async function learn(stack: ChaosStack, api: ApiCaller, history: History) {
  const teacher = await openAccount(stack, 'teacher', PLENTY);
  // The lists are the same for every seed: only the faults differ.
  const specs = await stack.ask((sql) => makeLists(sql, new Random(1)));
  // Not before: leads are drawn from all ids, and those of namesakes are far above the others.
  await stack.ask(addNamesakes);
  const lists = await runUndisturbed(api, teacher.key, specs);
  history.tell('undisturbed', { lists: lists.map(({ name, charged }) => [name, charged]) });
  const stored = await stack.ask((sql) => listEmails(sql, EMAILS));
  const emails = [...stored, ...stored.slice(0, EMAILS / 4).map((email) => `not-${email}`)];
  return { lists, calls: await knowCalls(api, teacher.key, emails) };
}

async function openDrivers(
  stack: ChaosStack,
  api: ApiCaller,
  history: History,
  random: Random,
  lists: readonly KnownList[],
  calls: Awaited<ReturnType<typeof knowCalls>>,
): Promise<Drivers> {
  const rich = await openAccount(stack, 'rich', PLENTY);
  const poor = await openAccount(stack, 'poor', 300);
  const listDrivers = [rich, rich, poor, poor].map(
    (account, index) => new ListDriver(api, history, random.fork(`list ${index}`), account, lists),
  );
  const callDrivers: CallDriver[] = [];
  for (const hasKeys of [true, false]) {
    const account = await openAccount(stack, hasKeys ? 'keyed' : 'plain', PLENTY);
    const own = random.fork(account.name);
    callDrivers.push(new CallDriver(api, history, own, account, calls, hasKeys));
  }
  const owning = await openAccount(stack, 'owner', PLENTY, { ownedDays: 30 });
  const owner = {
    lists: [0, 1, 2].map((index) => {
      const own = random.fork(`owner ${index}`);
      return new ListDriver(api, history, own, owning, ownableLists(lists));
    }),
    calls: new CallDriver(api, history, random.fork('owner calls'), owning, calls, true, true),
  };
  const noise = await openAccount(stack, 'noisy', PLENTY, { rowsPerMinute: 1 });
  const oneRow = must(
    lists.find(({ rows }) => rows === 1),
    'a list of one row',
  );
  const noisy = new NoisyDriver(api, history, random.fork('noise'), noise, oneRow);
  const unlucky = await openAccount(stack, 'unlucky', PLENTY);
  const damage = new DamageDriver(stack, api, history, random.fork('damage'), unlucky, lists);
  const decider = await openAccount(stack, 'decider', PLENTY);
  const likely = must(
    lists.find(({ name }) => name === LIKELY_LIST),
    'a list of likely matches',
  );
  const choosing = random.fork('decisions');
  const decisions = new DecisionDriver(api, history, choosing, decider, likely);
  const passing = await openAccount(stack, 'passing', PLENTY);
  const caller = await openAccount(stack, 'caller of a passing address', PLENTY);
  const copy = new CopyDriver(stack, api, history, random.fork('copy'), passing, caller);
  return { lists: listDrivers, calls: callDrivers, noisy, damage, copy, decisions, poor, owner };
}

/** Money is correct at every moment, not only in the end. */
async function watch(
  stack: ChaosStack,
  ledger: LedgerWatch,
  history: History,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await delay(3_000, undefined, { signal }).catch(() => {});
    await checkDatabase(stack, history);
    await ledger.look(stack, history);
  }
}

/** Waits for every accepted list to end, resuming paused ones. Resolves with the seconds it took. */
async function waitForEnds(
  api: ApiCaller,
  history: History,
  runs: readonly ListRun[],
): Promise<number> {
  const started = performance.now();
  let open = [...runs];
  while (open.length > 0) {
    const still: ListRun[] = [];
    for (const run of open) {
      const call = { key: run.account.key, id: run.id };
      const base = `/v1/${run.list.kind}/{id}`;
      const batch = batchOf(await api.until({ ...call, route: `get ${base}` }));
      if (!hasEnded(batch)) still.push(run);
      if (batch.state === 'paused' && batch.reason === 'user') {
        await api.until({ ...call, route: `post ${base}/resume` });
      } else if (batch.reason === 'max_credits') {
        await raiseLimit(api, run, null);
      } else if (batch.state === 'ready') {
        await api.until({ ...call, route: `post ${base}/start` });
      }
    }
    open = still;
    if (performance.now() - started > END_MS_MAX) break;
    await delay(LOOK_AGAIN_MS);
  }
  for (const { id, list } of open) {
    history.violate('every accepted list ends', { id, list: list.name });
  }
  const seconds = (performance.now() - started) / 1000;
  history.tell('lists have ended', { seconds, open: open.length });
  return seconds;
}
