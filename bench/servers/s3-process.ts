/**
 * An S3 server as a program of its own: objects in memory, on a free port of loopback, which it prints.
 * It ends with its standard input. It checks no signatures.
 */
import type { AddressInfo } from 'node:net';
import { buildApp } from 'fauxqs';

const app = buildApp({ logger: false });
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
process.stdin.resume().on('end', () => process.exit(0));
