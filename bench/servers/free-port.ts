import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to connections and to servers without a port of their own (Linux: from 32768). */
const [FIRST, LAST] = [10_000, 31_999];
const PER_PROCESS = 100;

const slices = (LAST + 1 - FIRST) / PER_PROCESS;
const first = FIRST + (process.pid % slices) * PER_PROCESS;
let taken = 0;

/**
 * Returns a port of 127.0.0.1 for a server that is started later, and that finds it free whenever it is started again: no
 * connection gets it meanwhile, and no other process of these programs. Throws when all ports of this process are in use.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PER_PROCESS; tries++) {
    const port = first + (taken++ % PER_PROCESS);
    if (await isFree(port)) return port;
  }
  throw new Error(`the ports ${first} to ${first + PER_PROCESS - 1} are all in use`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
