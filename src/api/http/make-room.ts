/** Keeps places for new clients when others hold all connections of a server. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network-of.ts';

/** State of a connection: without a request, or with one that waits for its client, or for the service. */
export type Standing = 'idle' | 'waiting for its client' | 'served';

/**
 * Closes a connection for each new one beyond `max`: the oldest without a request of the largest network; when that has none, and
 * is not the network of the new one, the oldest that waits for its client; otherwise the same of the next largest network. So an
 * address that opens all of them closes its own; a proxy, which is one address, loses one that it does not use, and opens
 * another. The new one is closed when all others of its network have requests and those of other networks are being served.
 */
export function makeRoom(
  server: Server,
  max: number,
  standingOf: (socket: Socket) => Standing,
): void {
  const networks = new Map<string, Set<Socket>>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    const network = networkOf({ ip: socket.remoteAddress });
    const sockets = networks.get(network) ?? new Set();
    networks.set(network, sockets.add(socket));
    open += 1;
    socket.once('close', () => {
      open -= 1;
      sockets.delete(socket);
      if (sockets.size === 0) networks.delete(network);
    });
    if (open > max) findClosable(networks, sockets, standingOf)?.destroy();
  });
}

/** Returns the connection to close for one that was added to `own`. */
function findClosable(
  networks: ReadonlyMap<string, ReadonlySet<Socket>>,
  own: ReadonlySet<Socket>,
  standingOf: (socket: Socket) => Standing,
): Socket | null {
  let found: Socket | null = null;
  let largest = 0;
  for (const sockets of networks.values()) {
    if (sockets.size <= largest) continue;
    const standing = (wanted: Standing) => firstOf(sockets, (one) => standingOf(one) === wanted);
    const closable =
      standing('idle') ?? (sockets === own ? null : standing('waiting for its client'));
    if (closable === null) continue;
    found = closable;
    largest = sockets.size;
  }
  return found;
}

/** Returns the oldest open connection that `isWanted`. */
function firstOf(
  sockets: ReadonlySet<Socket>,
  isWanted: (socket: Socket) => boolean,
): Socket | null {
  for (const socket of sockets) if (!socket.destroyed && isWanted(socket)) return socket;
  return null;
}
