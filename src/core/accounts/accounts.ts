/** Accounts: the owners of keys, batches and a wallet. */
import { uuidv7 } from 'uuidv7';
import { grantCredits } from '../credits/credits.ts';
import { changeOwnedDays } from '../credits/owned.ts';
import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { type AppError, conflict, invalidParameter, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import {
  findAccount,
  findAccountIds,
  findByEmail,
  insertAccount,
  updatePassword,
} from './accounts.sql.ts';
import { hashPassword, isPassword } from './password.ts';

/**
 * Creates an account with its wallet and its first credits; with a password, people can sign in to it by its
 * address. With `ownedDays`, it is not charged again for a person whom it paid for in so many last days. Returns its id.
 * Throws as `setPassword` and `changeOwnedDays`.
 */
export async function createAccount(
  sql: Database,
  input: {
    name: string;
    email?: string;
    password?: string;
    credits: number;
    ownedDays?: number;
  },
): Promise<string> {
  const id = uuidv7();
  const { email = null, password, ownedDays = 0 } = input;
  const passwordHash = password === undefined ? null : await hashPassword(password);
  await inTransaction(sql, async (tx) => {
    await insertAccount(tx, { id, name: input.name, email });
    if (passwordHash !== null) await storePassword(tx, { id, email, passwordHash });
    if (ownedDays > 0) await changeOwnedDays(tx, id, ownedDays);
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

/**
 * Sets the password of an account, and its address if one is given; call it in a transaction. Throws `AppError`
 * 404 for an unknown account, 400 for a password or an address that is not valid, 409 for an address that signs in
 * to another account.
 */
export async function setPassword(
  tx: Sql,
  input: { accountId: string; email?: string; password: string },
): Promise<{ email: string }> {
  const passwordHash = await hashPassword(input.password);
  const account = await findAccount(tx, input.accountId);
  if (account === undefined) throw accountNotFound(input.accountId);
  const email = input.email ?? account.email;
  return storePassword(tx, { id: account.id, email, passwordHash });
}

/**
 * Returns the id of the account that is given by its id or by its email address. Throws `AppError` 404 when there is
 * none, and 409 `ambiguous_account` when several have the address.
 */
export async function resolveAccount(sql: Sql, given: string): Promise<string> {
  const text = given.trim();
  const id = isUuid(text) ? text : null;
  const email = text.includes('@') ? text : null;
  const [found, ...others] = await findAccountIds(sql, { id, email });
  if (found === undefined) throw accountNotFound(text);
  if (others.length === 0) return found;
  const ids = [found, ...others].join(', ');
  throw conflict(
    'ambiguous_account',
    `${others.length + 1} accounts have the address ${text}: ${ids}. Give the id of one of them.`,
  );
}

/** Returns the id of the account that signs in with this address; null when there is none. */
export async function findAccountByEmail(sql: Sql, email: string): Promise<string | null> {
  return (await findByEmail(sql, email))?.id ?? null;
}

/**
 * Returns the account with this address and password, and the hash that the password was checked against; null for
 * a wrong password and for an unknown address.
 */
export async function findAccountByPassword(
  sql: Sql,
  email: string,
  password: string,
): Promise<{ id: string; passwordHash: string } | null> {
  const account = await findByEmail(sql, email);
  const isRight = await isPassword(password, account?.passwordHash ?? null);
  return isRight && account !== undefined ? account : null;
}

async function storePassword(
  sql: Sql,
  account: { id: string; email: string | null; passwordHash: string },
): Promise<{ email: string }> {
  const email = account.email?.trim() ?? '';
  if (!/^\S+@\S+$/.test(email)) throw emailNeeded();
  if (!(await updatePassword(sql, { ...account, email }))) throw emailTaken(email);
  return { email };
}

function accountNotFound(id: string): AppError {
  return notFound(`Account ${id}`, 'List accounts with `enrich account list`.');
}

function emailNeeded(): AppError {
  return invalidParameter(
    'email',
    'is missing. An account with a password needs an email address to sign in with',
  );
}

function emailTaken(email: string): AppError {
  return conflict(
    'email_taken',
    `Another account signs in with ${email}. Give this one another address.`,
  );
}
