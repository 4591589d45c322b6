/**
 * A throw-away Redis Cluster: three primaries, each with a third of the slots, and a replica of each if wanted. One primary can
 * be lost and brought back; the cluster promotes its replica by itself.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { must } from '../../src/core/lib/assert.ts';
import { freePort } from './free-port.ts';
import { endRedis, launchRedis } from './redis-process.ts';

const SLOTS = 16_384;
const PRIMARIES = 3;
/** A node that is silent for longer has failed. */
const NODE_TIMEOUT_MS = 2_000;
const READY_MS_MAX = 30_000;
const LOOK_AGAIN_MS = 50;
const START_TRIES = 3;

/** A line of `CLUSTER NODES`. */
interface Listed {
  id: string;
  port: number;
  isPrimary: boolean;
  hasFailed: boolean;
}

class Node {
  readonly port: number;
  readonly busPort: number;
  /** For commands to this node alone. */
  readonly client: Redis;
  readonly #folder: string;
  #server: ChildProcess;

  private constructor(port: number, busPort: number, folder: string, server: ChildProcess) {
    this.port = port;
    this.busPort = busPort;
    this.#folder = folder;
    this.#server = server;
    this.client = new Redis(port, '127.0.0.1', { retryStrategy: () => LOOK_AGAIN_MS });
    // A server that was lost on purpose is no news.
    this.client.on('error', () => {});
  }

  /** Starts a node. Another program may take a port before the node does: then with other ports. */
  static async start(folder: string, tries = START_TRIES): Promise<Node> {
    const [port, busPort] = [await freePort(), await freePort()];
    const own = path.join(folder, String(port));
    await mkdir(own);
    try {
      return new Node(port, busPort, own, await launch(port, busPort, own));
    } catch (error) {
      if (tries === 1) throw error;
      return Node.start(folder, tries - 1);
    }
  }

  lose(how: 'kill' | 'freeze'): void {
    this.#server.kill(how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  }

  /** Brings it back with its place in the cluster; one that was killed is empty. */
  async giveBack(how: 'kill' | 'freeze'): Promise<void> {
    if (how === 'freeze') this.#server.kill('SIGCONT');
    else this.#server = await launch(this.port, this.busPort, this.#folder);
  }

  async list(): Promise<Listed[]> {
    const text = String(await this.client.call('CLUSTER', 'NODES'));
    return text.trim().split('\n').map(readListed);
  }

  async end(): Promise<void> {
    this.client.disconnect();
    await endRedis(this.#server);
  }
}

export class RedisCluster implements AsyncDisposable {
  readonly nodes: readonly Node[];
  readonly #folder: string;
  readonly #hasReplicas: boolean;

  private constructor(nodes: readonly Node[], folder: string, hasReplicas: boolean) {
    this.nodes = nodes;
    this.#folder = folder;
    this.#hasReplicas = hasReplicas;
  }

  /** Starts the nodes. Resolves when all know each other, and the replicas follow. */
  static async open({ hasReplicas }: { hasReplicas: boolean }): Promise<RedisCluster> {
    const folder = await mkdtemp(path.join(tmpdir(), 'enrich-redis-cluster-'));
    const nodes: Node[] = [];
    const cluster = new RedisCluster(nodes, folder, hasReplicas);
    try {
      const count = hasReplicas ? PRIMARIES * 2 : PRIMARIES;
      for (let number = 0; number < count; number++) nodes.push(await Node.start(folder));
      await cluster.#join();
      if (hasReplicas) await cluster.#addReplicas();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** As in `REDIS_URL`: the nodes separated by commas. */
  get url(): string {
    return this.nodes.map(({ port }) => `redis://127.0.0.1:${port}`).join(',');
  }

  /** The nodes that serve slots now. */
  async primaries(): Promise<Node[]> {
    const asked = must(this.nodes[0], 'a node');
    return this.#primariesOf(await asked.list());
  }

  /** The node that serves the slot of a key now: the others refuse it. */
  async primaryOf(key: string): Promise<Node> {
    for (const node of await this.primaries()) {
      if ((await node.client.exists(key).catch(() => null)) !== null) return node;
    }
    throw new Error(`no node serves ${key}`);
  }

  /** Resolves when the other nodes know that a node is lost and, where there are replicas, have promoted one in its place. */
  async failover(lost: Node): Promise<void> {
    const asked = must(
      this.nodes.find((node) => node !== lost),
      'another node',
    );
    const promoted = this.#hasReplicas ? PRIMARIES : PRIMARIES - 1;
    await until('a lost primary is noticed and replaced', async () => {
      const primaries = this.#primariesOf(await asked.list());
      return primaries.length === promoted && !primaries.includes(lost);
    });
  }

  /** Resolves when a node that was given back has its place: as a replica where there are any. */
  async returned(node: Node): Promise<void> {
    if (this.#hasReplicas) return following(node);
    await until('the node that was lost is a primary', async () =>
      this.#primariesOf(await must(this.nodes[0], 'a node').list()).includes(node),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) await node.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #primariesOf(listed: readonly Listed[]): Node[] {
    const ports = new Set(
      listed.filter((one) => one.isPrimary && !one.hasFailed).map(({ port }) => port),
    );
    return this.nodes.filter(({ port }) => ports.has(port));
  }

  async #join(): Promise<void> {
    const first = must(this.nodes[0], 'a node');
    for (const [index, { client, port, busPort }] of this.nodes.entries()) {
      if (index < PRIMARIES) {
        const from = Math.ceil((SLOTS * index) / PRIMARIES);
        const to = Math.ceil((SLOTS * (index + 1)) / PRIMARIES) - 1;
        await client.cluster('ADDSLOTSRANGE', from, to);
      }
      await first.client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
    }
    const known = `cluster_state:ok[\\s\\S]*cluster_known_nodes:${this.nodes.length}\\b`;
    for (const { client } of this.nodes) {
      await until('the cluster knows all of its nodes', async () =>
        new RegExp(known).test(String(await client.call('CLUSTER', 'INFO'))),
      );
    }
  }

  async #addReplicas(): Promise<void> {
    const listed = await must(this.nodes[0], 'a node').list();
    const idOf = new Map(listed.map(({ port, id }) => [port, id]));
    for (const [index, replica] of this.nodes.slice(PRIMARIES).entries()) {
      const primary = must(this.nodes[index], 'a primary');
      await replica.client.call('CLUSTER', 'REPLICATE', must(idOf.get(primary.port), 'its id'));
      await following(replica);
    }
  }
}

async function following(replica: Node): Promise<void> {
  await until('a replica follows its primary', async () =>
    /role:slave[\s\S]*master_link_status:up/.test(await replica.client.info('replication')),
  );
}

function launch(port: number, busPort: number, folder: string): Promise<ChildProcess> {
  return launchRedis(port, folder, [
    ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
    ...['--cluster-node-timeout', String(NODE_TIMEOUT_MS)],
    ...['--appendonly', 'no', '--save', '', '--maxmemory-policy', 'noeviction'],
  ]);
}

/** A line as `<id> <ip:port@bus> <flags> <primary> <ping> <pong> <epoch> <link> <slots...>`. */
function readListed(line: string): Listed {
  const [id = '', address = '', flags = '', , , , , , ...slots] = line.split(' ');
  const names = flags.split(',');
  return {
    id,
    port: Number(/:(\d+)@/.exec(address)?.[1]),
    isPrimary: names.includes('master') && slots.length > 0,
    hasFailed: names.includes('fail'),
  };
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${READY_MS_MAX / 1000} s: ${what}`);
    await delay(LOOK_AGAIN_MS);
  }
}
