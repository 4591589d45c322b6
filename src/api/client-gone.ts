import type { Response } from 'express';
import { AppError } from '../core/lib/errors.ts';

/** Returns a signal that aborts with 499 `client_gone` when the connection closes before the response is complete. */
export function clientGone(response: Response): AbortSignal {
  const gone = new AbortController();
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
