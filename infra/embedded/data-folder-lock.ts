/**
 * Only one live process at a time may serve a data folder. The lock is a file of claims to which lines are only
 * appended: a starting process appends its claim (pid and the start time of the process), then reads the file; the
 * first claim that is neither released nor of a dead process holds the lock. Since nothing stale is ever removed
 * to take the lock, two starting processes cannot remove each other's claim, and a pid that now belongs to another
 * program holds nothing. A claim names the folder that it was made for: one that came with a copy of another
 * folder does not hold this one, but shows that the copy was made while the original was in use, so of changing files.
 */
import { randomUUID } from 'node:crypto';
import { appendFile, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { must } from '../../src/core/lib/assert.ts';
import { type AppError, conflict } from '../../src/core/lib/errors.ts';
import { readFolderIdentity, readProcessStart } from './process-identity.ts';

/** About eight hundred claims; then the holder rewrites the file with its own claim only. */
const LOCK_FILE_BYTES_MAX = 100_000;

/** A process that was just killed still lives briefly: retry for this long before refusing. */
const DYING_HOLDER_WAIT_MS = 1_000;
const DYING_HOLDER_POLL_MS = 20;

const claimSchema = z.object({
  claim: z.string(),
  pid: z.int().positive(),
  start: z.string(),
  /** Identity of the folder. */
  folder: z.string(),
});
const releaseSchema = z.object({ release: z.string() });
type Claim = z.infer<typeof claimSchema>;

/** Claims that this process released, even if that could not be written because the disk was full. */
const releasedHere = new Set<string>();

interface DataFolderLock {
  release(): Promise<void>;
}

/** Returns the error of a second start on one folder; it names the process to stop. */
export function dataFolderInUse(dataDir: string, pid: number): AppError {
  return conflict(
    'data_folder_in_use',
    `The data folder ${dataDir} is in use by process ${pid}. ` +
      'If that process is still starting, wait until it is ready. Otherwise stop it first, or choose another data folder.',
    { extensions: { pid } },
  );
}

/** Returns the error of a start on a copy of a folder that was in use; the process may live, on this machine or another. */
function dataFolderCopied(dataDir: string, file: string, pid: number): AppError {
  return conflict(
    'data_folder_copied',
    `The data folder ${dataDir} is a copy of one that process ${pid} was using, so its database may be ` +
      'torn. Stop that process and copy again, or restore a backup; if the copy is a snapshot of one instant, or was ' +
      `made when the process had been killed, delete ${file}.`,
    { extensions: { pid } },
  );
}

/**
 * Takes the lock of an existing folder; the death of a process releases it. Throws `AppError` `data_folder_in_use`
 * when a live process, including this one, holds it, and `data_folder_copied` when the folder is a copy made while
 * a process used the original.
 */
export async function lockDataFolder(dataDir: string): Promise<DataFolderLock> {
  const file = path.join(dataDir, 'postgres.lock');
  const start = must(await readProcessStart(process.pid), 'own process');
  const folder = await readFolderIdentity(dataDir);
  const own: Claim = { claim: randomUUID(), pid: process.pid, start, folder };
  const release = async () => {
    releasedHere.add(own.claim);
    // A folder that was removed meanwhile needs no release.
    await appendFile(file, line({ release: own.claim }), { mode: 0o600 }).catch(emptyIfMissing);
  };
  const deadline = Date.now() + DYING_HOLDER_WAIT_MS;
  for (;;) {
    const claims = await claimsWith(own, file);
    const live = await keepLive(claims);
    // The device of a folder may have another number after the next boot of the machine: only a live process shows that
    // the same number of the folder is another one.
    const original =
      live.find((claim) => claim.folder !== folder) ??
      claims.find((claim) => inodeOf(claim.folder) !== inodeOf(folder));
    if (original !== undefined) {
      await release();
      throw dataFolderCopied(dataDir, file, original.pid);
    }
    const holder = must(live[0], 'a live claim, the own one');
    if (holder.claim === own.claim) {
      await releaseDead(file, claims, live);
      break;
    }
    if (Date.now() > deadline) {
      await release();
      throw dataFolderInUse(dataDir, holder.pid);
    }
    await delay(DYING_HOLDER_POLL_MS);
  }
  await shortenWhenLong(file, own);
  return { release };
}

/** Returns the unreleased claims, oldest first, including the own one, which is appended if missing. */
async function claimsWith(own: Claim, file: string): Promise<Claim[]> {
  for (;;) {
    const claims = parseClaims(await readFile(file, 'utf8').catch(emptyIfMissing));
    // Missing at first, and after the holder has replaced the file by a shorter one.
    if (claims.some(({ claim }) => claim === own.claim)) return claims;
    await appendFile(file, line(own), { mode: 0o600 });
  }
}

function parseClaims(text: string): Claim[] {
  const claims = new Map<string, Claim>();
  for (const entry of text.split('\n').map(parseEntry)) {
    const claim = claimSchema.safeParse(entry);
    if (claim.success) claims.set(claim.data.claim, claim.data);
    const release = releaseSchema.safeParse(entry);
    if (release.success) claims.delete(release.data.release);
  }
  return [...claims.values()].filter(({ claim }) => !releasedHere.has(claim));
}

/** Parses one line of JSON; null for one that a crash or a full disk left half-written. */
function parseEntry(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Ends the claims of processes that were killed: a copy of this folder after an orderly stop is no torn one. On a full disk
 * they stay, which only makes such a copy refused.
 */
async function releaseDead(file: string, claims: Claim[], live: Claim[]): Promise<void> {
  const dead = claims.filter((claim) => !live.includes(claim));
  if (dead.length === 0) return;
  const lines = dead.map(({ claim }) => line({ release: claim })).join('');
  await appendFile(file, lines, { mode: 0o600 }).catch(() => {});
}

/** Of an identity that `readFolderIdentity` returned. */
function inodeOf(identity: string): string {
  return identity.slice(identity.indexOf(':') + 1);
}

async function keepLive(claims: Claim[]): Promise<Claim[]> {
  const starts = await Promise.all(claims.map(({ pid }) => readProcessStart(pid)));
  return claims.filter(({ start }, index) => starts[index] === start);
}

async function shortenWhenLong(file: string, own: Claim): Promise<void> {
  if ((await stat(file)).size <= LOCK_FILE_BYTES_MAX) return;
  const shorter = `${file}.${own.claim}`;
  await writeFile(shorter, line(own), { mode: 0o600 });
  await rename(shorter, file);
}

/** The leading newline ends a line that a crash left half-written. */
function line(entry: object): string {
  return `\n${JSON.stringify(entry)}\n`;
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') throw error;
  return '';
}
