/** Accounts: who owns keys, batches and a wallet. */
import { uuidv7 } from 'uuidv7';
import { grantCredits } from '../credits/credits.ts';
import { type Database, inTransaction } from '../db/client.ts';
import { insertAccount } from './queries.ts';

/** Makes an account with its wallet and its first credits. Returns its id. */
export async function createAccount(
  sql: Database,
  input: { name: string; email?: string; credits: number },
): Promise<string> {
  const id = uuidv7();
  await inTransaction(sql, async (tx) => {
    await insertAccount(tx, { id, name: input.name, email: input.email ?? null });
    if (input.credits > 0) {
      await grantCredits(tx, {
        accountId: id,
        amount: input.credits,
        reference: 'account:created',
      });
    }
  });
  return id;
}
