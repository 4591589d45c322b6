/** Keeps places for new clients when others hold all connections of a server. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network-of.ts';

/**
 * Closes a connection for each one beyond `max`: of the networks with one that has no request in progress the largest, and of
 * its connections the one that was opened first. So an address that opens all of them closes its own; a proxy, which is one
 * address, loses one that it does not use, and opens the next. The new one is closed when all others have requests.
 */
export function makeRoom(
  server: Server,
  max: number,
  hasRequest: (socket: Socket) => boolean,
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
    if (open > max) firstWithout(hasRequest, networks)?.destroy();
  });
}

/** Returns the oldest connection without a request in the largest network that has one. */
function firstWithout(
  hasRequest: (socket: Socket) => boolean,
  networks: ReadonlyMap<string, ReadonlySet<Socket>>,
): Socket | null {
  let found: Socket | null = null;
  let largest = 0;
  for (const sockets of networks.values()) {
    if (sockets.size <= largest) continue;
    for (const socket of sockets) {
      if (socket.destroyed || hasRequest(socket)) continue;
      found = socket;
      largest = sockets.size;
      break;
    }
  }
  return found;
}
