import type { Sql } from '../db/client.ts';
import type { KeyMode } from '../keys/key-format.ts';

export interface NewSession {
  tokenSha256: Buffer;
  accountId: string;
  keyId: string;
}

/** Stores a session that ends after so many seconds. */
export async function insertSession(sql: Sql, session: NewSession, seconds: number): Promise<void> {
  await sql`
    insert into sessions (token_sha256, account_id, key_id, expires_at)
    values (${session.tokenSha256}, ${session.accountId}, ${session.keyId},
      now() + make_interval(secs => ${seconds}))`;
}

/** The key that a session presents. */
export interface SessionKey {
  keySha256: Buffer;
  mode: KeyMode;
}

/** The key of the session with this token, while it lasts; the key itself may have been revoked. */
export async function findSessionKey(
  sql: Sql,
  tokenSha256: Buffer,
): Promise<SessionKey | undefined> {
  const [key] = await sql<SessionKey[]>`
    select k.key_sha256, k.mode from sessions s join api_keys k on k.id = s.key_id
    where s.token_sha256 = ${tokenSha256} and s.expires_at > clock_timestamp()`;
  return key;
}

/** A session as the person sees it who signed in. */
export interface Session {
  accountId: string;
  accountName: string;
  email: string | null;
  keyPrefix: string;
  mode: KeyMode;
  scopes: string[];
  /** Signed in with the account's password, and so for both modes. */
  isConsole: boolean;
  expiresAt: Date;
}

/** The session of this token while it lasts and its key is in force. */
export async function findSession(sql: Sql, tokenSha256: Buffer): Promise<Session | undefined> {
  const [session] = await sql<Session[]>`
    select s.account_id, a.name as account_name, a.email, k.prefix as key_prefix, k.mode, k.scopes,
      k.is_console, s.expires_at
    from sessions s join api_keys k on k.id = s.key_id join accounts a on a.id = s.account_id
    where s.token_sha256 = ${tokenSha256} and s.expires_at > clock_timestamp()
      and coalesce(least(k.revoked_at, k.expires_at) > clock_timestamp(), true)`;
  return session;
}

/** Lets a session present another key of its account. */
export async function changeSessionKey(
  sql: Sql,
  tokenSha256: Buffer,
  keyId: string,
): Promise<void> {
  await sql`update sessions set key_id = ${keyId} where token_sha256 = ${tokenSha256}`;
}

/** Ends a session. */
export async function deleteSession(sql: Sql, tokenSha256: Buffer): Promise<void> {
  await sql`delete from sessions where token_sha256 = ${tokenSha256}`;
}

/** Ends what was signed in with the account's password. Sessions of keys of their own go on. */
export async function deletePasswordSessions(sql: Sql, accountId: string): Promise<void> {
  await sql`
    delete from sessions where account_id = ${accountId}
      and key_id in (select id from api_keys where account_id = ${accountId} and is_console)`;
}

/** Forgets sessions that ended. */
export async function deleteOldSessions(sql: Sql): Promise<void> {
  await sql`delete from sessions where expires_at < now()`;
}
