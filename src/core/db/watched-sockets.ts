/** The open connections of this process to the servers of a URL, and when each last received something. */
import type { Socket } from 'node:net';
import type { DatabaseServer } from '../lib/database-url.ts';

/** No server responds on this connection. */
class NoResponse extends Error {
  override readonly name = 'NoResponse';
  readonly code = 'ETIMEDOUT';
}

interface Watched {
  server: DatabaseServer;
  bytesRead: number;
  /** Time of `note` at which it had received more than at the one before, or its opening. */
  heardAt: number;
}

export class WatchedSockets {
  readonly #sockets = new Map<Socket, Watched>();
  readonly #onEmpty: () => void;

  /** `onEmpty` is called when the last one has closed. */
  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket, server: DatabaseServer): void {
    this.#sockets.set(socket, { server, bytesRead: 0, heardAt: performance.now() });
    socket.once('close', () => this.#forget(socket));
  }

  /** Notes which sockets have received something since the last call. */
  note(): void {
    const now = performance.now();
    for (const [socket, watched] of this.#sockets) {
      // For TLS the driver removes all listeners of the socket.
      if (socket.destroyed) this.#forget(socket);
      if (socket.bytesRead === watched.bytesRead) continue;
      watched.bytesRead = socket.bytesRead;
      watched.heardAt = now;
    }
  }

  /** Returns true when a socket has received something since this time, as of the last `note`. */
  haveHeardSince(time: number): boolean {
    for (const { bytesRead, heardAt } of this.#sockets.values()) {
      if (bytesRead > 0 && heardAt > time) return true;
    }
    return false;
  }

  /**
   * Destroys sockets. Their drivers connect again; a statement that waits for a connection that is not open yet fails,
   * because it would wait for the next one instead. Returns the number of sockets.
   */
  destroy(isEnded: (watched: Readonly<Watched>) => boolean): number {
    let count = 0;
    for (const [socket, watched] of this.#sockets) {
      if (!isEnded(watched)) continue;
      // With TLS, which begins with an answer, no one listens to the socket below.
      socket.destroy(
        socket.bytesRead === 0 ? new NoResponse('The server does not respond.') : undefined,
      );
      count += 1;
    }
    return count;
  }

  #forget(socket: Socket): void {
    if (this.#sockets.delete(socket) && this.size === 0) this.#onEmpty();
  }
}
