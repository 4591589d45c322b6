/**
 * Finds clients that hold a connection but hardly use it: a request or response body below a byte rate, measured only
 * while the service waits for the client, and idle connections while the server is crowded.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isInDemand } from './open-responses.ts';

export interface SlownessLimits {
  /** Minimum rate of a body that a client sends, and of a response that it reads. */
  bytesPerSecondMin: number;
  /**
   * That of an upload or a download while all places of its kind are taken: clients that trickle would keep them from others for
   * days.
   */
  demandedBytesPerSecondMin: number;
  /** Time over which the rate is measured. */
  rateMs: number;
  /** Time for the unused rest of a body after the response. */
  drainMs: number;
  /** Number of connections from which on the server is crowded; it stays so for `crowdMs` after the last such check. */
  crowdFrom: number;
  crowdMs: number;
  /** Time for which a connection may wait for its next request while the server is crowded. */
  crowdedIdleMs: number;
  /** Time between two checks. */
  checkMs: number;
}

/** The request of a connection that was processed last, and the starts of its phases; null for a phase that it is not in. */
interface Exchange {
  /** Null when it is over: a connection that waits for its next request keeps nothing of the last one. */
  open: { request: IncomingMessage; response: ServerResponse } | null;
  sending: Moment | null;
  reading: Moment | null;
  responded: Moment | null;
}

interface Moment {
  at: number;
  /** Bytes transferred on the connection until then. */
  bytes: number;
}

/**
 * Calls `onSlow` once for each request whose client is too slow, until the server closes. Returns the function that takes a
 * request when it begins to be processed.
 */
export function watchSlowClients(
  server: Server,
  limits: SlownessLimits,
  onSlow: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const exchanges = new Map<Socket, Exchange>();
  let crowdedUntil = 0;
  const check = () => {
    const now = performance.now();
    if (exchanges.size >= limits.crowdFrom) crowdedUntil = now + limits.crowdMs;
    const isCrowded = now < crowdedUntil;
    for (const [socket, exchange] of exchanges) {
      if (!socket.destroyed && !isTooSlow(exchange, now, isCrowded, limits)) continue;
      exchanges.delete(socket);
      if (exchange.open === null) socket.destroy();
      else if (!socket.destroyed) onSlow(exchange.open.request, exchange.open.response);
    }
  };
  const timer = setInterval(check, limits.checkMs).unref();
  server.on('close', () => clearInterval(timer));
  return (request, response) => {
    const phases = { sending: null, reading: null, responded: null };
    const exchange: Exchange = { open: { request, response }, ...phases };
    exchanges.set(request.socket, exchange);
    onceOver(request, response, () => {
      exchange.open = null;
    });
  };
}

function isTooSlow(
  exchange: Exchange,
  now: number,
  isCrowded: boolean,
  limits: SlownessLimits,
): boolean {
  const { open } = exchange;
  if (open === null) {
    exchange.responded ??= { at: now, bytes: 0 };
    return isCrowded && lasts(exchange.responded, now, limits.crowdedIdleMs);
  }
  const { request, response } = open;
  const { socket } = request;
  const isReading = socket.writableLength > 0;
  const enough = (bodyRateMin(response, limits) * limits.rateMs) / 1000;
  exchange.sending = isSending(request)
    ? renew(exchange.sending, now, socket.bytesRead, enough)
    : null;
  exchange.reading = isReading ? renew(exchange.reading, now, bytesTaken(socket), enough) : null;
  exchange.responded = response.writableFinished
    ? (exchange.responded ?? { at: now, bytes: 0 })
    : null;
  const respondedMsMax = request.complete ? limits.crowdedIdleMs : limits.drainMs;
  return (
    lasts(exchange.sending, now, limits.rateMs) ||
    lasts(exchange.reading, now, limits.rateMs) ||
    ((isCrowded || !request.complete) && lasts(exchange.responded, now, respondedMsMax))
  );
}

function lasts(since: Moment | null, now: number, ms: number): boolean {
  return since !== null && now - since.at > ms;
}

/** Calls `over` when a response is over and its request has arrived, or has ended. */
function onceOver(request: IncomingMessage, response: ServerResponse, over: () => void): void {
  response.once('close', () => {
    if (request.complete) over();
    else request.once('close', over);
  });
}

/**
 * Returns true while the client has not sent the rest of the body. Bytes that have arrived and are not read yet are not its
 * delay.
 */
export function isSending({ complete, readableLength, socket }: IncomingMessage): boolean {
  return !complete && readableLength + socket.readableLength === 0;
}

/** Returns the minimum rate of the bodies of this exchange, in bytes per second. */
export function bodyRateMin(response: ServerResponse, limits: SlownessLimits): number {
  return isInDemand(response) ? limits.demandedBytesPerSecondMin : limits.bytesPerSecondMin;
}

/** Returns the moment unchanged, or now when enough bytes have been transferred since. */
function renew(since: Moment | null, now: number, bytes: number, enough: number): Moment {
  return since === null || bytes - since.bytes >= enough ? { at: now, bytes } : since;
}

/**
 * Returns the bytes that the kernel has accepted. `writeQueueSize` is the rest of the block that it is accepting piece by
 * piece; without it a slow reader of a large block would seem to be stalled.
 */
function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return socket.bytesWritten - (handle?.writeQueueSize ?? socket.writableLength);
}
