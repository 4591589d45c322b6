/** The accounts of a run, and every credit that the bench granted. */
import { setTimeout as delay } from 'node:timers/promises';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { grantCredits } from '../../src/core/credits/credits.ts';
import { createKey } from '../../src/core/keys/keys.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';

const NO_LIMIT = 1_000_000;

export interface Account {
  name: string;
  id: string;
  key: string;
  granted: number;
  grants: number;
}

/** Creates an account with a live key. No limit of the key is ever reached, except `rowsPerMinute` if given. */
export async function openAccount(
  { ask }: ChaosStack,
  name: string,
  credits: number,
  { rowsPerMinute, ownedDays = 0 }: { rowsPerMinute?: number; ownedDays?: number } = {},
): Promise<Account> {
  const id = await ask((sql) => createAccount(sql, { name, credits, ownedDays }));
  const limits = {
    requestsPerMinute: NO_LIMIT,
    requestsPerDay: NO_LIMIT,
    ...(rowsPerMinute === undefined ? {} : { rowsPerMinute }),
  };
  const { key } = await ask((sql) => createKey(sql, { accountId: id, mode: 'live', ...limits }));
  return { name, id, key, granted: credits, grants: 0 };
}

/** Grants credits. A repeated grant, as from an impatient payment provider, counts once. */
export async function topUp(
  { ask }: ChaosStack,
  account: Account,
  amount: number,
  times: number,
): Promise<void> {
  const reference = `topup:${account.grants}`;
  account.grants += 1;
  account.granted += amount;
  for (let time = 0; time < times; time++) {
    await ask((sql) => grantCredits(sql, { accountId: account.id, amount, reference }));
  }
}

/** Occasional small top-ups: the wallet runs empty in between. */
export async function driveTopUps(
  stack: ChaosStack,
  account: Account,
  random: Random,
  history: History,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const waitMs = random.between(1_000, 4_000);
    await delay(waitMs, undefined, { signal }).catch(() => {});
    const amount = random.between(1, 700);
    const times = random.between(1, 2);
    await topUp(stack, account, amount, times);
    history.note('top-up', { account: account.name, amount, times });
  }
}
