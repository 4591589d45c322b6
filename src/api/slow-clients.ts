/**
 * Finds clients that keep a connection by doing next to nothing: a body or an answer that goes on by less
 * than a byte rate, measured only while nobody but the client is waited for, and idle ones in a crowd.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface SlownessLimits {
  /** Of a body that is sent, and of an answer that is read. */
  bytesPerSecondMin: number;
  /** Over which the rate is measured. */
  rateMs: number;
  /** For the rest of a body whose request was answered before its end: nobody uses it. */
  drainMs: number;
  /** So many connections are a crowd, for `crowdMs` after they were last seen. */
  crowdFrom: number;
  crowdMs: number;
  /** For which a connection may wait for its next request in a crowd. */
  crowdedIdleMs: number;
  /** How often connections are looked at. */
  checkMs: number;
}

/** The last request of a connection, and since when what: a moment is null while it does not apply. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  sending: Moment | null;
  reading: Moment | null;
  answered: Moment | null;
}

interface Moment {
  at: number;
  /** The bytes that had moved on the connection by then. */
  bytes: number;
}

/** Calls back once for each request whose client is too slow, as long as the server is open. */
export function watchSlowClients(
  server: Server,
  limits: SlownessLimits,
  onSlow: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const exchanges = new Map<Socket, Exchange>();
  server.on('request', (request, response) => {
    const { socket } = request;
    exchanges.set(socket, { request, response, sending: null, reading: null, answered: null });
  });
  let crowdedUntil = 0;
  const check = () => {
    const now = performance.now();
    if (exchanges.size >= limits.crowdFrom) crowdedUntil = now + limits.crowdMs;
    const isCrowded = now < crowdedUntil;
    for (const [socket, exchange] of exchanges) {
      if (!socket.destroyed && !isTooSlow(exchange, now, isCrowded, limits)) continue;
      exchanges.delete(socket);
      if (!socket.destroyed) onSlow(exchange.request, exchange.response);
    }
  };
  const timer = setInterval(check, limits.checkMs).unref();
  server.on('close', () => clearInterval(timer));
}

function isTooSlow(
  exchange: Exchange,
  now: number,
  isCrowded: boolean,
  limits: SlownessLimits,
): boolean {
  const { request, response } = exchange;
  const { socket } = request;
  // What lies there unread waits for us.
  const isSending = !request.complete && request.readableLength === 0;
  const isReading = socket.writableLength > 0;
  exchange.sending = isSending ? renew(exchange.sending, now, socket.bytesRead, limits) : null;
  exchange.reading = isReading ? renew(exchange.reading, now, bytesTaken(socket), limits) : null;
  exchange.answered = response.writableFinished
    ? (exchange.answered ?? { at: now, bytes: 0 })
    : null;
  const answeredMsMax = request.complete ? limits.crowdedIdleMs : limits.drainMs;
  return (
    lasts(exchange.sending, now, limits.rateMs) ||
    lasts(exchange.reading, now, limits.rateMs) ||
    ((isCrowded || !request.complete) && lasts(exchange.answered, now, answeredMsMax))
  );
}

function lasts(since: Moment | null, now: number, ms: number): boolean {
  return since !== null && now - since.at > ms;
}

/** The moment as it was, or now when enough has moved since. */
function renew(
  since: Moment | null,
  now: number,
  bytes: number,
  { bytesPerSecondMin, rateMs }: SlownessLimits,
): Moment {
  const enough = (bytesPerSecondMin * rateMs) / 1000;
  return since === null || bytes - since.bytes >= enough ? { at: now, bytes } : since;
}

/**
 * Bytes that the kernel has taken. `writeQueueSize` is what is left of the block that it is taking piece by
 * piece; without it a slow reader of a large block would seem to stand still.
 */
function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return socket.bytesWritten - (handle?.writeQueueSize ?? socket.writableLength);
}
