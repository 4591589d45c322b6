/** Keeps places for new clients when others hold all connections of a server. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network-of.ts';

/** A network with more than one in so many of all connections has so many that even those with requests are closed. */
const LARGE_SHARE = 10;

/** Functions to call when a connection gets its first request, and when it has none any more. */
export interface Room {
  enter(socket: Socket): void;
  leave(socket: Socket): void;
}

/** The connections of a network: those without a request, the first of which has had none for longest, and the others. */
interface Connections {
  idle: Set<Socket>;
  busy: Set<Socket>;
}

/**
 * Closes a connection for each new one beyond `max`:
 * - the oldest without a request, of the largest network that has one, or
 * - the oldest that waits for its client, if it is of another network than the new one, and that network has a large share of
 * all or no other connection is without a request.
 * The new one is closed when all others of its network have requests and those of other networks are being served.
 *
 * So an address that opens all connections closes its own; a proxy, which is one address, loses one that it does not use, and
 * opens another; and an office keeps its uploads while others have connections without a request. Connections without a
 * request are kept apart: searching for them among thousands with requests took milliseconds of the thread for each new
 * connection.
 */
export function makeRoom(
  server: Server,
  max: number,
  isWaitingForClient: (socket: Socket) => boolean,
): Room {
  const networks = new Map<string, Connections>();
  const connectionsOf = new WeakMap<Socket, Connections>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    const network = networkOf({ ip: socket.remoteAddress });
    const own = networks.get(network) ?? { idle: new Set(), busy: new Set() };
    networks.set(network, own);
    connectionsOf.set(socket, own);
    own.idle.add(socket);
    open += 1;
    socket.once('close', () => {
      open -= 1;
      connectionsOf.delete(socket);
      own.idle.delete(socket);
      own.busy.delete(socket);
      if (sizeOf(own) === 0) networks.delete(network);
    });
    if (open > max)
      findClosable({ networks, own, added: socket, max }, isWaitingForClient)?.destroy();
  });
  const move = (socket: Socket, from: keyof Connections, to: keyof Connections) => {
    const own = connectionsOf.get(socket);
    if (own?.[from].delete(socket)) own[to].add(socket);
  };
  return {
    enter: (socket) => move(socket, 'idle', 'busy'),
    leave: (socket) => move(socket, 'busy', 'idle'),
  };
}

interface Crowd {
  networks: ReadonlyMap<string, Connections>;
  /** The connection beyond the maximum, and those of its network. */
  added: Socket;
  own: Connections;
  max: number;
}

/** Returns the connection to close. */
function findClosable(
  { networks, added, own, max }: Crowd,
  isWaitingForClient: (socket: Socket) => boolean,
): Socket | null {
  const ofLargest = (above: number, find: (connections: Connections) => Socket | null) => {
    let found: { socket: Socket | null; size: number } = { socket: null, size: above };
    for (const connections of networks.values()) {
      if (sizeOf(connections) <= found.size) continue;
      const socket = find(connections);
      if (socket !== null) found = { socket, size: sizeOf(connections) };
    }
    return found;
  };
  const idle = ofLargest(0, (connections) => firstOf(connections.idle, () => true));
  const isOnlyAdded = idle.socket === null || idle.socket === added;
  // Smaller networks keep theirs, so they are not searched.
  const waiting = ofLargest(isOnlyAdded ? idle.size - 1 : idle.size, (connections) =>
    connections === own ? null : firstOf(connections.busy, isWaitingForClient),
  );
  const isLarge = waiting.size * LARGE_SHARE > max;
  return isLarge || isOnlyAdded ? (waiting.socket ?? idle.socket) : idle.socket;
}

function sizeOf({ idle, busy }: Connections): number {
  return idle.size + busy.size;
}

/** Returns the oldest open connection that `isWanted`. */
function firstOf(
  sockets: ReadonlySet<Socket>,
  isWanted: (socket: Socket) => boolean,
): Socket | null {
  for (const socket of sockets) if (!socket.destroyed && isWanted(socket)) return socket;
  return null;
}
