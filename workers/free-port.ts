import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns the port if it is free on this host, else 0, which picks a free one. */
export async function portOrAny(host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return port;
  } catch {
    return 0;
  } finally {
    probe.close();
  }
}
