/**
 * Clients of Redis or Valkey, standalone or as a cluster. Each use has its own client, because each behaves
 * differently while Redis is unavailable: a limit is decided without it at once, an added job fails soon (its row
 * in Postgres is the truth), a worker waits.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../log.ts';

export type RedisClient = Redis | Cluster;

export type RedisUse = 'limits' | 'enqueue' | 'work' | 'check';

/** A running server accepts in milliseconds; one lost packet is sent again after a second. */
const CONNECT_MS_MAX = 3_000;
/** Limits are exact again within 5 s of the server's return: connecting is retried at least every second. */
const RECONNECT_MS_MAX = 1_000;
/** Idle time after which probes check that the other side is alive. */
const KEEP_ALIVE_MS = 10_000;

/** Time that a worker waits for a job in one command. */
export const JOB_WAIT_SECONDS = 2;
/**
 * Maximum silence of a server that a worker has asked. A frozen primary keeps its connections: without this, workers would
 * wait until it resumes, though a replica was promoted long ago.
 */
const WORK_SILENCE_MS_MAX = JOB_WAIT_SECONDS * 1_000 + 2_000;

/** Options of the client as a whole. */
interface ClientOptions {
  enableOfflineQueue: boolean;
  enableAutoPipelining: boolean;
  lazyConnect: boolean;
}

/** Options of a connection, to each node of a cluster. */
type NodeOptions = Pick<
  RedisOptions,
  'maxRetriesPerRequest' | 'commandTimeout' | 'socketTimeout' | 'autoResendUnfulfilledCommands'
>;

const failFast = { enableOfflineQueue: false, enableAutoPipelining: false, lazyConnect: false };

const uses: Record<RedisUse, { client: ClientOptions; node: NodeOptions }> = {
  limits: {
    // Concurrent calls share a round trip.
    client: { ...failFast, enableAutoPipelining: true },
    node: {
      maxRetriesPerRequest: 0,
      // A command in flight when a connection broke may have run: resending would run it twice.
      autoResendUnfulfilledCommands: false,
      // A vanished peer sends nothing, and the kernel would wait for minutes.
      socketTimeout: 1_000,
    },
  },
  enqueue: {
    client: failFast,
    node: {
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // A thousand jobs are added in about 30 ms.
      commandTimeout: 2_000,
      socketTimeout: 5_000,
    },
  },
  // BullMQ blocks on a copy of this connection and sends commands that wait forever.
  work: {
    client: { ...failFast, enableOfflineQueue: true },
    node: { maxRetriesPerRequest: null, socketTimeout: WORK_SILENCE_MS_MAX },
  },
  check: {
    client: { ...failFast, enableOfflineQueue: true, lazyConnect: true },
    node: { maxRetriesPerRequest: 1, commandTimeout: CONNECT_MS_MAX },
  },
};

/**
 * Opens a client of `REDIS_URL`; several nodes are a cluster. It connects by itself, and reconnects when the
 * connection is lost, which is logged. The caller ends it with `disconnect()`.
 */
export function connectRedis(url: string, use: RedisUse, log: Pick<Log, 'warn'>): RedisClient {
  const nodes = url.split(',').map((node) => node.trim());
  const { client: options, node } = uses[use];
  const nodeOptions = { ...node, connectTimeout: CONNECT_MS_MAX, keepAlive: KEEP_ALIVE_MS };
  const client =
    nodes.length === 1
      ? new Redis(url, { ...options, ...nodeOptions, retryStrategy })
      : openCluster(nodes, options, nodeOptions);
  let isLogged = false;
  client.on('error', (error) => {
    // Every attempt to connect fails while Redis is unavailable: one log line is enough.
    if (!isLogged) log.warn({ err: error, use }, 'redis error');
    isLogged = true;
  });
  client.on('ready', () => {
    isLogged = false;
  });
  return client;
}

function openCluster(nodes: string[], options: ClientOptions, nodeOptions: NodeOptions): Cluster {
  const parsed = nodes.map((node) => new URL(node));
  const [first] = parsed;
  const isTls = first?.protocol === 'rediss:';
  return new Cluster(
    parsed.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6379) })),
    {
      ...options,
      clusterRetryStrategy: retryStrategy,
      // With TLS a node is identified by the name in its certificate, not by an address.
      ...(isTls ? { dnsLookup: (host, found) => found(null, host) } : {}),
      redisOptions: {
        ...nodeOptions,
        ...(first?.username ? { username: decodeURIComponent(first.username) } : {}),
        ...(first?.password ? { password: decodeURIComponent(first.password) } : {}),
        ...(isTls ? { tls: {} } : {}),
      },
    },
  );
}

function retryStrategy(attempts: number): number {
  return Math.min(RECONNECT_MS_MAX, attempts * 50 + Math.floor(Math.random() * 50));
}
