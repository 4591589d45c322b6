/**
 * Sign-in sessions. A session presents a key: the one that it was opened with, or, after a sign-in with a
 * password, the account's console key of the mode. It never allows more than that key.
 */
import { createHash, randomBytes } from 'node:crypto';
import { findAccountByPassword, setPassword } from '../accounts/accounts.ts';
import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { type KeyMode, parseKey } from '../keys/key-format.ts';
import { authenticate, consoleKeyOf, readKey, refuseAddressKey } from '../keys/keys.ts';
import { openKnownOwners } from '../keys/known-owners.ts';
import { coalesce, type Lane, openLane } from '../lib/coalesce.ts';
import { AppError, conflict, invalidParameter } from '../lib/errors.ts';
import { countInTurn } from '../limits/count-in-turn.ts';
import type { Limiter } from '../limits/limiter.ts';
import { countSignIn, forgetSignIn } from '../limits/limits.ts';
import { openShare } from '../limits/shares.ts';
import {
  changeSessionKey,
  deleteOver,
  deletePasswordSessions,
  deleteSession,
  findLinkedAccount,
  findSessions,
  insertSession,
  insertSignInLink,
  type Session,
  takeSignInLink,
} from './sessions.sql.ts';

export const SESSION_SECONDS = 12 * 60 * 60;

const TOKEN_BYTES = 32;
const TOKEN_FORM = /^[\w-]{43}$/;

/** Life of a link that signs in once. */
const LINK_SECONDS = 10 * 60;

/** A key, the sign-in of an account, or the text of a link. */
export type Credentials = { key: string } | { email: string; password: string } | { link: string };

/**
 * Slots for password checks, by network: each check takes 32 MiB and one of the four threads that also read files. One
 * slot is for who has signed in from the same network before: a flood from thousands of networks fills only the other.
 */
const openChecks = () =>
  openShare({
    name: 'sign-ins',
    owner: 'this network',
    inFlightMax: 1,
    accountInFlightMax: 1,
    accountWaitingMax: 7,
    waitMsMax: 10_000,
  });
const checkKnown = openChecks();
const checkOthers = openChecks();

/**
 * Statements that change sessions. Each may wait for a transaction of its account, and hundreds can be sent at once with one key:
 * they would take all connections.
 */
const changeInTurn = openShare({
  name: 'changes of sessions',
  inFlightMax: 2,
  accountInFlightMax: 1,
  accountWaitingMax: 64,
  waitMsMax: 10_000,
});

/** Networks with the email addresses of sign-ins from them, in this process; the latest last. */
const signedIn = new Set<string>();
const SIGNED_IN_MAX = 10_000;

function rememberSignIn(origin: string): void {
  signedIn.delete(origin);
  signedIn.add(origin);
  const [oldest] = signedIn;
  if (signedIn.size > SIGNED_IN_MAX && oldest !== undefined) signedIn.delete(oldest);
}

/** Origin of a sign-in: its network, and a signal that aborts when the caller has gone. */
interface Origin {
  network: string;
  signal: AbortSignal;
}

/**
 * Signs a person in. Returns the token for the browser. Throws `AppError` 401 `invalid_sign_in`, the same for a wrong
 * password and for an unknown email address; 401 `link_expired`; 401 or 403 for a key that may not call; 429 for too
 * many attempts of the network, failed or concurrent; 503 when the password check had to wait too long.
 */
export async function signIn(
  { sql, limiter }: { sql: Sql; limiter: Limiter },
  credentials: Credentials,
  { network, signal }: Origin,
): Promise<string> {
  const email = 'email' in credentials ? credentials.email.trim().toLowerCase() : null;
  const attempt = { network, email };
  await countSignIn(limiter, attempt);
  const person = await signedInBy({ sql, limiter }, credentials, { network, signal });
  const token = await openSession(sql, person, signal);
  await forgetSignIn(limiter, attempt);
  return token;
}

interface SignedIn {
  accountId: string;
  /** The key that the session presents. */
  keyId: string;
  /** Returns the hash that the password was checked against; null after a sign-in with a key. Uses up a link. */
  readHash(): Promise<string | null>;
}

/** Checks the credentials and returns what they open. */
async function signedInBy(
  { sql, limiter }: { sql: Sql; limiter: Limiter },
  credentials: Credentials,
  { network, signal }: Origin,
): Promise<SignedIn> {
  if ('key' in credentials) {
    const { key } = await authenticate(sql, readSignInKey(credentials.key.trim()));
    await countInTurn(limiter, key, signal);
    refuseAddressKey(key);
    return { accountId: key.accountId, keyId: key.id, readHash: async () => null };
  }
  if ('link' in credentials) {
    const hash = hashToken(credentials.link);
    const accountId = await findLinkedAccount(sql, hash);
    if (accountId === undefined) throw linkExpired();
    const readHash = async () => {
      const link = await takeSignInLink(sql, hash);
      if (link === undefined) throw linkExpired();
      return link.passwordHash;
    };
    return { accountId, keyId: await consoleKeyOf(sql, accountId, 'live'), readHash };
  }
  const email = credentials.email.trim().toLowerCase();
  const origin = `${network} ${email}`;
  const checkInTurn = signedIn.has(origin) ? checkKnown : checkOthers;
  const account = await checkInTurn(network, signal, () =>
    findAccountByPassword(sql, email, credentials.password),
  );
  if (account === null) throw invalidSignIn();
  rememberSignIn(origin);
  const { id: accountId, passwordHash } = account;
  const keyId = await consoleKeyOf(sql, accountId, 'live');
  return { accountId, keyId, readHash: async () => passwordHash };
}

async function openSession(
  sql: Sql,
  { readHash, ...of }: SignedIn,
  signal: AbortSignal,
): Promise<string> {
  const token = newToken();
  const session = { ...of, tokenSha256: hashToken(token) };
  const isStored = await changeInTurn(of.accountId, signal, async () => {
    // Only now: a sign-in that gets no turn can be repeated with its link.
    const passwordHash = await readHash();
    // The password may have been changed while it was checked.
    return insertSession(sql, session, { seconds: SESSION_SECONDS, passwordHash });
  });
  if (!isStored) throw invalidSignIn();
  return token;
}

/**
 * Returns the text of a link that signs in to the account once, within ten minutes. It is as good as the account's
 * password: give it only to the person at this machine.
 */
export async function createSignInLink(sql: Sql, accountId: string): Promise<string> {
  const token = newToken();
  const link = { tokenSha256: hashToken(token), accountId, seconds: LINK_SECONDS };
  await insertSignInLink(sql, link);
  return token;
}

/** Deletes sessions and links that are over. */
export function deleteOldSessions(sql: Sql): Promise<void> {
  return deleteOver(sql, { sessionSeconds: SESSION_SECONDS, linkSeconds: LINK_SECONDS });
}

/** Finds the session of a token by its hash; undefined when it has ended. */
export type FindSession = (tokenSha256: Buffer) => Promise<Session | undefined>;

const BATCH_MAX = 128;
const owners = openKnownOwners();

/**
 * Opens the look-up of sessions. Concurrent ones are found in one statement: calls with a session are counted only once it is
 * found, and anyone can make up thousands.
 */
export function openSessions(sql: Sql, lane: Lane = openLane(2)): FindSession {
  const find = coalesce<string, Session | undefined>((hashes) => findSessions(sql, hashes), {
    lane,
    batchMax: BATCH_MAX,
    ownerOf: owners.ownerOf,
  });
  return async (tokenSha256) => {
    const hash = tokenSha256.toString('hex');
    const session = await find(hash);
    if (session !== undefined) owners.remember(hash, session.accountId);
    return session;
  };
}

/**
 * Returns the session whose key a call presents, and the hash of its token; the key may have been revoked. Throws `AppError`
 * 401 `session_expired` when the session has ended.
 */
export async function sessionKey(
  findSession: FindSession,
  token: string,
): Promise<Pick<Session, 'accountId' | 'keySha256' | 'mode'> & { sessionSha256: Buffer }> {
  const sessionSha256 = hashToken(token);
  const session = isToken(token) ? await findSession(sessionSha256) : undefined;
  if (session === undefined) throw sessionExpired();
  return { ...session, sessionSha256 };
}

/** Returns the session of this token; null when it has ended, or its key. */
export async function readSession(
  findSession: FindSession,
  token: string,
): Promise<Session | null> {
  const session = isToken(token) ? await findSession(hashToken(token)) : undefined;
  return session?.isKeyValid ? session : null;
}

/**
 * Switches a session to the other mode. Throws `AppError` 401, 409 for a session of a single key, and as
 * `countInTurn` and a share.
 */
export async function switchMode(
  { sql, limiter, findSession }: { sql: Sql; limiter: Limiter; findSession: FindSession },
  token: string,
  mode: KeyMode,
  signal: AbortSignal,
): Promise<Session> {
  const session = await readSession(findSession, token);
  if (session === null) throw sessionExpired();
  await countInTurn(limiter, session, signal);
  if (session.mode === mode) return session;
  if (!session.isConsole) throw oneMode(session);
  const keyId = await consoleKeyOf(sql, session.accountId, mode);
  await changeInTurn(session.accountId, signal, () =>
    changeSessionKey(sql, hashToken(token), keyId),
  );
  const switched = await readSession(findSession, token);
  if (switched === null) throw sessionExpired();
  return switched;
}

/** Ends a session, also when its caller disconnects. Does nothing for one that has ended. Throws as a share. */
export async function signOut(
  { sql, findSession }: { sql: Sql; findSession: FindSession },
  token: string,
): Promise<void> {
  const tokenSha256 = hashToken(token);
  const session = isToken(token) ? await findSession(tokenSha256) : undefined;
  if (session === undefined) return;
  await changeInTurn(session.accountId, new AbortController().signal, () =>
    deleteSession(sql, tokenSha256),
  );
}

/** Sets an account's password and ends its password sessions. Throws as `setPassword`. */
export async function changePassword(
  sql: Database,
  input: { accountId: string; email?: string; password: string },
): Promise<{ email: string }> {
  return inTransaction(sql, async (tx) => {
    const changed = await setPassword(tx, input);
    await deletePasswordSessions(tx, input.accountId);
    return changed;
  });
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

function isToken(text: string): boolean {
  return TOKEN_FORM.test(text);
}

/** The token has 256 random bits, so a slow hash adds nothing. */
function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns the hash of a key after checking its form. Throws `AppError` 400 that describes the form of a key. */
function readSignInKey(text: string): Buffer {
  if (parseKey(text) !== null) return readKey(text);
  const message = /^svc_(live|test)_/.test(text)
    ? 'is not a whole key: characters are missing or wrong. Check that it was copied whole'
    : 'is not a key of this service. A key begins with svc_live_ or svc_test_';
  throw invalidParameter('key', message);
}

function invalidSignIn(): AppError {
  return new AppError({
    code: 'invalid_sign_in',
    status: 401,
    message: 'No account has this email and password. Check both and try again.',
  });
}

function linkExpired(): AppError {
  return new AppError({
    code: 'link_expired',
    status: 401,
    message: 'This link has expired or was used before. Sign in with your email and password.',
  });
}

/** Returns the error for a session that has ended. */
export function sessionExpired(): AppError {
  return new AppError({
    code: 'session_expired',
    status: 401,
    message: 'You are signed out: the session has ended. Sign in again.',
  });
}

function oneMode({ mode }: Session): AppError {
  return conflict(
    'invalid_state',
    `You signed in with a ${mode} key, which sees only ${mode} data. Sign in with your email to see both.`,
  );
}
