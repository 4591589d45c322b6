/** Checks that each wallet holds exactly the granted credits minus the delivered matches. */
import type { Account } from './accounts.ts';
import type { CallDriver } from './call-driver.ts';
import { type LedgerLine, listBatchRows, listWallets } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';
import type { ListRun } from './list-driver.ts';

/** The calls of an account that makes no others. */
export type CallsMade = Pick<CallDriver, 'account' | 'matched' | 'hasKeys' | 'unknown'>;

/** No charge without a delivered response, and no match without a charge. */
export function checkCalls(
  history: History,
  { account, matched, hasKeys, unknown }: CallsMade,
  ledger: readonly LedgerLine[],
): void {
  const charges = ledger.filter(
    ({ accountId, kind }) => accountId === account.id && kind === 'charge',
  );
  const charged = new Map(charges.map(({ reference, amount }) => [reference, -amount]));
  for (const [requestId, price] of matched) {
    const found = charged.get(`call:${requestId}`);
    if (found !== price) history.violate('a match is charged', { requestId, price, found });
  }
  const more = charges.length - matched.size;
  const most = hasKeys ? 0 : unknown;
  if (more > most) {
    history.violate('a call is charged once, and never without a match', {
      ...{ account: account.name, charges: charges.length, matches: matched.size, unknown },
    });
  }
}

/** Checks the wallets of accounts that only ran lists; `spent` has the credits that the lists of each must cost. */
export async function checkWallets(
  stack: ChaosStack,
  history: History,
  spent: ReadonlyMap<Account, number>,
): Promise<void> {
  const wallets = await stack.ask(listWallets);
  for (const [account, credits] of spent) {
    const expected = { balance: account.granted - credits, reserved: 0 };
    const wallet = wallets.find(({ accountId }) => accountId === account.id);
    if (wallet?.balance === expected.balance && wallet.reserved === 0) continue;
    history.violate('a wallet holds what was given less what matched', {
      ...{ account: account.name, expected, wallet },
    });
  }
}

/** There is one batch for each accepted list, and no other. */
export async function checkBatches(
  stack: ChaosStack,
  history: History,
  runs: readonly ListRun[],
): Promise<void> {
  const accounts = new Set(runs.map(({ account }) => account.id));
  const batches = await stack.ask(listBatchRows);
  const known = new Set(runs.map(({ id }) => id));
  for (const { id, accountId, state } of batches) {
    if (!accounts.has(accountId) || known.has(id)) continue;
    history.violate('an Idempotency-Key makes one batch', { id, state });
  }
}
