/**
 * PostgreSQL refuses to run as root, so root has to switch to another user, in this order:
 *  1. the owner of an existing cluster, when that is not root: its files are for that user alone;
 *  2. a user namespace that maps root to an ordinary user: folders that only root may enter work,
 *     the files stay root's and nothing is copied;
 *  3. where namespaces are forbidden, an unused user id.
 * An ordinary user runs it directly. One without a name, as containers like to have, also takes a
 * namespace if it can: initdb and single-user mode (not the server) insist on an entry in
 * /etc/passwd for the user id they see.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { unavailable } from '../../src/core/lib/errors.ts';

export interface UserIds {
  uid: number;
  gid: number;
}

export interface ServerUser {
  /** Prefix of a command that makes it run as this user. */
  prefix: readonly string[];
  /** The ids to spawn with, and the owner of its files; null when they are the caller's own. */
  ids: UserIds | null;
  /** Ids with a name, to borrow for programs that require one; null when that is not needed. */
  namedIds: UserIds | null;
}

/** First id in the search for an unused one: above people and packages, below `nobody` (65534). */
const UNUSED_ID_FIRST = 62_000;
const UNUSED_ID_LAST = 62_999;

/** Users that nearly every system has and that own nothing, best first. */
const namesToBorrow = ['daemon', 'nobody'];

const direct: ServerUser = { prefix: [], ids: null, namedIds: null };

/**
 * The user to run the server as. `cluster` is the folder of its files, which may not exist yet.
 * Throws AppError embedded_postgres_forbidden when root can switch to no other user.
 */
export async function chooseServerUser(cluster: string): Promise<ServerUser> {
  const isRoot = process.geteuid?.() === 0;
  if (!isRoot && hasName()) return direct;
  const passwd = await readPasswd();
  const borrowed = findBorrowedIds(passwd);
  const owner = await stat(cluster).catch(() => null);
  if (isRoot && owner !== null && owner.uid !== 0) return asOther(owner, passwd, borrowed);

  const words = [`--map-user=${borrowed.uid}`, `--map-group=${borrowed.gid}`];
  const mapped: ServerUser = { ...direct, prefix: ['unshare', '-U', ...words, '--'] };
  if (await succeedsAs(mapped, ['true'])) return mapped;
  if (!isRoot) return direct;

  const id = findUnusedId(passwd);
  const other = asOther({ uid: id, gid: id }, passwd, borrowed);
  if (await succeedsAs(other, ['true'])) return other;
  throw unavailable(
    'embedded_postgres_forbidden',
    'PostgreSQL does not run as root, and here root may neither create a user namespace nor ' +
      'become another user. Start as an ordinary user, or set DATABASE_URL.',
  );
}

function asOther(
  { uid, gid }: UserIds,
  passwd: Map<string, UserIds>,
  borrowed: UserIds,
): ServerUser {
  const isNamed = [...passwd.values()].some((ids) => ids.uid === uid);
  return { prefix: [], ids: { uid, gid }, namedIds: isNamed ? null : borrowed };
}

/** True when the user may enter this folder, or execute this file. */
export async function canReach(user: ServerUser, path: string): Promise<boolean> {
  return await succeedsAs(user, ['test', '-x', path]);
}

/** True when the command ends with exit code 0 if run as this user. */
export async function succeedsAs(user: ServerUser, command: string[]): Promise<boolean> {
  const [program = '', ...words] = [...user.prefix, ...command];
  try {
    const child = spawn(program, words, { stdio: 'ignore', cwd: '/', ...user.ids });
    const [code] = await once(child, 'exit');
    return code === 0;
  } catch {
    // The program does not exist, or these ids may not be used: spawn throws or emits 'error'.
    return false;
  }
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

/** Returns the users of /etc/passwd by name; passwd(5): name, password, uid, gid, separated by colons. */
async function readPasswd(): Promise<Map<string, UserIds>> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const users = new Map<string, UserIds>();
  for (const entry of text.split('\n')) {
    const [name = '', , uid, gid] = entry.split(':');
    if (uid && gid) users.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return users;
}

function findBorrowedIds(passwd: Map<string, UserIds>): UserIds {
  const candidates = [...namesToBorrow.map((name) => passwd.get(name)), ...passwd.values()];
  // Without any, the programs report what they lack.
  return candidates.find((ids) => ids !== undefined && ids.uid > 0) ?? { uid: 1, gid: 1 };
}

function findUnusedId(passwd: Map<string, UserIds>): number {
  const taken = new Set([...passwd.values()].map(({ uid }) => uid));
  let id = UNUSED_ID_FIRST;
  while (taken.has(id) && id < UNUSED_ID_LAST) id += 1;
  return id;
}
