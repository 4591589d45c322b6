import { openWallet } from '../credits/credits.sql.ts';
import type { Sql } from '../db/client.ts';

/** Stores an account with an empty wallet. */
export async function insertAccount(
  sql: Sql,
  account: { id: string; name: string; email: string | null },
): Promise<void> {
  await sql`
    with account as (insert into accounts ${sql(account)} returning id)
    ${openWallet(sql)}`;
}

/** Returns the account with this sign-in address, and its password hash. */
export async function findByEmail(
  sql: Sql,
  email: string,
): Promise<{ id: string; passwordHash: string } | undefined> {
  const [account] = await sql<{ id: string; passwordHash: string }[]>`
    select id, password_hash from accounts
    where lower(email) = lower(${email}) and password_hash is not null`;
  return account;
}

/** Returns the account's address; undefined when the account does not exist. */
export async function findAccount(
  sql: Sql,
  id: string,
): Promise<{ id: string; email: string | null } | undefined> {
  const [account] = await sql<{ id: string; email: string | null }[]>`
    select id, email from accounts where id = ${id} for no key update`;
  return account;
}

/** Sets an account's address and password; false when another account signs in with this address. */
export async function updatePassword(
  sql: Sql,
  account: { id: string; email: string; passwordHash: string },
): Promise<boolean> {
  const updated = await sql`
    update accounts set email = ${account.email}, password_hash = ${account.passwordHash}
    where id = ${account.id} and not exists (
      select from accounts o where lower(o.email) = lower(${account.email})
        and o.id <> ${account.id} and o.password_hash is not null)
    returning id`;
  return updated.length > 0;
}
