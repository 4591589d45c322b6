/**
 * An S3 server in this process on a free loopback port, with one bucket in memory. A relay between it and its
 * clients counts bytes and can cut connections. It does not check signatures.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { CreateBucketCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { buildApp } from 'fauxqs';
import { readConfig } from '../../src/core/config.ts';
import { openS3Client } from '../../src/core/storage/s3-client.ts';
import type { S3Config } from '../../src/core/storage-config.ts';

const Bucket = 'enrich-tests';

/** A call as the server sees it. */
export interface S3Call {
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

export type S3Server = Awaited<ReturnType<typeof startS3Server>>;

export async function startS3Server() {
  const app = buildApp({ logger: false });
  const unfinished = { uploads: 0 };
  const faults: { answer?: (call: S3Call) => number | undefined } = {};
  app.addHook('preHandler', async (request, reply) => {
    const status = faults.answer?.(request);
    if (status !== undefined) await reply.code(status).send();
  });
  app.addHook('onResponse', async (request, reply) => {
    const { uploads, uploadId } = request.query as Record<string, string | undefined>;
    if (reply.statusCode >= 300) return;
    if (request.method === 'POST' && uploads !== undefined) unfinished.uploads++;
    // Completed or aborted.
    if (request.method !== 'PUT' && uploadId !== undefined) unfinished.uploads--;
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const relay = await startRelay((app.server.address() as AddressInfo).port);
  const environment = {
    S3_BUCKET: Bucket,
    S3_ENDPOINT: `http://127.0.0.1:${relay.port}`,
    S3_ACCESS_KEY_ID: 'tester',
    S3_SECRET_ACCESS_KEY: 'secret of the tester',
  };
  const config = readConfig(environment).storage as S3Config;
  const client = openS3Client(config);
  await client.send(new CreateBucketCommand({ Bucket }));
  return {
    /** Config options for a process to use the bucket. */
    environment,
    config,
    relay,
    /** A test's response instead of the server's: a status, or undefined to let the server respond. */
    faults,
    /** Multipart uploads that were started but neither completed nor aborted. */
    unfinished,

    /** Keys of all objects in order. */
    async keys(): Promise<string[]> {
      const keys: string[] = [];
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
        keys.push(...Contents.map(({ Key = '' }) => Key));
      }
      return keys;
    },

    async close(): Promise<void> {
      client.destroy();
      relay.close();
      await app.close();
    },
  };
}

/** Relays bytes between clients and a port, with backpressure. */
async function startRelay(port: number) {
  const clients = new Set<Socket>();
  const traffic = { fromClients: 0, toClients: 0 };
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('data', (bytes) => {
      traffic.fromClients += bytes.length;
    });
    upstream.on('data', (bytes) => {
      traffic.toClients += bytes.length;
    });
    // The end of either side ends the other.
    pipeline(client, upstream, client, () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    traffic,
    /** True while a client does not read its pending bytes. */
    isHeldUp: () => [...clients].some((client) => client.writableNeedDrain),
    connections: () => clients.size,
    cutConnections() {
      for (const client of clients) client.destroy();
    },
    close() {
      server.close();
      this.cutConnections();
    },
  };
}
