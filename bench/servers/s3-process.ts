/**
 * An S3 server as a separate program: objects in memory, on a free loopback port, which it prints. It exits
 * when its standard input closes. It does not check signatures.
 */
import type { AddressInfo } from 'node:net';
import { buildApp } from 'fauxqs';

const app = buildApp({ logger: false });
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
process.stdin.resume().on('end', () => process.exit(0));
