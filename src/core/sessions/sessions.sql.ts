import type { CallCredentials } from '../call-credentials.ts';
import type { Sql } from '../db/client.ts';
import { isHeld } from '../db/lease.ts';
import type { KeyMode } from '../keys/key-format.ts';

/**
 * Locks the credentials of a call until the transaction ends: waits for a revocation in progress, and delays a
 * later one. Each part is false when it is no longer valid. The account is locked first: two keys that revoke each
 * other at the same time would otherwise deadlock.
 */
export async function holdCredentials(
  tx: Sql,
  { keyId, sessionSha256 }: CallCredentials,
): Promise<{ key: boolean; session: boolean }> {
  const [held] = await tx<{ key: boolean; session: boolean }[]>`
    with account as (
      select id from accounts
      where id = (select account_id from api_keys where id = ${keyId}) for no key update)
    select exists (
        select from api_keys k
        where k.id = ${keyId} and is_valid(k) and exists (select from account) for share
      ) as key,
      ${sessionSha256 === null} or exists (
        select from sessions
        where token_sha256 = ${sessionSha256}::bytea and expires_at > clock_timestamp() for share
      ) as session`;
  return held ?? { key: false, session: false };
}

/** Returns true for a session that has not ended. */
export async function isSessionValid(sql: Sql, tokenSha256: Buffer): Promise<boolean> {
  const found = await sql`
    select from sessions where token_sha256 = ${tokenSha256} and expires_at > clock_timestamp()`;
  return found.length > 0;
}

/** Returns the places in the list of the credentials that are no longer valid. */
export async function findEndedCredentials(
  sql: Sql,
  credentials: readonly CallCredentials[],
): Promise<number[]> {
  const ended = await sql<{ place: number }[]>`
    select c.place::int - 1 as place
    from unnest(
      ${credentials.map(({ keyId }) => keyId)}::uuid[],
      ${credentials.map(({ sessionSha256 }) => sessionSha256?.toString('hex') ?? null)}::text[]
    ) with ordinality c (key_id, session, place)
    where not exists (select from api_keys k where k.id = c.key_id and is_valid(k))
      or (c.session is not null and not exists (
        select from sessions s
        where s.token_sha256 = decode(c.session, 'hex') and s.expires_at > clock_timestamp()))`;
  return ended.map(({ place }) => place);
}

export interface NewSession {
  tokenSha256: Buffer;
  accountId: string;
  keyId: string;
}

/**
 * Stores a session that ends after so many seconds. A password session is stored only while the account has that
 * password: a change of it in progress is waited for. Returns whether it was stored.
 */
export async function insertSession(
  sql: Sql,
  session: NewSession,
  { seconds, passwordHash }: { seconds: number; passwordHash: string | null },
): Promise<boolean> {
  const stored = await sql`
    insert into sessions (token_sha256, account_id, key_id, expires_at)
    select ${session.tokenSha256}, a.id, ${session.keyId}, now() + make_interval(secs => ${seconds})
    from (
      select id from accounts where id = ${session.accountId}
        and (${passwordHash}::text is null or password_hash = ${passwordHash}) for share) a
    returning account_id`;
  return stored.length > 0;
}

/** Stores a link that signs in to the account once, within so many seconds. */
export async function insertSignInLink(
  sql: Sql,
  { tokenSha256, accountId, seconds }: { tokenSha256: Buffer; accountId: string; seconds: number },
): Promise<void> {
  await sql`
    insert into sign_in_links (token_sha256, account_id, expires_at)
    values (${tokenSha256}, ${accountId}, now() + make_interval(secs => ${seconds}))`;
}

/** Returns the account of a link; undefined when the link has expired or was used. */
export async function findLinkedAccount(
  sql: Sql,
  tokenSha256: Buffer,
): Promise<string | undefined> {
  const [link] = await sql<{ accountId: string }[]>`
    select account_id from sign_in_links
    where token_sha256 = ${tokenSha256} and expires_at > clock_timestamp()`;
  return link?.accountId;
}

/**
 * Uses up a link. Returns the hash of the password that its account has now; undefined when the link has expired or was used.
 */
export async function takeSignInLink(
  sql: Sql,
  tokenSha256: Buffer,
): Promise<{ passwordHash: string | null } | undefined> {
  const [link] = await sql<{ passwordHash: string | null; isOpen: boolean }[]>`
    delete from sign_in_links l using accounts a
    where l.token_sha256 = ${tokenSha256} and a.id = l.account_id
    returning a.password_hash, l.expires_at > clock_timestamp() as is_open`;
  return link?.isOpen ? link : undefined;
}

/** A session as the signed-in person sees it, and the key that it presents. */
export interface Session {
  accountId: string;
  accountName: string;
  email: string | null;
  keySha256: Buffer;
  keyPrefix: string;
  /** False for a key that was revoked, or has expired. */
  isKeyValid: boolean;
  mode: KeyMode;
  scopes: string[];
  /** Signed in with the account's password, and so in both modes. */
  isConsole: boolean;
  expiresAt: Date;
}

/**
 * Returns the sessions with these hashes of their tokens, in hexadecimal, in their order; undefined for one that has ended. The
 * key of a session may have been revoked.
 */
export async function findSessions(
  sql: Sql,
  hashes: readonly string[],
): Promise<(Session | undefined)[]> {
  const rows = await sql<(Session | { accountId: null })[]>`
    select s.account_id, a.name as account_name, a.email, k.key_sha256, k.prefix as key_prefix,
      is_valid(k) as is_key_valid, k.mode, k.scopes, k.is_console, s.expires_at
    from unnest(string_to_array(${hashes.join(' ')}, ' ')) with ordinality p (hash, place)
    left join sessions s
      on s.token_sha256 = decode(p.hash, 'hex') and s.expires_at > clock_timestamp()
    left join api_keys k on k.id = s.key_id
    left join accounts a on a.id = s.account_id
    order by p.place`;
  return rows.map((row) => (row.accountId === null ? undefined : row));
}

/** Switches a session to another key of its account. */
export async function changeSessionKey(
  sql: Sql,
  tokenSha256: Buffer,
  keyId: string,
): Promise<void> {
  await sql`update sessions set key_id = ${keyId} where token_sha256 = ${tokenSha256}`;
}

export async function deleteSession(sql: Sql, tokenSha256: Buffer): Promise<void> {
  await sql`delete from sessions where token_sha256 = ${tokenSha256}`;
}

/**
 * Ends the password sessions of the account, and its links. Sessions of other keys go on. Locks in the order of the
 * tokens, as charges hold sessions.
 */
export async function deletePasswordSessions(sql: Sql, accountId: string): Promise<void> {
  await sql`
    with ended as (
      select token_sha256 from sessions where account_id = ${accountId}
        and key_id in (select id from api_keys where account_id = ${accountId} and is_console)
      order by token_sha256 for update),
    unlinked as (
      delete from sign_in_links where account_id = ${accountId})
    delete from sessions s using ended where s.token_sha256 = ended.token_sha256`;
}

/**
 * Deletes sessions that ended, and links that expired, which last so many seconds; also those that were made before the clock was
 * set back: they would last as much longer. Locks in the order of the tokens, as charges hold sessions.
 */
export async function deleteOver(
  sql: Sql,
  { sessionSeconds, linkSeconds }: { sessionSeconds: number; linkSeconds: number },
): Promise<void> {
  await sql`
    with ended as (
      select token_sha256 from sessions where not ${isHeld(sql, sql`expires_at`, sessionSeconds)}
      order by token_sha256 for update),
    unlinked as (
      delete from sign_in_links where not ${isHeld(sql, sql`expires_at`, linkSeconds)})
    delete from sessions s using ended where s.token_sha256 = ended.token_sha256`;
}
