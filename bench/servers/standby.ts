/**
 * The files of a standby: a server's files copied while it runs. See "Making a Base Backup Using the Low Level API" in the
 * manual of Postgres.
 */
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readCredentials, writeCredentials } from '../../infra/embedded/postgres-credentials.ts';
import { connect } from '../../src/core/db/client.ts';
import { must } from '../../src/core/lib/assert.ts';

/** A running server. */
export interface Copied {
  /** The superuser's address. */
  url: string;
  /** The folder that it was started on. */
  dataDir: string;
  /** The port on loopback at which the copy follows it; its own unless there is a proxy. */
  followedPort?: number;
}

/**
 * Copies the server into a new folder, with the signal to follow it. Returns the settings that the copy must be started
 * with. `port` is its own; null for any.
 */
export async function copyServer(
  from: Copied,
  dataDir: string,
  port: number | null,
): Promise<Record<string, string>> {
  const source = path.join(from.dataDir, 'postgres');
  const target = path.join(dataDir, 'postgres');
  const sql = connect({ url: from.url, connections: 1 });
  try {
    await sql`select pg_backup_start('standby', true)`;
    await copyFolder(source, target);
    const [backup] = await sql<{ labelfile: string }[]>`
      select labelfile from pg_backup_stop(false)`;
    await writeFile(path.join(target, 'backup_label'), must(backup, 'backup').labelfile);
  } finally {
    await sql.end();
  }
  await mkdir(path.join(target, 'pg_wal'), { mode: 0o700 });
  await writeFile(path.join(target, 'standby.signal'), '');
  const credentials = must(await readCredentials(from.dataDir), 'credentials');
  await writeCredentials(dataDir, { ...credentials, port });
  const { hostname, port: ownPort, username, password } = new URL(from.url);
  const followedPort = from.followedPort ?? ownPort;
  const followed = { host: hostname, port: followedPort, user: username, password };
  const primary_conninfo = Object.entries(followed)
    .map((pair) => pair.join('='))
    .join(' ');
  return { primary_conninfo };
}

/** Files that belong to one server only; the log is streamed. Temporary files are created again. */
const LEFT_OUT = /^(pg_wal|postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*)$/;

/** Copies files that come and go meanwhile, as they do in a running server. */
async function copyFolder(source: string, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700, recursive: true });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [path.join(source, entry.name), path.join(target, entry.name)];
    if (LEFT_OUT.test(entry.name)) continue;
    if (entry.isDirectory()) await copyFolder(from, to);
    else await copyFile(from, to).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
