import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { AppError } from '../../core/lib/errors.ts';

const signals = new WeakMap<Response, AbortSignal>();

/**
 * Returns a signal that aborts with 499 `client_gone` when the connection closes before the response is complete. It is
 * the same for every caller: a response has one listener for all of them.
 */
export function clientGone(response: Response): AbortSignal {
  const known = signals.get(response);
  if (known !== undefined) return known;
  const gone = new AbortController();
  // Each query of a reconciliation call listens while it waits for its turn. Node takes more than ten listeners for a leak.
  setMaxListeners(0, gone.signal);
  signals.set(response, gone.signal);
  const leave = () => {
    if (!response.writableFinished) gone.abort(goneError());
  };
  if (response.destroyed) leave();
  else response.once('close', leave);
  return gone.signal;
}

/**
 * Leaves the connection open while the service reads for a response and sends nothing: a search may read a million rows before it
 * finds one. A client that does not take what was sent is cut as any other.
 */
export function allowSilence(response: Response): void {
  response.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
}

/**
 * Sends a stream as the response. Throws 499 `client_gone` when the client has disconnected before, and destroys the stream.
 */
export async function sendStream(
  stream: Readable,
  response: Response,
  signal?: AbortSignal,
): Promise<void> {
  const gone = clientGone(response);
  if (gone.aborted) stream.destroy();
  gone.throwIfAborted();
  await pipeline(stream, response, signal === undefined ? {} : { signal });
}

function goneError(): AppError {
  return new AppError({
    code: 'client_gone',
    status: 499,
    message: 'The client closed the connection before the response.',
  });
}
