import { readDatabaseUrl } from '../lib/database-url.ts';
import { PrimaryWatch } from './primary.ts';
import type { ServerWatch } from './server-watch.ts';
import { SingleServer } from './single-server.ts';

const watches = new Map<string, ServerWatch>();

/**
 * Returns the watch of the servers of a URL, one for the whole process; null for a URL whose server only the drivers can
 * find, such as a socket of this machine.
 */
export function watchServers(url: string): ServerWatch | null {
  const known = watches.get(url);
  if (known !== undefined) return known;
  const servers = readDatabaseUrl(url);
  const [first] = servers;
  if (first === undefined || (servers.length === 1 && !isAddress(first.url))) return null;
  const watch = servers.length === 1 ? new SingleServer(first) : new PrimaryWatch(servers);
  watches.set(url, watch);
  return watch;
}

function isAddress(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  return hostname !== '' && !['host', 'port', 'path'].some((name) => searchParams.has(name));
}
