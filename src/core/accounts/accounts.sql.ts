import { creditsOf, openWallet } from '../credits/credits.sql.ts';
import { ownedDays } from '../credits/owned.sql.ts';
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

/** An account as its operator sees it. */
export interface ListedAccount {
  id: string;
  name: string;
  email: string | null;
  /** People can sign in to it with its address. */
  hasPassword: boolean;
  /** Credits that are not reserved. */
  credits: number;
  ownedDays: number;
  createdAt: Date;
}

/** Returns all accounts, oldest first. */
export async function listAccounts(sql: Sql): Promise<ListedAccount[]> {
  return sql<ListedAccount[]>`
    select a.id, a.name, a.email, a.password_hash is not null as has_password, ${creditsOf(sql, sql`a.id`)} as credits,
      ${ownedDays(sql, sql`a.id`)} as owned_days, a.created_at
    from accounts a order by a.created_at, a.id`;
}

/** Returns the ids of the accounts with this id, or with this address. */
export async function findAccountIds(
  sql: Sql,
  { id, email }: { id: string | null; email: string | null },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from accounts where id = ${id}::uuid or lower(email) = lower(${email}) order by created_at, id`;
  return rows.map((row) => row.id);
}
