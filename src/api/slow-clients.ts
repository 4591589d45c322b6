/**
 * Finds clients that keep a connection by doing next to nothing: a body or an answer that goes on by less
 * than a byte rate, measured only while nobody but the client is waited for.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface RateLimits {
  /** Of a body that is sent, and of an answer that is read. */
  bytesPerSecondMin: number;
  /** Over which the rate is measured. */
  rateMs: number;
  /** For the rest of a body whose request was answered before its end: nobody uses it. */
  drainMs: number;
  /** How often connections are looked at. */
  checkMs: number;
}

/** A request under way. Each moment is when the client began to be waited for, and what had moved then. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  sending: Moment | null;
  reading: Moment | null;
  answeredAt: number | null;
}

interface Moment {
  at: number;
  bytes: number;
}

/** Calls back once for each request whose client is too slow, as long as the server is open. */
export function watchSlowClients(
  server: Server,
  limits: RateLimits,
  onSlow: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const exchanges = new Set<Exchange>();
  server.on('request', (request, response) => {
    exchanges.add({ request, response, sending: null, reading: null, answeredAt: null });
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const exchange of exchanges) {
      const { request, response } = exchange;
      const isOver = request.socket.destroyed || (request.complete && response.writableFinished);
      const isSlow = !isOver && isTooSlow(exchange, now, limits);
      if (isOver || isSlow) exchanges.delete(exchange);
      if (isSlow) onSlow(request, response);
    }
  }, limits.checkMs);
  timer.unref();
  server.on('close', () => clearInterval(timer));
}

function isTooSlow(exchange: Exchange, now: number, limits: RateLimits): boolean {
  const { request, response } = exchange;
  const { socket } = request;
  // What lies there unread waits for us.
  const isSending = !request.complete && request.readableLength === 0;
  const isReading = response.writableLength > 0;
  exchange.sending = isSending ? renew(exchange.sending, now, socket.bytesRead, limits) : null;
  exchange.reading = isReading ? renew(exchange.reading, now, bytesTaken(socket), limits) : null;
  exchange.answeredAt = response.writableFinished ? (exchange.answeredAt ?? now) : null;
  const { sending, reading, answeredAt } = exchange;
  return (
    now - (sending?.at ?? now) > limits.rateMs ||
    now - (reading?.at ?? now) > limits.rateMs ||
    now - (answeredAt ?? now) > limits.drainMs
  );
}

/** The moment as it was, or now when enough has moved since. */
function renew(
  since: Moment | null,
  now: number,
  bytes: number,
  { bytesPerSecondMin, rateMs }: RateLimits,
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
