/** Keeps places for new clients when others hold all connections of a server. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network-of.ts';

/** State of a connection: without a request, or with one that waits for its client, or for the service. */
export type Standing = 'idle' | 'waiting for its client' | 'served';

/** A network with more than one in so many of all connections has so many that even those with requests are closed. */
const LARGE_SHARE = 10;

/**
 * Closes a connection for each new one beyond `max`: the oldest without a request of the largest network that has one; or, in another
 * network than that of the new one, the oldest that waits for its client, when that network has a large share of all or no other
 * connection is without a request. So an address that opens all of them closes its own; a proxy, which is one address, loses one
 * that it does not use, and opens another; and an office keeps its uploads while others have connections without a request. The new
 * one is closed when all others of its network have requests and those of other networks are being served.
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
    if (open > max)
      findClosable({ networks, own: sockets, added: socket, max }, standingOf)?.destroy();
  });
}

interface Crowd {
  networks: ReadonlyMap<string, ReadonlySet<Socket>>;
  /** The connection beyond the maximum, and those of its network. */
  added: Socket;
  own: ReadonlySet<Socket>;
  max: number;
}

/** Returns the connection to close. */
function findClosable(
  { networks, added, own, max }: Crowd,
  standingOf: (socket: Socket) => Standing,
): Socket | null {
  const ofLargest = (wanted: Standing, except: ReadonlySet<Socket> | null) => {
    let found: { socket: Socket | null; size: number } = { socket: null, size: 0 };
    for (const sockets of networks.values()) {
      if (sockets.size <= found.size || sockets === except) continue;
      const socket = firstOf(sockets, (one) => standingOf(one) === wanted);
      if (socket !== null) found = { socket, size: sockets.size };
    }
    return found;
  };
  const idle = ofLargest('idle', null);
  const waiting = ofLargest('waiting for its client', own);
  const isOnlyAdded = idle.socket === null || idle.socket === added;
  const isLarge = waiting.size * LARGE_SHARE > max && waiting.size > idle.size;
  if (isLarge || (isOnlyAdded && waiting.size >= idle.size)) return waiting.socket ?? idle.socket;
  return idle.socket;
}

/** Returns the oldest open connection that `isWanted`. */
function firstOf(
  sockets: ReadonlySet<Socket>,
  isWanted: (socket: Socket) => boolean,
): Socket | null {
  for (const socket of sockets) if (!socket.destroyed && isWanted(socket)) return socket;
  return null;
}
