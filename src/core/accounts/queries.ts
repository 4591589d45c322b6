import type { Sql } from '../db/client.ts';

/** Stores an account together with its empty wallet. */
export async function insertAccount(
  sql: Sql,
  account: { id: string; name: string; email: string | null },
): Promise<void> {
  await sql`
    with account as (insert into accounts ${sql(account)} returning id)
    insert into wallets (account_id) select id from account`;
}
