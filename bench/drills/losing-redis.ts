/** A Redis Cluster that promotes the replica of a lost primary by itself. */
import { must } from '../../src/core/lib/assert.ts';
import type { OpenRedis } from '../chaos/chaos-stack.ts';
import type { History } from '../chaos/history.ts';
import type { Random } from '../chaos/random.ts';
import { RedisCluster } from '../servers/redis-cluster.ts';
import type { LosingServers } from './losing-servers.ts';

export class LosingRedis implements LosingServers {
  readonly backend = 'redis';
  readonly parts: { openRedis: OpenRedis };
  #opened: RedisCluster | null = null;
  #lost: { node: RedisCluster['nodes'][number]; how: 'kill' | 'freeze' } | null = null;

  /** @param mutant `no-replicas`: nothing takes the place of a lost primary until it is back */
  constructor(mutant: string | null) {
    const hasReplicas = mutant !== 'no-replicas';
    this.parts = {
      openRedis: async ({ opened }) => {
        const cluster = opened.use(await RedisCluster.open({ hasReplicas }));
        this.#opened = cluster;
        return {
          url: cluster.url,
          restart: () => Promise.reject(new Error('the drill loses servers by itself')),
          flush: () => Promise.reject(new Error('the drill loses servers by itself')),
        };
      },
    };
  }

  get #cluster(): RedisCluster {
    return must(this.#opened, 'the cluster');
  }

  async fail(random: Random, history: History): Promise<Record<string, unknown>> {
    const how = random.chance(0.5) ? 'kill' : 'freeze';
    const node = random.pick(await this.#cluster.primaries());
    this.#lost = { node, how };
    node.lose(how);
    history.note('primary lost', { how, port: node.port });
    await this.#cluster.failover(node);
    return { how };
  }

  async returnOld(): Promise<void> {
    const { node, how } = must(this.#lost, 'a lost node');
    await node.giveBack(how);
  }

  async follow(): Promise<void> {
    await this.#cluster.returned(must(this.#lost, 'a lost node').node);
  }
}
