/**
 * Shares of a process's scarce work, such as searches or conversions of workbooks. Accounts are served
 * round-robin, and each has a maximum in flight and a maximum waiting, so that no account makes another wait for
 * its whole queue. A second of work counts as a turn: otherwise the short work of an account would wait for one long work of each
 * other account.
 */
import { type AppError, notNow } from '../lib/errors.ts';
import { tooManyOpen } from './limits.ts';

export interface ShareLimits {
  /** The work, in the plural, as the error message names it: `searches`. */
  name: string;
  /** The owner of a share, as the error message names it; an account by default. */
  owner?: string;
  /** Maximum in flight in this process. */
  inFlightMax: number;
  /** Maximum in flight for one account; less than `inFlightMax` leaves room for others. */
  accountInFlightMax: number;
  /** Maximum waiting for one account; one more is refused with 429. */
  accountWaitingMax: number;
  /** Milliseconds after which work that still waits is refused with 503. */
  waitMsMax: number;
}

/**
 * Runs `work` for an account when its turn comes, and resolves or rejects as `work` does. Throws `AppError`
 * 429 `rate_limited` when the account has its maximum waiting, 503 `unavailable` when the wait was too long,
 * and the reason of `signal` when that aborts before the turn comes.
 */
export type Share = <T>(
  accountId: string,
  signal: AbortSignal,
  work: () => Promise<T>,
) => Promise<T>;

interface Waiting {
  /** Starts the work; its end frees the slot. */
  start(): Promise<unknown>;
}

interface AccountShare {
  waiting: Set<Waiting>;
  inFlight: number;
  /** The number of its last turn, and of as many more as that took seconds; 0 for an account without one. */
  lastTurn: number;
}

export function openShare(limits: ShareLimits): Share {
  const accounts = new Map<string, AccountShare>();
  let inFlight = 0;
  let turns = 0;

  const serve = () => {
    while (inFlight < limits.inFlightMax) {
      const turn = nextTurn(accounts, limits.accountInFlightMax);
      if (turn === undefined) return;
      const { account, next } = turn;
      account.waiting.delete(next);
      account.inFlight++;
      inFlight++;
      turns = Math.max(turns + 1, account.lastTurn);
      account.lastTurn = turns;
      const startedAt = performance.now();
      void next.start().finally(() => {
        account.lastTurn += Math.floor((performance.now() - startedAt) / 1000);
        account.inFlight--;
        inFlight--;
        forgetIdle(accounts, turns);
        serve();
      });
    }
  };

  return <T>(accountId: string, signal: AbortSignal, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const account = accounts.get(accountId) ?? { waiting: new Set(), inFlight: 0, lastTurn: 0 };
      const max = limits.accountInFlightMax + limits.accountWaitingMax;
      if (account.inFlight + account.waiting.size >= max) {
        return reject(tooManyOpen(limits.name, max, limits.owner));
      }
      accounts.set(accountId, account);
      const leave = (reason: unknown) => {
        stopWaiting();
        account.waiting.delete(waiting);
        forgetIdle(accounts, turns);
        reject(reason);
      };
      const abort = () => leave(signal.reason);
      const timer = setTimeout(() => leave(waitedTooLong(limits)), limits.waitMsMax);
      const stopWaiting = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const waiting: Waiting = {
        start() {
          stopWaiting();
          return startWork(work).then(resolve, reject);
        },
      };
      signal.addEventListener('abort', abort);
      account.waiting.add(waiting);
      serve();
    });
}

/** Work that throws before its first promise rejects like any other. */
async function startWork<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

interface Turn {
  account: AccountShare;
  next: Waiting;
}

/** Returns the account that has work waiting and a free slot, and whose last turn is the longest ago. */
function nextTurn(accounts: ReadonlyMap<string, AccountShare>, max: number): Turn | undefined {
  let turn: Turn | undefined;
  for (const account of accounts.values()) {
    const [next] = account.waiting;
    if (next === undefined || account.inFlight >= max) continue;
    if (turn !== undefined && turn.account.lastTurn <= account.lastTurn) continue;
    turn = { account, next };
  }
  return turn;
}

/**
 * Forgets accounts without work, but for those that had a turn after the last one of an account that still waits, or whose turns
 * have not passed: they would come back as new ones, before it, and with one piece of work at a time a few could make it wait
 * forever.
 */
function forgetIdle(accounts: Map<string, AccountShare>, turns: number): void {
  let oldestTurn = turns + 1;
  for (const { waiting, lastTurn } of accounts.values()) {
    if (waiting.size > 0 && lastTurn > 0) oldestTurn = Math.min(oldestTurn, lastTurn);
  }
  for (const [accountId, { waiting, inFlight, lastTurn }] of accounts) {
    if (inFlight === 0 && waiting.size === 0 && lastTurn < oldestTurn) accounts.delete(accountId);
  }
}

function waitedTooLong({ name, waitMsMax }: ShareLimits): AppError {
  return notNow(
    'unavailable',
    `Too many ${name} are in progress: this one waited ${waitMsMax / 1000} s without a turn. Try again shortly.`,
  );
}
