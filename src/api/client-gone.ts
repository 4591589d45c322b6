import type { Response } from 'express';
import { AppError } from '../core/lib/errors.ts';

const signals = new WeakMap<Response, AbortSignal>();

/**
 * Returns a signal that aborts with 499 `client_gone` when the connection closes before the response is complete. It is
 * the same for every caller: a response has one listener for all of them.
 */
export function clientGone(response: Response): AbortSignal {
  const known = signals.get(response);
  if (known !== undefined) return known;
  const gone = new AbortController();
  signals.set(response, gone.signal);
  const leave = () => {
    if (!response.writableFinished) gone.abort(goneError());
  };
  if (response.destroyed) leave();
  else response.once('close', leave);
  return gone.signal;
}

function goneError(): AppError {
  return new AppError({
    code: 'client_gone',
    status: 499,
    message: 'The client closed the connection before the response.',
  });
}
