import { once } from 'node:events';
import type { Server } from 'node:http';
import { unavailable } from './errors.ts';

/** Waits until a server listens. Throws `AppError` 503 `port_in_use` with this message when another program has the port. */
export async function untilListening(server: Server, message: string): Promise<void> {
  try {
    await once(server, 'listening');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    throw unavailable('port_in_use', message, { cause });
  }
}
