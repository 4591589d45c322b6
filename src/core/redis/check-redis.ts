/** Requirements of a Redis, checked before a process starts on it. */
import { Cluster } from 'ioredis';
import { explainCertificate } from '../lib/certificate.ts';
import { AppError, unavailable } from '../lib/errors.ts';
import type { Log } from '../log.ts';
import { connectRedis, type RedisClient } from './client.ts';

/** BullMQ's scripts and the limits need nothing newer; older versions lack commands that they use. */
const VERSION_MIN = [6, 2] as const;
const PORT_DEFAULT = 6379;

/**
 * Checks every server of `REDIS_URL`. Throws `AppError` `redis_unreachable`, `certificate_refused`, `redis_too_old`, or
 * `redis_may_evict` for a server that deletes keys when its memory is full, which would silently lose jobs and limits. Warns when
 * a managed service does not report its policy. Does nothing without `REDIS_URL`.
 */
export async function checkRedis(url: string | undefined, log: Pick<Log, 'warn'>): Promise<void> {
  if (url === undefined) return;
  const client = connectRedis(url, 'check', log);
  try {
    const servers = await listServers(client, url);
    for (const server of servers) checkServer(server, log);
  } finally {
    client.disconnect();
  }
}

interface Server {
  name: string;
  info: string;
}

async function listServers(client: RedisClient, url: string): Promise<Server[]> {
  // The promise of a connection says only that it was closed; this has the reason.
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  try {
    await client.connect();
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    return await Promise.all(
      nodes.map(async (node) => ({
        name: `${node.options.host}:${node.options.port}`,
        info: await node.info(),
      })),
    );
  } catch (error) {
    throw await unreachable(url, reason ?? error);
  }
}

async function unreachable(url: string, cause: unknown): Promise<AppError> {
  const nodes = url.split(',').map((node) => new URL(node.trim()));
  for (const { hostname: host, port } of nodes) {
    const server = { name: 'Redis', host, port: Number(port || PORT_DEFAULT) } as const;
    const explained = await explainCertificate(cause, { ...server, option: 'REDIS_URL' });
    if (explained !== null) return unavailable('certificate_refused', explained, { cause });
  }
  const hosts = nodes.map(({ host }) => host).join(', ');
  const reason = cause instanceof Error ? cause.message : String(cause);
  return unavailable(
    'redis_unreachable',
    `Redis at ${hosts} (REDIS_URL) does not respond: ${reason.replace(/\.$/, '')}. Check REDIS_URL, and that the server is running.`,
    { cause },
  );
}

/** Checks one server; throws as `checkRedis`. `info` is the response of the command INFO. */
export function checkServer({ name, info }: Server, log: Pick<Log, 'warn'>): void {
  const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
  const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
  if (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1])) {
    throw new AppError({
      code: 'redis_too_old',
      status: 500,
      message: `Redis at ${name} has version ${major}.${minor}. Run ${VERSION_MIN.join('.')} or newer, or Valkey.`,
    });
  }
  const policy = /^maxmemory_policy:([\w-]+)/m.exec(info)?.[1];
  if (policy === undefined) {
    log.warn(
      { redis: name },
      'this Redis does not report its maxmemory-policy: make sure that it is noeviction',
    );
  } else if (policy !== 'noeviction') {
    throw new AppError({
      code: 'redis_may_evict',
      status: 500,
      message: `Redis at ${name} has maxmemory-policy ${policy}: when its memory is full it would delete jobs and limits. Set \`maxmemory-policy noeviction\` in its configuration (at once: \`CONFIG SET maxmemory-policy noeviction\`).`,
    });
  }
}
