/** Keeps places for new clients when others hold all connections of a server. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network-of.ts';

/** A network with more than one in so many of all connections has so many that even those with requests are closed. */
const LARGE_SHARE = 10;

/** Functions to call when a connection gets a request, and when that has ended, with the bytes that its head takes in memory. */
export interface Room {
  enter(socket: Socket, headBytes: number): void;
  leave(socket: Socket, headBytes: number): void;
}

/** The maxima of all connections: their number, and the bytes that the heads of their requests take. */
interface RoomLimits {
  connectionsMax: number;
  headBytesMax: number;
}

/** The connections of a network. */
interface Connections {
  /** Those without a request, the first of which has had none for longest. */
  idle: Set<Socket>;
  /** The others, with the bytes of their heads. */
  busy: Map<Socket, number>;
  /** The sum of these bytes. */
  headBytes: number;
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
 *
 * It closes one too when the heads of all requests take more than `headBytesMax`: thousands of long ones take more memory than
 * there is. Of the network with the most bytes of long heads that is the oldest that waits for its client; or else the new one;
 * or else, when the new one has a short head, the oldest.
 */
export function makeRoom(
  server: Server,
  { connectionsMax: max, headBytesMax }: RoomLimits,
  isWaitingForClient: (socket: Socket) => boolean,
): Room {
  const networks = new Map<string, Connections>();
  const connectionsOf = new WeakMap<Socket, Connections>();
  let open = 0;
  let headBytes = 0;
  const addBytes = (own: Connections, bytes: number) => {
    own.headBytes += bytes;
    headBytes += bytes;
  };
  /** Takes a connection out that is, or will be, closed. */
  const forget = (socket: Socket) => {
    const own = connectionsOf.get(socket);
    if (own === undefined) return;
    connectionsOf.delete(socket);
    open -= 1;
    addBytes(own, -(own.busy.get(socket) ?? 0));
    own.idle.delete(socket);
    own.busy.delete(socket);
  };
  server.on('connection', (socket: Socket) => {
    const network = networkOf({ ip: socket.remoteAddress });
    const own = networks.get(network) ?? { idle: new Set(), busy: new Map(), headBytes: 0 };
    networks.set(network, own);
    connectionsOf.set(socket, own);
    own.idle.add(socket);
    open += 1;
    socket.once('close', () => {
      forget(socket);
      if (sizeOf(own) === 0 && networks.get(network) === own) networks.delete(network);
    });
    if (open > max)
      findClosable({ networks, own, added: socket, max }, isWaitingForClient)?.destroy();
  });
  return {
    enter(socket, bytes) {
      const own = connectionsOf.get(socket);
      if (own === undefined) return;
      own.idle.delete(socket);
      own.busy.set(socket, (own.busy.get(socket) ?? 0) + bytes);
      addBytes(own, bytes);
      while (headBytes > headBytesMax && connectionsOf.has(socket)) {
        const closed = findLongHead(networks, socket, isWaitingForClient) ?? socket;
        forget(closed);
        closed.destroy();
      }
    },
    leave(socket, bytes) {
      const own = connectionsOf.get(socket);
      if (own === undefined) return;
      addBytes(own, -bytes);
      const left = (own.busy.get(socket) ?? 0) - bytes;
      if (left > 0) own.busy.set(socket, left);
      else if (own.busy.delete(socket)) own.idle.add(socket);
    },
  };
}

/** Returns the connection to close for one that has got a request. A head is long if it has the mean of its network, or more. */
function findLongHead(
  networks: ReadonlyMap<string, Connections>,
  added: Socket,
  isWaitingForClient: (socket: Socket) => boolean,
): Socket | null {
  let most: Connections | undefined;
  for (const one of networks.values()) if (one.headBytes > (most?.headBytes ?? 0)) most = one;
  if (most === undefined) return null;
  const { busy, headBytes } = most;
  const isLong = (socket: Socket) => (busy.get(socket) ?? 0) * busy.size >= headBytes;
  const waiting = firstOf(busy.keys(), (socket) => isLong(socket) && isWaitingForClient(socket));
  return waiting ?? (isLong(added) ? added : firstOf(busy.keys(), isLong));
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
    connections === own ? null : firstOf(connections.busy.keys(), isWaitingForClient),
  );
  const isLarge = waiting.size * LARGE_SHARE > max;
  return isLarge || isOnlyAdded ? (waiting.socket ?? idle.socket) : idle.socket;
}

function sizeOf({ idle, busy }: Connections): number {
  return idle.size + busy.size;
}

/** Returns the oldest open connection that `isWanted`. */
function firstOf(sockets: Iterable<Socket>, isWanted: (socket: Socket) => boolean): Socket | null {
  for (const socket of sockets) if (!socket.destroyed && isWanted(socket)) return socket;
  return null;
}
